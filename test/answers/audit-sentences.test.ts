import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditActions } from '../../src/store/index.ts'

for (const language of ['en', 'de']) {
  test(`the dashboard has a sentence for every audit action, and for nothing else (${language})`, async () => {
    const file = new URL(`../../web/words/${language}/audit.ts`, import.meta.url)
    const { auditWords } = (await import(file.href)) as {
      auditWords: { sentences: Readonly<Record<string, (name: string) => string>> }
    }
    assert.deepEqual(Object.keys(auditWords.sentences).toSorted(), auditActions.toSorted())
  })
}
