import { sql } from 'kysely'
import type { Db } from '../db/db.ts'

/** What a database says of itself: its version, and its clock if it has one of its own. */
export async function probe(db: Db): Promise<{ version: string; nowMs: number | undefined }> {
  if (db.engine === 'sqlite') {
    const { rows } = await sql<{ version: string }>`select sqlite_version() as version`.execute(
      db.query,
    )
    return { version: rows[0]?.version ?? '', nowMs: undefined }
  }
  const { rows } = await sql<{ version: string; now: number }>`
    select current_setting('server_version') as version,
      (extract(epoch from clock_timestamp()) * 1000)::bigint as now`.execute(db.query)
  return { version: rows[0]?.version ?? '', nowMs: rows[0]?.now }
}

/** How many sessions wait for somebody else's lock at this moment; undefined where the engine has none (SQLite). */
export async function probeLockWaits(db: Db): Promise<number | undefined> {
  if (db.engine === 'sqlite') return undefined
  const { rows } = await sql<{ waiting: number }>`
    select count(*)::int as waiting from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(db.query)
  return rows[0]?.waiting ?? 0
}
