import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../db/db.ts'

export interface DatabaseServerTable {
  only_row: number
  identity: string
  since: number
}

// Nodes trust reads from the previous server for one second; the rest allows for clock drift.
const settlesWithinMs = 1100

/** Returns SQL for the database's time, in milliseconds since 1970; null on SQLite, which has no clock of its own. */
export function serverNow(db: Pick<Db, 'engine'>): RawBuilder<number | null> {
  if (db.engine === 'sqlite') return sql`null`
  return sql`(extract(epoch from clock_timestamp()) * 1000)::bigint`
}

/** Returns SQL for the milliseconds since a node first saw the current server; null on SQLite. */
export function serverAge(db: Pick<Db, 'engine'>): RawBuilder<number | null> {
  if (db.engine === 'sqlite') return sql`null`
  return sql`(select cast(extract(epoch from clock_timestamp()) * 1000 as bigint) - max(since)
    from database_server)`
}

/** Finds when a node first saw the current server; undefined on SQLite, and if no server preceded it. */
export async function metAt(db: Db): Promise<number | undefined> {
  if (db.engine === 'sqlite') return undefined
  const row = await db.query.selectFrom('database_server').select('since').executeTakeFirst()
  return row === undefined || row.since === 0 ? undefined : row.since
}

/** Returns for how many milliseconds nodes may still trust what they read from the previous server. */
export function unsettledMs(serverAgeMs: number | undefined): number {
  if (serverAgeMs === undefined) return 0
  // A negative age means that the clock was set back. The true age is unknown, so assume 0.
  return Math.max(0, settlesWithinMs - Math.max(0, serverAgeMs))
}
