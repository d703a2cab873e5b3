import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { describe, test } from 'node:test'
import { sql } from 'kysely'
import type { Store, Tx } from '../../src/store/index.ts'
import { createPreparedNames } from '../../src/store/engine/postgres/prepared-names.ts'
import { emptyPlace } from './engines.ts'

describe('statements kept by PostgreSQL', () => {
  test('are those that works in line run again and again, and no others', async () => {
    await using place = await emptyPlace('postgres')
    await using store = await place.open()
    for (let turn = 0; turn < 10; turn++) {
      await inLine(store, async (tx) => await sql`select ${'in'} as line`.execute(tx.query))
      await store.transaction(async (tx) => await sql`select ${'in'} as work`.execute(tx.query))
      await sql`select ${'outside'} as word`.execute(store.query)
    }
    const kept = await keptBy(store)
    assert.equal(kept.filter((text) => text.includes('as line')).length, 1)
    assert.equal(kept.filter((text) => /as (work|word)/.test(text)).length, 0)
  })

  test('find their rows by an index, also in a table that was short when they were planned', async () => {
    await using place = await emptyPlace('postgres')
    await using store = await place.open()
    const plans = await inLine(store, async (tx) => {
      const settings = sql<{ name: string; setting: string }>`select name, setting from pg_settings
        where name in ('plan_cache_mode', 'enable_seqscan') order by name`
      return (await settings.execute(tx.query)).rows
    })
    assert.deepEqual(plans, [
      { name: 'enable_seqscan', setting: 'off' },
      { name: 'plan_cache_mode', setting: 'force_generic_plan' },
    ])
    // The settings end with the transaction: the connection's next statement is planned for its own values again.
    const { rows } = await sql`select current_setting('plan_cache_mode') as mode,
      current_setting('enable_seqscan') as scan`.execute(store.query)
    assert.deepEqual(rows, [{ mode: 'auto', scan: 'on' }])
  })

  test('are planned anew, and the work run again, when the schema has changed beneath them', async () => {
    await using place = await emptyPlace('postgres')
    await using store = await place.open()
    await sql`create table thing (id integer, word text)`.execute(store.query)
    await sql`insert into thing values (1, '7')`.execute(store.query)
    const read = async (): Promise<unknown> =>
      await inLine(store, async (tx) => {
        const { rows } = await sql`select word from thing where id = ${1}`.execute(tx.query)
        return rows[0]
      })
    for (let turn = 0; turn < 10; turn++) assert.deepEqual(await read(), { word: '7' })
    assert.equal((await keptBy(store)).filter((text) => text.includes('from thing')).length, 1)
    await sql`alter table thing alter word type integer using word::integer`.execute(store.query)
    assert.deepEqual(await read(), { word: 7 })
    // Drop the prepared statements, as if a pooler had handed out another connection.
    await sql`deallocate all`.execute(store.query)
    assert.deepEqual(await read(), { word: 7 })
  })

  test('are done without where a connection has lost many of them, however many a work has', async () => {
    await using place = await emptyPlace('postgres')
    await using store = await place.open()
    const askMuch = async (): Promise<void> =>
      await inLine(store, async (tx) => {
        for (let at = 0; at < 9; at++) {
          await sql`select ${'lost'} as lost, ${sql.lit(at)} as at`.execute(tx.query)
        }
      })
    for (let turn = 0; turn < 10; turn++) await askMuch()
    await sql`deallocate all`.execute(store.query)
    await askMuch()
  })
})

describe('a beginning of works in line that PostgreSQL cancels', () => {
  test('leaves no connection in a transaction that nobody ends', async () => {
    await using place = await emptyPlace('postgres')
    await using store = await place.open()
    const storm = new AbortController()
    const cancelling = (async () => {
      while (!storm.signal.aborted) {
        await sql`select pg_cancel_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid()`
          .execute(store.background.query)
          .catch(() => undefined)
      }
    })()
    const work = async (tx: Tx): Promise<unknown> =>
      await sql`select ${'in'} as line`.execute(tx.query)
    for (let turn = 0; turn < 1500; turn++) await inLine(store, work).catch(() => undefined)
    storm.abort()
    await cancelling
    // The last cancellation may arrive late and hit the next statement.
    await inLine(store, work).catch(() => undefined)
    for (let turn = 0; turn < 20; turn++) await inLine(store, work)
    const { rows } = await sql<{ left: number }>`select count(*) as left from pg_stat_activity
      where datname = current_database() and state like 'idle in transaction%'`.execute(store.query)
    assert.equal(rows[0]?.left, 0)
  })
})

describe('a transaction whose session PostgreSQL ends while this node stands still', () => {
  test('is run again, whatever meets the closed connection first', async () => {
    await using place = await emptyPlace('postgres')
    await using store = await place.open()
    let runs = 0
    const { result } = await store.transactionConfirmed(async (tx) => {
      runs += 1
      tx.changed({ kind: 'directory', organizationId: 'org_1', subjectId: 'scim_1' })
      if (runs === 1) await standStill(tx)
      return runs
    })
    assert.equal(result, 2)
  })
})

describe('names of statements', () => {
  test('mean the same statement on every node, for poolers that mix their connections up', () => {
    const [text, other] = ['select id from a where id = $1', 'delete from a where id = $1']
    const [one, another] = [createPreparedNames(), createPreparedNames()]
    const last = (names: typeof one, what: string): string | undefined =>
      Array.from({ length: 10 }, () => names.nameOf(what)).at(-1)
    const name = last(one, text)
    assert.notEqual(name, last(another, other))
    assert.equal(name, last(another, text))
    assert.ok(name !== undefined && name.length < 64, 'PostgreSQL cuts longer names')
  })

  test('are given to texts that come up often, and to no more than a server can keep', () => {
    const names = createPreparedNames()
    assert.equal(names.nameOf('select 1'), undefined)
    const given = new Set<string>()
    for (let text = 0; text < 500; text++) {
      for (let use = 0; use < 20; use++) given.add(names.nameOf(`select ${text}`) ?? 'none')
    }
    assert.equal(given.size - 1, 100)
    for (let use = 0; use < 20; use++) assert.equal(names.nameOf('select 499'), undefined)
  })

  test('are never given to long texts, nor again to one that was given up', () => {
    const names = createPreparedNames()
    for (let use = 0; use < 20; use++) {
      assert.equal(names.nameOf(`select ${'1,'.repeat(4000)}1`), undefined)
    }
    const uses = Array.from({ length: 10 }, () => names.nameOf('select 1'))
    assert.ok(uses.at(-1))
    names.giveUp('select 1')
    for (let use = 0; use < 20; use++) assert.equal(names.nameOf('select 1'), undefined)
  })
})

async function inLine<T>(store: Store, work: (tx: Tx) => Promise<T>): Promise<T> {
  const options = { isNeeded: () => false, queue: 'the queue' }
  return (await store.transactionConfirmed(work, options)).result
}

/** Blocks this process in a transaction until PostgreSQL ends the idle session, as if the process got no CPU time. */
async function standStill(tx: Tx): Promise<void> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid,
    set_config('idle_in_transaction_session_timeout', '1', true)`.execute(tx.query)
  const session = `/proc/${rows[0]?.pid}`
  assert.ok(existsSync(session))
  while (existsSync(session)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
}

/** Lists the statements that our driver has prepared on the connection that this query runs on. */
async function keptBy(store: Store): Promise<string[]> {
  const { rows } = await sql<{ statement: string }>`select statement from pg_prepared_statements
    where from_sql = false`.execute(store.query)
  return rows.map(({ statement }) => statement)
}
