import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { test } from 'node:test'
import Database from 'better-sqlite3'
import { digest } from '../../secrets/index.ts'
import { migrationFiles, statementsOf, type Database as Kind } from './migrate.ts'

/** The number of released migrations of each database, and the digest of their files. */
const published: Readonly<Record<Kind, readonly [count: number, digest: string]>> = {
  postgres: [10, 'feaab0a93da5c6896990ebee4bd64f010ff472ee2ee2182ddd1cf7fd1d1562db'],
  sqlite: [8, '6c0aeb2335de76eca189e93dd9b68a6d4accbb8785ec9108798fac4b790341f8'],
  'sqlite-calls': [2, 'c1f9047b91c8711f557a310636691867b3874ebf1cdd71233688ab566772696b'],
}

test('no migration that people have applied changes, not even in a comment: their databases would be refused', () => {
  for (const [kind, [count, expected]] of Object.entries(published)) {
    const files = migrationFiles(kind as Kind).slice(0, count)
    const texts = files.map((path) => `${basename(path)}\n${readFileSync(path, 'utf8')}`)
    assert.equal(digest(texts.join('')), expected, kind)
  }
})

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
