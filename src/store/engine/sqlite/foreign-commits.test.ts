import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { openFile } from './file.ts'
import { ForeignCommits } from './foreign-commits.ts'

/** Opens our connection and another one to a database; counts the hints that the other one may have committed. */
function twoConnections(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'foreign-commits-'))
  const path = join(folder, 'any.db')
  const [ours, other] = [openFile(path, 'FULL'), openFile(path, 'FULL')]
  ours.exec('create table number (value)')
  // With a cache this small, the connection writes to the log before its commit, as a large transaction does.
  other.pragma('cache_size = 1')
  const commits = new ForeignCommits(path, () => ours)
  const hints = new EventTarget()
  let hinted = 0
  commits.listen(() => {
    hinted += 1
    hints.dispatchEvent(new Event('hint'))
  })
  t.after(() => {
    commits.close()
    ours.close()
    other.close()
    rmSync(folder, { recursive: true })
  })
  return {
    ...{ ours, other, commits },
    hinted: () => hinted,
    hint: async () => void (await once(hints, 'hint')),
  }
}

const insert = 'insert into number values (1)'
const insertMany = `insert into number select randomblob(900) from (values ${'(1),'.repeat(99)} (1))`

test('our own commit is looked into once, not for a tenth of a second', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { ours, commits, hint, hinted } = twoConnections(t)
  ours.exec(insert)
  await hint()
  t.mock.timers.tick(1000)
  assert.equal(hinted(), 1)
  assert.equal(commits.look(), false)
})

test("another process's commit right behind our own is heard", async (t) => {
  const { ours, other, commits, hint } = twoConnections(t)
  for (let at = 0; at < 20; at++) {
    ours.exec(insert)
    other.exec(insert)
    await hint()
    assert.equal(commits.look(), true)
    assert.equal(commits.look(), false)
  }
})

test('a commit that takes its time is looked for until it is visible, also behind our own', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { ours, other, commits, hint, hinted } = twoConnections(t)
  ours.exec(insert)
  other.exec('begin immediate')
  other.exec(insertMany)
  await hint()
  for (const ms of [2, 2, 4, 8]) {
    const before = hinted()
    t.mock.timers.tick(ms)
    assert.equal(hinted(), before + 1, `${ms} ms`)
    assert.equal(commits.look(), false)
  }
  // The checks left the connection's busy timeout as it was.
  assert.equal(ours.pragma('busy_timeout', { simple: true }), 5000)
  other.exec('commit')
  t.mock.timers.tick(16)
  assert.equal(commits.look(), true)
  ours.exec(insert)
})
