import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Library } from './library.ts'

test('pages that could not be read are read again for the next visitor', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'intercept-library-'))
  try {
    const library = new Library(folder)
    await assert.rejects(library.pages(), { code: 'ENOENT' })
    cpSync(join(import.meta.dirname, '../../../docs'), folder, { recursive: true })
    assert.ok((await library.pages()).size > 0)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
