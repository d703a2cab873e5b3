/**
 * Bundles Kysely's 255 files into one, `bin/bundled/kysely-<version>.js`, which bin/intercept.js loads if it exists.
 */
import { readFileSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { threadId } from 'node:worker_threads'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

const root = join(import.meta.dirname, '..')

export async function buildKyselyFile(): Promise<void> {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    dependencies: { kysely: string }
  }
  const name = `kysely-${dependencies.kysely}.js`
  const outDir = join(root, 'bin', `bundled.${process.pid}-${threadId}`)
  try {
    await build({
      root,
      configFile: false,
      logLevel: 'warn',
      build: {
        ssr: fileURLToPath(import.meta.resolve('kysely')),
        outDir,
        // Removes comments but keeps names, for stack traces. V8 keeps a module's text for as long as the process runs,
        // and because of a few characters in comments that are not Latin-1, each character would take two bytes.
        minify: 'oxc',
        rolldownOptions: {
          output: {
            entryFileNames: name,
            minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
          },
        },
      },
      ssr: { noExternal: true },
    })
    // Renamed into place in one step, so that a command that starts meanwhile finds either the whole file or none.
    await mkdir(join(root, 'bin', 'bundled'), { recursive: true })
    await rename(join(outDir, name), join(root, 'bin', 'bundled', name))
  } finally {
    await rm(outDir, { recursive: true, force: true })
  }
}
