import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { systemClock } from '../../../clock.ts'
import { createId } from '../../../ids.ts'
import { openStore } from '../../open.ts'
import { rowsOf } from '../../tables/calls/call-rows.ts'
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
    const many = Array.from({ length: 128 }, () => recordAt(now))
    await write(many)
    for (let at = 0; at < 20; at++) await write([recordAt(now + at)])
    const prepared: string[] = []
    const prepare = file.prepare.bind(file)
    file.prepare = ((text: string) => {
      prepared.push(text)
      return prepare(text)
    }) as typeof file.prepare
    while (await writer.merge(now + 60_000)) continue
    const gone = { organizationId, beforeId: createId('req', now + 60_000), limit: 1 }
    assert.equal(await writer.forget(gone), true)
    assert.deepEqual(prepared, [])
    // The block of many calls and the merged one remain; one of them was deleted.
    const [{ blocks, calls } = {}] = prepare(
      'select count(*) as blocks, sum(calls) as calls from call_block',
    ).all() as { blocks?: number; calls?: number }[]
    assert.equal(blocks, 1)
    assert.ok(calls === 128 || calls === 20)
  })

  test('does one job or transaction at a time', async () => {
    let [running, most] = [0, 0]
    const work = async () => {
      running++
      most = Math.max(most, running)
      await nextTurn()
      running--
    }
    await Promise.all(Array.from({ length: 10 }, async () => await writer.alone(work)))
    assert.equal(most, 1)
  })

  test('goes on after a job that failed', async () => {
    const failing = writer.alone(async () => await Promise.reject(new Error('no')))
    const next = writer.alone(async () => await nextTurn('done'))
    await assert.rejects(failing, /^Error: no$/)
    assert.equal(await next, 'done')
  })
})

async function write(records: readonly CallRecord[]): Promise<void> {
  const { parts, count } = rowsOf(records)
  await writer.write({ parts, counts: [] }, count)
}

function recordAt(at: number): CallRecord {
  return {
    ...{ id: createId('req', at), at, organizationId, keyId, targetId: undefined },
    ...{ method: 'GET', path: '/', status: 200, refusal: undefined, stoppedAt: undefined },
    ...{ ruleId: undefined, trialRuleId: undefined, bytesIn: 0, bytesOut: 0, durationUs: 0 },
    ...{ upstreamUs: undefined, address: '192.0.2.1', agent: undefined, capture: undefined },
  }
}
