import { sql } from 'kysely'
import type { Db, KnownTables, Tx } from './db.ts'

type OwnTable = {
  [T in keyof KnownTables]: KnownTables[T] extends { organization_id: string; id: string }
    ? T
    : never
}[keyof KnownTables]

/** Names a row by its id and its organization's id, so that no organization can reach another's rows. */
export interface OwnKey {
  readonly organizationId: string
  readonly id: string
}

/** Finds a row by its id, but never another organization's. */
export async function ownRow<T extends OwnTable>(
  db: Db,
  table: T,
  { organizationId, id }: OwnKey,
): Promise<KnownTables[T] | undefined> {
  const { rows } = await sql<KnownTables[T]>`select * from ${sql.table(table)}
    where organization_id = ${organizationId} and id = ${id}`.execute(db.query)
  return rows[0]
}

/** Deletes a row by its id, but never another organization's; returns whether there was one. */
export async function removeOwn(
  tx: Tx,
  table: OwnTable,
  { organizationId, id }: OwnKey,
): Promise<boolean> {
  const { rows } = await sql`delete from ${sql.table(table)}
    where organization_id = ${organizationId} and id = ${id} returning id`.execute(tx.query)
  return rows.length > 0
}
