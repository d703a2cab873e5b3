import { sql } from 'kysely'
import type { Db } from '../db/db.ts'
import { keepQuery } from '../db/kept-query.ts'

/** Asks a database for its version, and for its time if it has a clock of its own. */
export async function probe(db: Db): Promise<{ version: string; nowMs: number | undefined }> {
  if (db.engine === 'sqlite') {
    const { rows } = await sql<{ version: string }>`select sqlite_version() as version`.execute(
      db.query,
    )
    return { version: rows[0]?.version ?? '', nowMs: undefined }
  }
  const [row] = await readServer(db, {})
  return { version: row?.version ?? '', nowMs: row?.now }
}

// Nodes run this query every few seconds, so it is built only once.
const readServer = keepQuery([], ({ query }) => ({
  compile: () =>
    sql<{ version: string; now: number }>`
      select current_setting('server_version') as version,
        (extract(epoch from clock_timestamp()) * 1000)::bigint as now`.compile(query),
}))

/** Counts the sessions that wait for another session's lock; undefined on SQLite, which has no such locks. */
export async function probeLockWaits(db: Db): Promise<number | undefined> {
  if (db.engine === 'sqlite') return undefined
  const { rows } = await sql<{ waiting: number }>`
    select count(*)::int as waiting from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(db.query)
  return rows[0]?.waiting ?? 0
}
