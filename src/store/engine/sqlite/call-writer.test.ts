import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { systemClock } from '../../../clock.ts'
import { createId } from '../../../ids.ts'
import { openStore } from '../../open.ts'
import { rowsOf } from '../../tables/calls/call-rows.ts'
import * as calls from '../../tables/calls/calls.ts'
import type { CountRows } from '../../tables/calls/count-rows.ts'
import type { CallRecord } from '../../tables/calls/record/call-record.ts'
import { SqliteCallWriter } from './call-writer.ts'

const now = 1_800_000_000_000
const organizationId = createId('org')
const keyId = createId('key')
let folder: string
let file: Database.Database
let writer: SqliteCallWriter

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'intercept-call-writer-'))
  await using _ = await openStore({ folder, clock: systemClock, isNode: false })
  file = new Database(join(folder, 'calls.db'))
  writer = new SqliteCallWriter(join(folder, 'calls.db'), file)
})
afterEach(async () => {
  await writer.close()
  file.close()
  rmSync(folder, { recursive: true })
})

describe('the writer of call records', () => {
  test('merges and deletes blocks on its thread once this runs, not on the thread of the calls', async () => {
    await write(records(128))
    for (let at = 0; at < 20; at++) await write([recordAt(now + at)])
    const prepared: string[] = []
    const prepare = file.prepare.bind(file)
    file.prepare = (text: string) => {
      prepared.push(text)
      return prepare(text)
    }
    while (await writer.merge(now + 60_000)) continue
    const gone = { organizationId, beforeId: createId('req', now + 60_000), limit: 1 }
    assert.equal(await writer.forget(gone), true)
    assert.deepEqual(prepared, [])
    // The older block, of many calls, was deleted; the merged one remains.
    assert.deepEqual(listed(prepare), { blocks: 1, calls: 20 })
  })

  test('does work that needs the file alone one piece at a time, and goes on after a piece that failed', async () => {
    let [running, most] = [0, 0]
    const work = async () => {
      running++
      most = Math.max(most, running)
      await nextTurn()
      running--
    }
    const failing = writer.alone(async () => await Promise.reject(new Error('no')))
    const others = Promise.all(Array.from({ length: 10 }, async () => await writer.alone(work)))
    await assert.rejects(failing, /^Error: no$/)
    await others
    assert.equal(most, 1)
  })

  test('reports a job that failed on its thread, and does the next one', async () => {
    const counts: CountRows[] = [{ table: 'rule_day', json: 'no JSON', count: 1 }]
    const { parts } = rowsOf(records(128))
    await assert.rejects(writer.write({ parts, counts }, 128), /JSON/)
    await write(records(128))
    assert.deepEqual(listed(), { blocks: 1, calls: 128 })
  })

  test('starts another thread after one that could not start, whose end fails no later job', async () => {
    const path = join(folder, 'other.db')
    const other = new SqliteCallWriter(path, file)
    mkdirSync(path)
    const { parts } = rowsOf(records(128))
    await assert.rejects(other.write({ parts, counts: [] }, 128))
    rmSync(path, { recursive: true })
    copyFileSync(join(folder, 'calls.db'), path)
    for (let time = 0; time < 3; time++) await other.write({ parts, counts: [] }, 128)
    await other.close()
    const written = new Database(path)
    assert.deepEqual(
      listed((text) => written.prepare(text)),
      { blocks: 1, calls: 128 },
    )
    written.close()
  })

  test('finishes a job before it closes, may be closed again, and refuses later jobs', async () => {
    const writing = write(records(128))
    await Promise.all([writing, writer.close(), writer.close()])
    await writer.close()
    assert.deepEqual(listed(), { blocks: 1, calls: 128 })
    await assert.rejects(write(records(128)), /^TypeError: The database connection is not open$/)
    writer = new SqliteCallWriter(join(folder, 'calls.db'), file)
  })

  test('merges and deletes what is left of a damaged file', async () => {
    for (let at = 0; at < 5; at++) await write([recordAt(now + at)])
    file.exec('delete from call_block_rows where no = 2')
    assert.equal(await writer.merge(now + 60_000), false)
    assert.equal(await writer.merge(now + 60_000), false)
    assert.deepEqual(listed(), { blocks: 5, calls: 5 })
    const gone = { organizationId, beforeId: createId('req', now + 60_000), limit: 100 }
    assert.equal(await writer.forget(gone), false)
    assert.deepEqual(listed(), { blocks: 0, calls: null })
  })
})

test('insertions, merges, deletions and transactions at the same time all succeed', async () => {
  const place = mkdtempSync(join(tmpdir(), 'intercept-call-writer-'))
  try {
    await using store = await openStore({ folder: place, clock: systemClock, isNode: false })
    await store.insertCalls(rowsOf(records(128)))
    let inserted = Promise.resolve()
    const work: Promise<unknown>[] = []
    for (let round = 0; round < 10; round++) {
      inserted = inserted.then(async () => await store.insertCalls(rowsOf([recordAt(now + round)])))
      work.push(inserted, store.mergeCalls(now + 60_000))
      work.push(store.transactionOnCalls(async (tx) => await calls.insert(tx, [recordAt(now)])))
      work.push(
        store.forgetCalls({ organizationId, beforeId: createId('req', now - 60_000), limit: 512 }),
      )
    }
    await Promise.all(work)
    while (await store.mergeCalls(now + 60_000)) continue
    assert.equal((await calls.list(store.calls, organizationId, { limit: 1000 })).length, 148)
  } finally {
    rmSync(place, { recursive: true })
  }
})

async function write(list: readonly CallRecord[]): Promise<void> {
  const { parts, count } = rowsOf(list)
  await writer.write({ parts, counts: [] }, count)
}

function records(count: number): CallRecord[] {
  return Array.from({ length: count }, () => recordAt(now))
}

/** Returns how many blocks are listed, with how many calls. */
function listed(prepare = (text: string) => file.prepare(text)): unknown {
  return prepare('select count(*) as blocks, sum(calls) as calls from call_block').get()
}

function recordAt(at: number): CallRecord {
  return {
    ...{ id: createId('req', at), at, organizationId, keyId, targetId: undefined },
    ...{ method: 'GET', path: '/', status: 200, refusal: undefined, stoppedAt: undefined },
    ...{ ruleId: undefined, trialRuleId: undefined, bytesIn: 0, bytesOut: 0, durationUs: 0 },
    ...{ upstreamUs: undefined, address: '192.0.2.1', agent: undefined, capture: undefined },
  }
}
