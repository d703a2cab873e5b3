import { tmpdir } from 'node:os'

/** Tests keep things here that are slow to create and that later runs need: a browser, a database server's data. */
export const cacheFolder = process.env['TEST_CACHE_FOLDER'] ?? tmpdir()
