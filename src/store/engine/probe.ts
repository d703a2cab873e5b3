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
