import assert from 'node:assert/strict'
import { test } from 'node:test'
import Database from 'better-sqlite3'
import { Kysely, SqliteDialect, type Compilable } from 'kysely'
import { keepQuery } from './kept-query.ts'
import type { KnownTables } from './db.ts'

interface Numbers {
  number: { value: number }
}

test('a kept query is built once, and each run has its own numbers wherever they occur', async () => {
  const database = new Database(':memory:')
  database.exec('create table number (value integer); insert into number values (1), (2), (3), (4)')
  const query = new Kysely<Numbers>({ dialect: new SqliteDialect({ database }) })
  const db = { query: query as unknown as Kysely<KnownTables>, engine: 'sqlite' } as const
  let built = 0
  const between = keepQuery(
    ['from', 'count'],
    (_db, { from, count }): Compilable<{ value: number }> => {
      built += 1
      return query
        .selectFrom('number')
        .select('value')
        .where((eb) => eb.or([eb('value', '>', from), eb('value', '=', from)]))
        .where('value', '!=', 3)
        .orderBy('value')
        .limit(count)
    },
  )
  const values = async (from: number, count: number) =>
    (await between(db, { from, count })).map(({ value }) => value)
  assert.deepEqual(await values(1, 2), [1, 2])
  assert.deepEqual(await values(2, 5), [2, 4])
  assert.deepEqual(await values(4, 5), [4])
  assert.equal(built, 1)
  await query.destroy()
})
