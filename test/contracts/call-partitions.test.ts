import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from 'kysely'
import { callPartitions, type Store } from '../../src/store/index.ts'
import { until } from '../harness/gateway.ts'
import { emptyPlace } from './engines.ts'

describe('partitions of call records', () => {
  test('who waits to create some holds no lock on the default one, which the others need', async () => {
    await using place = await emptyPlace('postgres')
    await using store = await place.open()
    await dropAll(store)
    const make = async (): Promise<number> =>
      await store.transactionOnCalls(async (tx) => await callPartitions.makePartitions(tx))

    let making: Promise<number[]> | undefined
    const held = await store.transactionOnCalls(async (tx) => {
      // The lock that every node takes to create or drop partitions.
      await sql`select pg_advisory_xact_lock(7203311)`.execute(tx.query)
      making = Promise.all([make(), make()])
      const waiting = sql`select from pg_locks where locktype = 'advisory' and not granted
        and database = (select oid from pg_database where datname = current_database())`
      await until(async () => (await waiting.execute(tx.query)).rows.length === 2)
      const { rows } = await sql`select mode from pg_locks
        where relation = 'call_other'::regclass and pid <> pg_backend_pid()`.execute(tx.query)
      return rows
    })
    assert.deepEqual((await making)?.toSorted(), [0, 8])
    assert.deepEqual(held, [])
  })
})

async function dropAll({ calls }: Store): Promise<void> {
  const names = await callPartitions.listPartitions(calls)
  const tables = sql.join(names.map((name) => sql.table(name)))
  if (names.length > 0) await sql`drop table ${tables}`.execute(calls.query)
}
