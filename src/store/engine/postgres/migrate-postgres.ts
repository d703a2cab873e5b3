import { Kysely, PostgresDialect, sql } from 'kysely'
import type pg from 'pg'
import type { Tables } from '../../tables/index.ts'
import { refuseStandby } from './greeting.ts'
import { migrate } from '../migrate.ts'
import { openPool } from './pool.ts'

// An arbitrary number for an advisory lock that all versions share, so that only one process migrates at a time.
const migrationLock = 7263940

/** Applies the pending migrations, and the part that SQL can't express, in one transaction under a lock. */
export async function migratePostgres(
  settings: pg.PoolConfig,
  {
    complete,
    mayUpgrade,
  }: {
    readonly complete: (query: Kysely<Tables>, applied: readonly string[]) => Promise<void>
    readonly mayUpgrade: boolean
  },
): Promise<void> {
  // A separate pool: building an index may take longer than the normal statement timeout.
  const query = new Kysely<Tables>({
    dialect: new PostgresDialect({
      pool: openPool({
        ...settings,
        max: 1,
        statement_timeout: undefined,
        query_timeout: undefined,
        idle_in_transaction_session_timeout: undefined,
        onConnect: refuseStandby,
      }),
    }),
  })
  try {
    await query.transaction().execute(async (tx) => {
      await sql`select pg_advisory_xact_lock(${sql.lit(migrationLock)})`.execute(tx)
      await migrate(
        {
          complete: async (applied) => await complete(tx, applied),
          execute: async (statement) => void (await sql.raw(statement).execute(tx)),
          async applied() {
            await sql`create table if not exists migration (name text primary key, digest text not null)`.execute(
              tx,
            )
            const { rows } = await sql<{
              name: string
              digest: string
            }>`select name, digest from migration`.execute(tx)
            return new Map(rows.map((row) => [row.name, row.digest]))
          },
          forgetAll: async () => void (await sql`delete from migration`.execute(tx)),
          async record(name, digest) {
            await sql`insert into migration (name, digest) values (${name}, ${digest})`.execute(tx)
          },
        },
        'postgres',
        mayUpgrade,
      )
    })
  } finally {
    await query.destroy()
  }
}
