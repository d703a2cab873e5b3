import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { CallRecord, CallRows, CountRows, Store } from '../store/index.ts'
import { RecordQueue } from './record-queue.ts'

describe('records and counts that the database refuses', () => {
  test('counts are dropped alone, and no record with them or behind them', async () => {
    const world = openWorld((_rows, counts) => counts.some(({ table }) => table === 'call_day'))
    for (let at = 0; at < 9; at++) world.add(`key_${at}`)
    await world.queue.write('all')
    assert.equal(world.written.length, 9)
    assert.equal(world.queue.waiting, 0)
    assert.equal(world.dropped, 0)
    assert.equal(world.reported, 1)
    assert.deepEqual(world.tables.toSorted(), ['call_minute', 'call_quarter'])
    world.add('key_later')
    await world.queue.write('all')
    assert.ok(world.written.includes('key_later'))
  })

  test('a record is dropped alone, and every count is written once', async () => {
    for (let bad = 0; bad < 9; bad++) {
      const world = openWorld((rows) => textOf(rows).includes(`key_${bad}`))
      for (let at = 0; at < 9; at++) world.add(`key_${at}`)
      await world.queue.write('all')
      const others = Array.from({ length: 9 }, (_, at) => `key_${at}`).filter((_, at) => at !== bad)
      assert.deepEqual(world.written.toSorted(), others)
      assert.equal(world.dropped, 1)
      assert.equal(world.queue.waiting, 0)
      assert.deepEqual(world.tables.toSorted(), ['call_day', 'call_minute', 'call_quarter'])
    }
  })
})

/** Creates a queue over a database that refuses certain batches, and collects what was written. */
function openWorld(isRefused: (rows: CallRows, counts: readonly CountRows[]) => boolean) {
  const world = { written: [] as string[], tables: [] as string[], dropped: 0, reported: 0 }
  const insertCalls = async (rows: CallRows, counts: readonly CountRows[] = []) => {
    if (isRefused(rows, counts)) {
      throw Object.assign(new Error('refused'), { code: 'SQLITE_CONSTRAINT_DATATYPE' })
    }
    world.written.push(...keysIn(rows))
    world.tables.push(...counts.map(({ table }) => table))
  }
  const queue = new RecordQueue({
    store: { engine: 'sqlite', insertCalls } as unknown as Store,
    clock: { now: () => 0, monotonic: () => 0 },
    report: () => void world.reported++,
    dropped: () => void world.dropped++,
  })
  let calls = 0
  const add = (keyId: string): void => {
    const call = {
      ...{ organizationId: 'org_1', id: `call_${calls++}`, at: 60_000, keyId, method: 'GET' },
      ...{ path: '/', status: 200, bytesIn: 0, bytesOut: 0, durationUs: 1, address: '::1' },
    } as unknown as CallRecord
    queue.add(call)
    queue.count(call)
  }
  return Object.assign(world, { queue, add })
}

function textOf({ parts }: CallRows): string {
  return parts.map((part) => Buffer.from(part as Uint8Array).toString('latin1')).join('')
}

function keysIn(rows: CallRows): string[] {
  return textOf(rows).match(/key_\w+/g) ?? []
}
