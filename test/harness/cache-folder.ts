import { tmpdir } from 'node:os'

/** Where the tests keep from run to run what takes long to make: an unpacked browser, the data of a database server. */
export const cacheFolder = process.env['TEST_CACHE_FOLDER'] ?? tmpdir()
