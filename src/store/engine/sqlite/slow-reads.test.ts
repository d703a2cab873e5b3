import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { getPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { sql } from 'kysely'
import { until } from '../../../../test/harness/gateway.ts'
import { idsOfThreads } from '../../../thread-priority.ts'
import { openSlowReads } from './slow-reads.ts'

const idle = { firstMs: 50, againMs: 50 }
let folder: string
let path: string

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'intercept-slow-reads-'))
  path = join(folder, 'a.db')
  new Database(path).exec('create table number (n integer)').close()
})
after(() => rmSync(folder, { recursive: true }))

test('a thread without queries is ended, and the next query starts another', async (context) => {
  if (process.platform !== 'linux') return context.skip('only Linux lists the threads of a process')
  const reads = openSlowReads(path, idle)
  const threadsBefore = countThreads()
  const ask = async () =>
    await sql`select count(*) as n from number`.execute(reads.connection.query)
  try {
    for (let round = 0; round < 3; round++) {
      assert.deepEqual((await ask()).rows, [{ n: 0 }])
      assert.ok(countThreads() > threadsBefore)
      await until(() => countThreads() === threadsBefore)
    }
  } finally {
    await reads.close()
  }
})

test('a thread that is needed again soon is kept longer than the first', async (context) => {
  if (process.platform !== 'linux') return context.skip('only Linux lists the threads of a process')
  const reads = openSlowReads(path, { firstMs: 1, againMs: 60_000 })
  const threadsBefore = countThreads()
  const ask = async () =>
    await sql`select count(*) as n from number`.execute(reads.connection.query)
  try {
    await ask()
    await until(() => countThreads() === threadsBefore)
    await ask()
    // The first thread would have ended within this time.
    await setTimeout(200)
    assert.ok(countThreads() > threadsBefore)
  } finally {
    await reads.close()
  }
})

test('the thread yields to calls', async (context) => {
  if (process.platform !== 'linux') return context.skip('only Linux has priorities of threads')
  const before = new Set(idsOfThreads())
  const reads = openSlowReads(path)
  try {
    await sql`select count(*) as n from number`.execute(reads.connection.query)
    const started = idsOfThreads().filter((id) => !before.has(id))
    const lowered = Math.min(19, getPriority(process.pid) + 10)
    assert.ok(started.some((id) => getPriority(id) === lowered))
  } finally {
    await reads.close()
  }
})

test('queries that come while threads end are all answered', async () => {
  const reads = openSlowReads(path, { firstMs: 1, againMs: 1 })
  const ask = async () =>
    await sql`select count(*) as n from number`.execute(reads.connection.query)
  try {
    for (let round = 0; round < 10; round++) {
      for (const { rows } of await Promise.all([ask(), ask(), ask()]))
        assert.deepEqual(rows, [{ n: 0 }])
      await setTimeout(round / 5)
    }
  } finally {
    await reads.close()
  }
})

function countThreads(): number {
  return readdirSync('/proc/self/task').length
}
