import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { makeFolder } from './files.ts'

describe('a folder that is made', () => {
  const root = mkdtempSync(join(tmpdir(), 'intercept-folder-'))
  after(() => rmSync(root, { recursive: true }))

  test('is its owner’s alone, like those above it, and may be there already', () => {
    const path = join(root, 'a', 'b')
    makeFolder(path)
    makeFolder(path)
    for (const made of [path, join(root, 'a')]) assert.equal(statSync(made).mode & 0o777, 0o700)
  })

  test('is refused where a file stands in the way, and where a folder takes none, at once', () => {
    const file = join(root, 'file')
    writeFileSync(file, '')
    for (const path of [file, join(file, 'below')]) {
      assert.throws(() => makeFolder(path), { syscall: 'mkdir', code: 'EEXIST' })
    }
    assert.throws(() => makeFolder('/proc/intercept/below'), { syscall: 'mkdir' })
  })
})
