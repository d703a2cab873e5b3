import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { getPriority } from 'node:os'
import { describe, test } from 'node:test'
import { createId } from '../../src/ids.ts'
import {
  calls,
  createCallRowsBuffer,
  countRows,
  halvesOf,
  type CallRecord,
  type CallRows,
  type Store,
} from '../../src/store/index.ts'
import { emptyPlace, engines } from './engines.ts'

const organizationId = createId('org')
const keyId = createId('key')

function record(more: Partial<CallRecord> = {}): CallRecord {
  return {
    id: createId('req'),
    at: 1_800_000_000_000,
    organizationId,
    keyId,
    targetId: undefined,
    method: 'GET',
    path: '/api/v1/intercept/api/items',
    status: 200,
    refusal: undefined,
    stoppedAt: undefined,
    ruleId: undefined,
    trialRuleId: undefined,
    bytesIn: 0,
    bytesOut: 5_000_000_000,
    durationUs: 12,
    upstreamUs: undefined,
    address: '::1',
    agent: undefined,
    capture: undefined,
    ...more,
  }
}

test('a commit is due at 2,048 records on sqlite, at 4,096 if organizations take turns, and at 512 on postgres', () => {
  const other = { organizationId: createId('org') }
  const dueAfter = (
    engine: 'sqlite' | 'postgres',
    turns: readonly Partial<CallRecord>[],
  ): number => {
    const rows = createCallRowsBuffer(engine)
    let count = 0
    while (!rows.isDue && count < 10_000) rows.add(record(turns[count++ % turns.length]))
    return count
  }
  assert.equal(dueAfter('sqlite', [{}]), 2048)
  assert.equal(dueAfter('sqlite', [{}, other]), 4096)
  assert.equal(dueAfter('postgres', [{}, other]), 512)
})

const odd: Partial<CallRecord>[] = [
  {},
  { targetId: createId('tgt'), ruleId: createId('rul'), trialRuleId: createId('rul') },
  { status: 403, refusal: 'rule_denied', stoppedAt: 'rules', upstreamUs: 7 },
  { path: `/"quoted"\\back'single`, agent: 'caf\xe9 \x7f "x" \\ , ] [' },
  { capture: JSON.stringify({ body: 'a\u0000b\u{1f600}\n"' }), agent: '' },
]

/** Collects records as a node does and writes them; each must come back as it was. */
async function keepAll(store: Store, records: readonly CallRecord[]): Promise<void> {
  const rows = createCallRowsBuffer(store.engine)
  for (const one of records) rows.add(one)
  for (const batch of rows.take()) await store.insertCalls(batch)
  for (const one of records) {
    assert.deepEqual(await calls.find(store.calls, organizationId, one.id), one)
  }
}

for (const engine of engines) {
  describe(`call records on ${engine}`, () => {
    test('a record comes back as it was, whatever callers wrote into it', async () => {
      await using place = await emptyPlace(engine)
      await using store = await place.open()
      const records = Array.from({ length: 7 }, () => odd.map(record)).flat()
      await keepAll(store, records)
    })

    test('records that share most of their columns with others come back as they were', async () => {
      await using place = await emptyPlace(engine)
      await using store = await place.open()
      const keys = [keyId, createId('key'), createId('key')]
      const kinds: Partial<CallRecord>[] = [
        {},
        { status: 404 },
        { agent: 'x' },
        { address: '192.0.2.1' },
        { method: 'PUT' },
        { capture: '{}' },
        { targetId: createId('tgt'), ruleId: createId('rul') },
        { refusal: 'rule_denied', stoppedAt: 'rules' },
      ]
      const records = Array.from({ length: 900 }, (_, at) =>
        record({
          ...kinds[Math.floor(at / 40) % kinds.length],
          keyId: keys[at % keys.length] ?? keyId,
          path: `/items/${at}`,
          durationUs: at,
          upstreamUs: at % 5 === 0 ? undefined : at,
        }),
      )
      await keepAll(store, records)
    })

    test('either half of a batch can be written without the other', async () => {
      await using place = await emptyPlace(engine)
      await using store = await place.open()
      const records = Array.from({ length: 100 }, (_, at) => record({ durationUs: at }))
      const rows = createCallRowsBuffer(engine)
      for (const one of records) rows.add(one)
      const [batch] = rows.take()
      assert.ok(batch)
      const [, second] = halvesOf(batch)
      await store.insertCalls(second)
      const found = await calls.list(store.calls, organizationId, { limit: 500 })
      const byDuration = found.toSorted((a, b) => a.durationUs - b.durationUs)
      assert.deepEqual(byDuration, records.slice(50))
    })

    test('what no database can store is replaced, so that a record never stops the others of its batch', async () => {
      await using place = await emptyPlace(engine)
      await using store = await place.open()
      const broken = record({ path: '/a\0b', agent: 'half \ud83d', capture: '"\udc00\0"' })
      const rows = createCallRowsBuffer(engine)
      rows.add(broken)
      for (const batch of rows.take()) await store.insertCalls(batch)
      const mended = { path: '/a\ufffdb', agent: 'half \ufffd', capture: '"\ufffd\ufffd"' }
      const found = await calls.find(store.calls, organizationId, broken.id)
      assert.deepEqual(found, { ...broken, ...mended })
    })

    test('a batch that is written twice is there once, and many batches are there whole', async () => {
      await using place = await emptyPlace(engine)
      await using store = await place.open()
      const rows = createCallRowsBuffer(engine)
      const records = Array.from({ length: 3000 }, (_, at) =>
        record({ path: `/${at}${'x'.repeat(400)}` }),
      )
      for (const one of records) rows.add(one)
      const batches = rows.take()
      assert.ok(batches.length > 1)
      for (const batch of [...batches, ...batches]) await store.insertCalls(batch)
      const found = await calls.list(store.calls, organizationId, { limit: 5000 })
      assert.deepEqual(found.map(({ id }) => id).toSorted(), records.map(({ id }) => id).toSorted())
    })

    test('memory that is used again mixes no two batches', async () => {
      await using place = await emptyPlace(engine)
      await using store = await place.open()
      const rows = createCallRowsBuffer(engine)
      const records = Array.from({ length: 2400 }, (_, at) =>
        record({ path: `/${'x'.repeat((at * 7) % 900)}` }),
      )
      for (let from = 0; from < records.length; from += 300) {
        for (const one of records.slice(from, from + 300)) rows.add(one)
        for (const batch of rows.take()) {
          const writing = store.insertCalls(batch)
          // Records that are added meanwhile are kept in other memory.
          rows.add(record())
          await writing
          rows.reuse(batch)
        }
      }
      for (const one of records) {
        assert.deepEqual(await calls.find(store.calls, organizationId, one.id), one)
      }
    })

    for (const rowsOfBatch of [20, 200]) {
      test(`of ${rowsOfBatch} records with a count that cannot be stored, none is; the next batch is`, async () => {
        await using place = await emptyPlace(engine)
        await using store = await place.open()
        const batchOf = (records: CallRecord[]): CallRows => {
          const rows = createCallRowsBuffer(engine)
          for (const one of records) rows.add(one)
          const [batch] = rows.take()
          assert.ok(batch)
          return batch
        }
        const records = Array.from({ length: rowsOfBatch }, () => record())
        // The column stores whole milliseconds, so the database refuses this count.
        const broken = countRows('rule_day', new Map([[`"${organizationId}","rul_1",1.5`, [1, 0]]]))
        await assert.rejects(store.insertCalls(batchOf(records), broken))
        assert.deepEqual(await calls.list(store.calls, organizationId, { limit: 500 }), [])
        await store.insertCalls(batchOf(records))
        const found = await calls.list(store.calls, organizationId, { limit: 500 })
        assert.equal(found.length, rowsOfBatch)
      })
    }

    test('a record larger than the buffer is written all the same', async () => {
      await using place = await emptyPlace(engine)
      await using store = await place.open()
      const rows = createCallRowsBuffer(engine)
      const large = record({ capture: JSON.stringify('y'.repeat(600_000)) })
      rows.add(record())
      rows.add(large)
      rows.add(record())
      const batches = rows.take()
      assert.equal(
        batches.reduce((sum, { count }) => sum + count, 0),
        3,
      )
      for (const batch of batches) await store.insertCalls(batch)
      assert.deepEqual(await calls.find(store.calls, organizationId, large.id), large)
    })

    test('works on the call records and batches of them take turns', async () => {
      await using place = await emptyPlace(engine)
      await using store = await place.open()
      const rows = createCallRowsBuffer(engine)
      for (let left = 1000; left > 0; left--) rows.add(record())
      const [batch] = rows.take()
      assert.ok(batch)
      const one = record()
      await Promise.all([
        store.insertCalls(batch),
        store.transactionOnCalls(async (tx) => await calls.insert(tx, [one])),
        store.transactionOnCalls(async (tx) => await calls.insert(tx, [record()])),
      ])
      assert.deepEqual(await calls.find(store.calls, organizationId, one.id), one)
      const found = await calls.list(store.calls, organizationId, { limit: 2000 })
      assert.equal(found.length, 1002)
    })
  })
}

test('on Linux the thread that writes many records gives way to the thread of the calls', async (t) => {
  if (process.platform !== 'linux') {
    t.skip('only Linux has a priority per thread')
    return
  }
  await using place = await emptyPlace('sqlite')
  await using store = await place.open()
  const rows = createCallRowsBuffer('sqlite')
  for (let left = 1000; left > 0; left--) rows.add(record())
  for (const batch of rows.take()) await store.insertCalls(batch)
  // A larger number is a lower priority.
  const threads = readdirSync('/proc/self/task').map(Number)
  assert.ok(threads.some((thread) => getPriority(thread) > getPriority(process.pid)))
})
