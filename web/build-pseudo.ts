// Usage: node web/build-pseudo.ts FOLDER [de]. Builds the dashboard for the tests of its words. Every text from the
// catalogue appears in brackets, except commands, URLs and texts without letters; any other text without brackets is
// missing from the catalogue. English is also accented and 40 % longer, to show where there is too little room; German
// is only put in brackets.
import { join } from 'node:path'
import react from '@vitejs/plugin-react'
import { build, type Plugin } from 'vite'

const [outDir = join(import.meta.dirname, 'dist.pseudo'), language = 'en'] = process.argv.slice(2)
const words = join(import.meta.dirname, 'words')
const lengthener = join(import.meta.dirname, 'lengthen.ts')
const mark = language === 'en' ? 'lengthen' : 'bracket'

/** The guides quote the providers' consoles and are never translated, so their texts are marked in every language. */
const ofEveryLanguage = join(words, 'en', 'sso-guides.ts')

const pseudo: Plugin = {
  name: 'pseudo-locale',
  enforce: 'pre',
  transform(code, id) {
    if (!id.startsWith(join(words, language)) && id !== ofEveryLanguage) return undefined
    const names: string[] = []
    const renamed = code.replaceAll(/^export const (\w+)/gm, (_, name: string) => {
      names.push(name)
      return `const ${name}Plain`
    })
    const marked = names.map((name) => `export const ${name} = ${mark}(${name}Plain)`)
    const source = JSON.stringify(lengthener)
    return { code: `import { ${mark} } from ${source}\n${renamed}\n${marked.join('\n')}\n` }
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
