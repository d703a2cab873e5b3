import { tmpdir } from 'node:os'

/** Where tests keep what is slow to create for later runs: an unpacked browser, the data of a database server. */
export const cacheFolder = process.env['TEST_CACHE_FOLDER'] ?? tmpdir()
