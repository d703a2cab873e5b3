import assert from 'node:assert/strict'
import { test } from 'node:test'
import Database from 'better-sqlite3'
import { statementsOf } from './migrate.ts'

test('a time and bytes of a migration for both engines fit the strict tables of SQLite', (t) => {
  const text =
    '-- When; what.\nalter table t add column seen_at bigint;\nalter table t add column b bytea;\n'
  const database = new Database(':memory:')
  t.after(() => database.close())
  database.exec('create table t (id text) strict')
  for (const statement of statementsOf(text, 'sqlite')) database.exec(statement)
  const types = database.pragma('table_info(t)') as { name: string; type: string }[]
  assert.deepEqual(
    types.map(({ name, type }) => `${name} ${type.toLowerCase()}`),
    ['id text', 'seen_at integer', 'b blob'],
  )
  assert.deepEqual(statementsOf(text, 'postgres'), [
    'alter table t add column seen_at bigint',
    'alter table t add column b bytea',
  ])
})
