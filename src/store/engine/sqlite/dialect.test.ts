import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import Database from 'better-sqlite3'
import { Kysely, sql, SqliteDialect, type Dialect } from 'kysely'
import { PlannedOnceDialect } from './dialect.ts'
import { connectionOver } from './file.ts'
import { openSlowReads } from './slow-reads.ts'

interface Tables {
  key: { id: string; owner: string; size: number }
  owner: { id: string; name: string }
}

const executions = 20

describe('a statement on SQLite', () => {
  const global = globalThis as { Function: FunctionConstructor }
  const { Function: original } = global
  let plans = 0
  let database: Database.Database

  beforeEach(() => {
    // The driver makes a function that builds rows whenever SQLite has planned a statement that returns some.
    global.Function = new Proxy(original, {
      apply(made, self, words) {
        plans += 1
        return Reflect.apply(made, self, words) as unknown
      },
    })
    database = new Database(':memory:')
    database.exec(`create table key (id text primary key, owner text, size integer);
      create table owner (id text primary key, name text);
      create index key_size on key (size);
      insert into owner values ('o1', 'one'), ('o2', 'two');
      insert into key values ('k1', 'o1', 1), ('k2', 'o2', 2)`)
  })
  afterEach(() => {
    global.Function = original
    database.close()
  })

  /** Returns how often SQLite planned a query that was executed with these values in turns. */
  async function plansOf<Value>(
    dialect: Dialect,
    values: readonly Value[],
    execute: (query: Kysely<Tables>, value: Value) => Promise<unknown>,
  ): Promise<number> {
    const query = new Kysely<Tables>({ dialect })
    plans = 0
    for (let at = 0; at < executions; at++) {
      const value = values[at % values.length]
      if (value !== undefined) await execute(query, value)
    }
    return plans
  }

  /** Keeps prepared statements, as the store does. */
  function kept() {
    const statements = new Map<string, Database.Statement>()
    return {
      prepare(text: string) {
        const statement = statements.get(text) ?? database.prepare(text)
        statements.set(text, statement)
        return statement
      },
      close() {},
    }
  }

  const queries = {
    'with a limit': async (query: Kysely<Tables>, value: string) =>
      await query.selectFrom('key').select('size').where('id', '=', value).limit(2).execute(),
    'of a join': async (query: Kysely<Tables>, value: string) =>
      await query
        .selectFrom('key')
        .innerJoin('owner', 'owner.id', 'key.owner')
        .select('name')
        .where('key.id', '=', value)
        .execute(),
  }

  for (const [name, execute] of Object.entries(queries)) {
    test(`${name} is planned once, however often it is executed`, async () => {
      const usual = new SqliteDialect({ database: kept() })
      assert.equal(await plansOf(usual, ['k1', 'k2'], execute), executions)
      const ours = new PlannedOnceDialect({ database: kept() })
      assert.equal(await plansOf(ours, ['k1', 'k2'], execute), 1)
    })
  }

  test('is written that way by the connections of the store', async () => {
    const slowReads = openSlowReads(':memory:')
    for (const { query } of [connectionOver(() => database), slowReads.connection]) {
      assert.match(
        query.selectFrom('organization').select('id').limit(2).compile().sql,
        / limit \+\?$/,
      )
    }
    await slowReads.close()
  })

  test('finds with a parameter of any type what SQLite finds without the plus', async () => {
    database.exec(`insert into key values ('k3', '7', 7), ('k4', '7.0', 8), ('k5', null, null)`)
    const usual = new Kysely<Tables>({ dialect: new SqliteDialect({ database }) })
    const ours = new Kysely<Tables>({ dialect: new PlannedOnceDialect({ database }) })
    const found = async (query: Kysely<Tables>, column: string, value: unknown) => {
      const { rows } = await sql<{ id: string }>`select id from key
        where ${sql.ref(column)} = ${value} or ${sql.ref(column)} in (${value}, ${value})
        order by id limit ${9}`.execute(query)
      return rows.map(({ id }) => id)
    }
    let matches = 0
    for (const column of ['owner', 'size']) {
      for (const value of ['o1', '7', 7, 7n, 7.5, '7.0', '8', ' 8', null, Buffer.from('7')]) {
        const expected = await found(usual, column, value)
        assert.deepEqual(await found(ours, column, value), expected)
        matches += expected.length
      }
    }
    assert.ok(matches > 5)
  })
})
