// A database from before 0.1.0 was created by a longer list of migrations than today's.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import Database from 'better-sqlite3'
import { sql } from 'kysely'
import { systemClock } from '../../src/clock.ts'
import { createId } from '../../src/ids.ts'
import { openStore, organizations, type Engine, type Store } from '../../src/store/index.ts'
import { postgresForTests, type TestDatabase } from '../harness/postgres.ts'
import { intercept } from '../harness/terminal.ts'
import { engines } from './engines.ts'

const formerSchema = (name: string): string =>
  readFileSync(join(import.meta.dirname, '../harness/former-schema', `${name}.sql`), 'utf8')

const oldRows = `
  insert into organization (id, slug, name, plan, created_at) values ('org_old', 'old', 'Old', 'standard', 1);
  insert into organization_head (organization_id) values ('org_old');`

interface Place {
  readonly folder: string
  readonly database: TestDatabase | undefined
  [Symbol.asyncDispose](): Promise<void>
}

async function emptyPlace(engine: Engine): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), 'intercept-former-'))
  const database = engine === 'postgres' ? await postgresForTests() : undefined
  return {
    folder,
    database,
    [Symbol.asyncDispose]: async () => {
      await database?.[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true })
    },
  }
}

/** Creates what an earlier version would have left behind: its schema, its list of migrations, and an organization. */
async function makeFormer({ folder, database }: Place, more = ''): Promise<void> {
  if (database !== undefined) {
    await database.sql(formerSchema('postgres') + oldRows + more)
    return
  }
  const main = new Database(join(folder, 'intercept.db'))
  main.exec(formerSchema('sqlite') + oldRows + more)
  main.close()
  const calls = new Database(join(folder, 'calls.db'))
  calls.exec(formerSchema('sqlite-calls'))
  calls.close()
}

async function open({ folder, database }: Place): Promise<Store> {
  const databaseUrl = database?.url
  return await openStore({ folder, databaseUrl, clock: systemClock, isNode: false })
}

/** Lists columns, indexes and constraints, regardless of the order and file in which they were created. */
async function schemaOf({ folder, database }: Place): Promise<string[]> {
  if (database !== undefined) return await postgresSchema(database)
  return ['intercept.db', 'calls.db'].flatMap((name) => {
    const file = new Database(join(folder, name), { readonly: true })
    const seen = sqliteSchema(file)
    file.close()
    return seen
  })
}

async function postgresSchema(database: TestDatabase): Promise<string[]> {
  const { rows } = await database.sql(`
    select concat_ws(' ', table_name, column_name, data_type, collation_name, is_nullable, column_default) as said
      from information_schema.columns where table_schema = 'public'
    union all
    -- The names of a partition's indexes are PostgreSQL's own.
    select regexp_replace(indexdef, 'INDEX \\S+ ON public.call_other', 'INDEX ON public.call_other')
      from pg_indexes where schemaname = 'public'
    union all
    select concat_ws(' ', conrelid::regclass, pg_get_constraintdef(oid)) from pg_constraint
      where connamespace = 'public'::regnamespace and contype <> 'n'`)
  return (rows as { said: string }[]).map(({ said }) => said).sort()
}

function sqliteSchema(file: Database.Database): string[] {
  const tables = file
    .prepare("select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'")
    .pluck()
    .all() as string[]
  const said = tables.flatMap((table) =>
    [
      ...file
        .prepare('select name, type, "notnull", dflt_value, pk from pragma_table_info(?)')
        .all(table),
      ...file.prepare('select "from", "table", "to" from pragma_foreign_key_list(?)').all(table),
      ...file.prepare('select wr, strict from pragma_table_list(?)').all(table),
    ].map((row) => `${table} ${JSON.stringify(row)}`),
  )
  const indexes = file
    .prepare("select sql from sqlite_schema where type = 'index' and sql is not null")
    .pluck()
    .all() as string[]
  const checks = (
    file.prepare("select name, sql from sqlite_schema where type = 'table'").all() as {
      name: string
      sql: string
    }[]
  ).flatMap(({ name, sql }) =>
    (sql.match(/check \((?:[^()]|\([^()]*\))*\)/g) ?? []).map((check) => `${name} ${check}`),
  )
  return [...said, ...indexes.map((text) => text.replaceAll(/\s+/g, ' ')), ...checks].sort()
}

for (const engine of engines) {
  test(`a database of before 0.1.0 has the schema that a new one gets, and keeps its rows, on ${engine}`, async () => {
    await using former = await emptyPlace(engine)
    await makeFormer(former)
    {
      await using store = await open(former)
      const id = createId('org')
      await store.transaction(
        async (tx) =>
          await organizations.insert(tx, { id, slug: 'new', name: 'New', plan: 'standard' }),
      )
      const { rows } = await sql<{
        slug: string
      }>`select slug from organization order by slug`.execute(store.query)
      assert.deepEqual(rows, [{ slug: 'new' }, { slug: 'old' }])
    }
    await using fresh = await emptyPlace(engine)
    await (await open(fresh))[Symbol.asyncDispose]()
    const [brought, made] = [await schemaOf(former), await schemaOf(fresh)]
    const without = (some: string[], others: string[]) => some.filter((of) => !others.includes(of))
    assert.ok(made.length > 500, String(made.length))
    assert.deepEqual([without(brought, made), without(made, brought)], [[], []])
    // A second start must succeed too; it has nothing left to migrate.
    await (await open(former))[Symbol.asyncDispose]()
  })

  test(`a database that stopped at an earlier migration of before 0.1.0 is refused untouched, on ${engine}`, async () => {
    await using former = await emptyPlace(engine)
    await makeFormer(former, "delete from migration where name like '0016-%'")
    const before = await schemaOf(former)
    await assert.rejects(open(former), /made before version 0\.1\.0 and not brought up to date/)
    assert.deepEqual(await schemaOf(former), before)
  })
}

for (const engine of engines) {
  test(`on ${engine} no command but migrate upgrades the schema of an earlier version under its nodes`, async () => {
    await using place = await emptyPlace(engine)
    await makeFormer(place)
    const { folder, database } = place
    const env = {
      DATA_DIR: folder,
      INTERCEPT_SECRET: randomBytes(32).toString('base64'),
      ...(database === undefined ? {} : { DATABASE_URL: database.url }),
    }
    for (const words of [['org', 'list'], ['org', 'create', 'new'], ['doctor']]) {
      const refused = await intercept(words, { env })
      assert.equal(refused.code, 1, words.join(' '))
      assert.match(refused.err + refused.out, /has the schema of an earlier version of Intercept/)
    }
    assert.equal((await intercept(['migrate'], { env })).code, 0)
    const listed = await intercept(['org', 'list'], { env })
    assert.equal(listed.code, 0, listed.err)
    assert.match(listed.out, /old/)
  })
}
