import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../db/db.ts'

export interface DatabaseServerTable {
  only_row: number
  identity: string
  since: number
}

// Nodes trust reads from the previous server for one second; the rest allows for clock drift.
const settlesWithinMs = 1100

/** Milliseconds since nodes first met the current server; null on SQLite. */
export function serverAge(db: Pick<Db, 'engine'>): RawBuilder<number | null> {
  if (db.engine === 'sqlite') return sql`null`
  return sql`(select cast(extract(epoch from clock_timestamp()) * 1000 as bigint) - max(since)
    from database_server)`
}

/** When nodes first met the current server; undefined on SQLite and if no server preceded it. */
export async function metAt(db: Db): Promise<number | undefined> {
  if (db.engine === 'sqlite') return undefined
  const row = await db.query.selectFrom('database_server').select('since').executeTakeFirst()
  return row === undefined || row.since === 0 ? undefined : row.since
}

/** Milliseconds for which nodes may still trust reads from the previous server. */
export function unsettledMs(serverAgeMs: number | undefined): number {
  if (serverAgeMs === undefined) return 0
  // A negative age means the clock was set back, so the elapsed time is unknown: assume none.
  return Math.max(0, settlesWithinMs - Math.max(0, serverAgeMs))
}
