import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from 'kysely'
import type { Store } from '../../src/store/index.ts'
import { createPreparedNames } from '../../src/store/prepared-names.ts'
import { emptyPlace } from './engines.ts'

describe('statements kept by PostgreSQL', () => {
  test('are those that transactions run again and again, and no reads outside of them', async () => {
    await using place = await emptyPlace('postgres')
    await using store = await place.open()
    for (let turn = 0; turn < 10; turn++) {
      await ask(store)
      await sql`select ${'outside'} as word`.execute(store.query)
    }
    const kept = await keptBy(store)
    assert.equal(kept.filter((text) => text.includes('as inside')).length, 1)
    assert.equal(kept.filter((text) => text.includes('as word')).length, 0)
  })

  test('are planned anew, and the work run again, when the schema has changed beneath them', async () => {
    await using place = await emptyPlace('postgres')
    await using store = await place.open()
    await sql`create table thing (id integer, word text)`.execute(store.query)
    await sql`insert into thing values (1, '7')`.execute(store.query)
    const read = async (): Promise<unknown> =>
      await store.transaction(async (tx) => {
        const { rows } = await sql`select word from thing where id = ${1}`.execute(tx.query)
        return rows[0]
      })
    for (let turn = 0; turn < 10; turn++) assert.deepEqual(await read(), { word: '7' })
    assert.equal((await keptBy(store)).filter((text) => text.includes('from thing')).length, 1)
    await sql`alter table thing alter word type integer using word::integer`.execute(store.query)
    assert.deepEqual(await read(), { word: 7 })
    await store.transaction(async (tx) => await sql`deallocate all`.execute(tx.query))
    assert.deepEqual(await read(), { word: 7 })
    // Those that were kept and are gone, as behind a pooler that hands out another connection.
    await ask(store)
  })

  test('are done without where a connection has lost many of them, however many a work has', async () => {
    await using place = await emptyPlace('postgres')
    await using store = await place.open()
    const askMuch = async (): Promise<void> =>
      await store.transaction(async (tx) => {
        for (let at = 0; at < 9; at++) {
          await sql`select ${'lost'} as lost, ${sql.lit(at)} as at`.execute(tx.query)
        }
      })
    for (let turn = 0; turn < 10; turn++) await askMuch()
    await store.transaction(async (tx) => await sql`deallocate all`.execute(tx.query))
    await askMuch()
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

async function ask(store: Store): Promise<void> {
  await store.transaction(async (tx) => await sql`select ${'inside'} as inside`.execute(tx.query))
}

/** What the connections of the store keep; asked of each, as the pool hands them out. */
async function keptBy(store: Store): Promise<string[]> {
  const { rows } = await sql<{ statement: string }>`select statement from pg_prepared_statements
    where from_sql = false`.execute(store.query)
  return rows.map(({ statement }) => statement)
}
