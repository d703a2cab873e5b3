import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../db/db.ts'

export interface DatabaseServerTable {
  only_row: number
  identity: string
  since: number
}

// A node trusts what it read from the server before for a second; the rest is for clocks that do not run alike.
const settlesWithinMs = 1100

/** Milliseconds since nodes met this server here; null on SQLite. */
export function serverAge(db: Pick<Db, 'engine'>): RawBuilder<number | null> {
  if (db.engine === 'sqlite') return sql`null`
  return sql`(select cast(extract(epoch from clock_timestamp()) * 1000 as bigint) - max(since)
    from database_server)`
}

/** When nodes met the server that answers now for the first time; undefined on SQLite, and where none was before it. */
export async function metAt(db: Db): Promise<number | undefined> {
  if (db.engine === 'sqlite') return undefined
  const row = await db.query.selectFrom('database_server').select('since').executeTakeFirst()
  return row === undefined || row.since === 0 ? undefined : row.since
}

/** For how long nodes may still trust what they read from the server before this one. */
export function unsettledMs(serverAgeMs: number | undefined): number {
  if (serverAgeMs === undefined) return 0
  // A clock that was set back says nothing of how long it was.
  return Math.max(0, settlesWithinMs - Math.max(0, serverAgeMs))
}
