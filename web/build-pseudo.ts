// Builds the dashboard in a language that is none, for the tests: `node web/build-pseudo.ts FOLDER`. Every text of the
// catalogue comes out accented, 40 % longer and in brackets; what comes out plain was never in the catalogue.
import { join } from 'node:path'
import react from '@vitejs/plugin-react'
import { build, type Plugin } from 'vite'

const [outDir = join(import.meta.dirname, 'dist.pseudo')] = process.argv.slice(2)
const catalogue = join(import.meta.dirname, 'words')
const lengthener = join(import.meta.dirname, 'lengthen.ts')

const pseudo: Plugin = {
  name: 'pseudo-locale',
  enforce: 'pre',
  transform(code, id) {
    if (!id.startsWith(catalogue)) return undefined
    const names: string[] = []
    const renamed = code.replaceAll(/^export const (\w+)/gm, (_, name: string) => {
      names.push(name)
      return `const ${name}Plain`
    })
    const lengthened = names.map((name) => `export const ${name} = lengthen(${name}Plain)`)
    const source = JSON.stringify(lengthener)
    return { code: `import { lengthen } from ${source}\n${renamed}\n${lengthened.join('\n')}\n` }
  },
}

await build({
  configFile: false,
  root: import.meta.dirname,
  logLevel: 'warn',
  plugins: [pseudo, react()],
  css: { modules: { localsConvention: 'camelCaseOnly' } },
  build: {
    outDir,
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'chrome123',
    minify: false,
    chunkSizeWarningLimit: 3000,
  },
})
