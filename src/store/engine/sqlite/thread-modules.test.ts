import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'

// Kysely takes 8 MB in each thread that loads it.
for (const thread of ['call-writer-thread', 'slow-reads-thread']) {
  test(`${thread} does not load Kysely`, () => {
    const code = `import { registerHooks } from 'node:module'
      registerHooks({ load: (url, context, next) => (console.log(url), next(url, context)) })
      await import(${JSON.stringify(join(import.meta.dirname, `${thread}.ts`))})`
    const words = ['--input-type=module', '-e', code]
    const loaded = execFileSync(process.execPath, words, { encoding: 'utf8', stdio: 'pipe' })
    assert.match(loaded, new RegExp(thread))
    assert.deepEqual(loaded.match(/.*kysely.*/g), null)
  })
}
