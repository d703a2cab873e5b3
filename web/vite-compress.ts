import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { Plugin } from 'vite'

const worthIt = /\.(?:js|css|html|svg)$/
const smallestBytes = 512

/**
 * Writes a .br and a .gz file next to each text file of the bundle that is not tiny; the server chooses by
 * Accept-Encoding.
 */
export function compress(): Plugin {
  return {
    name: 'intercept-compress',
    apply: 'build',
    writeBundle(options, bundle) {
      if (options.dir === undefined) return
      for (const name of [...Object.keys(bundle), 'start.js', 'favicon.svg']) {
        if (!worthIt.test(name)) continue
        const file = join(options.dir, name)
        const bytes = readFileSync(file)
        if (bytes.length < smallestBytes) continue
        writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }))
        const parameters = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY }
        writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params: parameters }))
      }
    },
  }
}
