import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from 'kysely'
import { CallCounts } from '../../src/calls/call-counts.ts'
import { countsOf, createRecorder } from '../../src/calls/index.ts'
import { createId, type OrganizationId } from '../../src/ids.ts'
import { digestBytes } from '../../src/secrets/index.ts'
import {
  callCounts,
  calls,
  noCallRows,
  rowsOf,
  type CallRecord,
  type CountRows,
  type Store,
} from '../../src/store/index.ts'
import { createMetrics } from '../../src/telemetry/index.ts'
import { engines, steadyClock, storeForTests } from '../harness/store.ts'

const secret = { digest: digestBytes('x'), isOldSecret: false }
const rowsOfCounts = (counts: readonly CountRows[]) =>
  counts.reduce((sum, { count }) => sum + count, 0)

function callOf(organizationId: OrganizationId, at: number, more: Partial<CallRecord> = {}) {
  const call: CallRecord = {
    ...{ id: createId('req', at), at, organizationId, keyId: createId('key') },
    ...{ targetId: undefined, method: 'GET', path: '/api/v1/intercept/echo/x', status: 200 },
    ...{ refusal: undefined, stoppedAt: undefined, ruleId: undefined, trialRuleId: undefined },
    ...{ bytesIn: 0, bytesOut: 0, durationUs: 1000, upstreamUs: 500, address: '192.0.2.1' },
    ...{ agent: undefined, capture: undefined, ...more },
  }
  return call
}

async function countedOf(store: Store, organizationId: OrganizationId): Promise<number> {
  const range = { subject: '', from: 0, to: Date.UTC(2100, 0) }
  return await callCounts.countAll(store.calls, organizationId, range)
}

function recorderOver(store: Store, clock: ReturnType<typeof steadyClock>) {
  const log = { error: () => undefined }
  return createRecorder({ store, clock, metrics: createMetrics(), log, alsoFlush: {} })
}

describe('counts that wait', () => {
  test('ever new keys are counted for their organization only, and ever new targets not at all in the end', () => {
    const counts = new CallCounts()
    const organizationId = createId('org')
    for (let n = 0; n < 15_000; n++) assert.ok(counts.add(callOf(organizationId, n)))
    assert.equal(counts.size, 10_001)
    let lost = 0
    for (let n = 0; n < 15_000; n++) {
      if (!counts.add(callOf(organizationId, n, { targetId: createId('tgt') }))) lost++
    }
    assert.equal(counts.size, 20_000)
    assert.equal(lost, 15_000 - 9999)
  })

  test('are taken so many at a time, until all are', () => {
    const counts = new CallCounts()
    const organizationId = createId('org')
    for (let n = 0; n < 1200; n++) counts.add(callOf(organizationId, n))
    const taken = [counts.take(500), counts.take(500), counts.take(500), counts.take(500)]
    // A batch of 500 keys has one row for the minute, and 501 rows each for the quarter-hour and the day: one for the
    // organization and one for each key.
    assert.deepEqual(taken.map(rowsOfCounts), [1003, 1003, 403, 0])
  })
})

for (const engine of engines) {
  describe(`writing counts on ${engine}`, () => {
    test('after an outage no commit is large, one flush writes all, and the loop turns in between', async () => {
      const clock = steadyClock()
      await using place = await storeForTests(engine, clock)
      const batches: { readonly records: number; readonly counts: number }[] = []
      let isAway = true
      let turns = 0
      const store: Store = {
        ...place.store,
        insertCalls: async (rows, counts = []) => {
          if (isAway) throw new Error('calls are away')
          setImmediate(() => turns++)
          batches.push({ records: rows.count, counts: rowsOfCounts(counts) })
          await place.store.insertCalls(rows, counts)
        },
      }
      await using recorder = recorderOver(store, clock)
      const organizationId = createId('org')
      recorder.record(callOf(organizationId, clock.now()), secret, 'all')
      await assert.rejects(recorder.flush(), /away/)
      for (let n = 1; n < 4000; n++) {
        recorder.record(callOf(organizationId, clock.now()), secret, 'all')
      }
      await assert.rejects(recorder.flush(), /away/)
      isAway = false
      await recorder.flush()
      assert.equal(await countedOf(place.store, organizationId), 4000)
      assert.ok(batches.length >= 8, `${batches.length} batches`)
      assert.ok(batches.every(({ counts }) => counts > 0 && counts <= 1500))
      assert.equal(
        batches.reduce((sum, { records }) => sum + records, 0),
        4000,
      )
      assert.ok(turns >= batches.length - 2)
    })

    test('a record that cannot be stored is dropped alone: the others are written, and each call is counted once', async () => {
      const clock = steadyClock()
      await using place = await storeForTests(engine, clock)
      const errors: object[] = []
      const metrics = createMetrics()
      await using recorder = createRecorder({
        ...{ store: place.store, clock, metrics, alsoFlush: {} },
        log: { error: (fields) => void errors.push(fields) },
      })
      const organizationId = createId('org')
      for (let n = 0; n < 40; n++) {
        // Only whole microseconds can be stored.
        const upstreamUs = [0, 17, 39].includes(n) ? 1.5 : 1
        recorder.record(callOf(organizationId, clock.now(), { upstreamUs }), secret, 'all')
      }
      await recorder.flush()
      assert.equal((await calls.list(place.store.calls, organizationId, { limit: 99 })).length, 37)
      assert.equal(await countedOf(place.store, organizationId), 40)
      assert.match(metrics.render(), /^intercept_calls_dropped_total 3$/m)
      assert.match(metrics.render(), /^intercept_calls_waiting 0$/m)
      assert.equal(errors.length, 3)
    })

    test('a batch that is written again adds no counts, by whichever node', async () => {
      await using place = await storeForTests(engine, steadyClock())
      const organizationId = createId('org')
      const batch = Array.from({ length: 40 }, (_, n) => callOf(organizationId, 1000 + n))
      for (let time = 0; time < 3; time++) {
        await place.store.insertCalls(rowsOf(batch), countsOf(batch))
      }
      assert.equal(await countedOf(place.store, organizationId), 40)
      assert.equal((await calls.list(place.store.calls, organizationId, { limit: 99 })).length, 40)
    })
  })
}

test('hundreds of counts are not added on the thread of the calls', async () => {
  await using place = await storeForTests('sqlite', steadyClock())
  const { store } = place
  const organizationId = createId('org')
  // A process that has started the writing thread leaves checkpoints to that thread, so this setting shows whether the
  // thread runs.
  const checkpoints = async () =>
    (await sql<object>`pragma wal_autocheckpoint`.execute(store.calls.query)).rows
  const usual = await checkpoints()
  await store.insertCalls(noCallRows, countsOf([callOf(organizationId, 1000)]))
  assert.deepEqual(await checkpoints(), usual)
  const many = Array.from({ length: 100 }, (_, n) => callOf(organizationId, 1000 + n))
  await store.insertCalls(noCallRows, countsOf(many))
  assert.notDeepEqual(await checkpoints(), usual)
  assert.equal(await countedOf(store, organizationId), 101)
})
