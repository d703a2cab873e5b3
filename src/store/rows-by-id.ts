import { sql } from 'kysely'
import { besideIds } from './beside-ids.ts'
import type { Connection } from './connection.ts'
import type { Tables } from './tables.ts'

/** Tables whose rows are an organization's and have an id. */
type Owned = {
  [T in keyof Tables]: Tables[T] extends { id: string; organization_id: string } ? T : never
}[keyof Tables]

/** These columns of the row with this id in an organization; locked until the transaction's end if that is wanted. */
export async function rowById<T extends Owned, C extends keyof Tables[T] & string>(
  at: Connection,
  from: { readonly table: T; readonly columns: readonly C[]; readonly lock: boolean },
  organizationId: string,
  id: string,
): Promise<Pick<Tables[T], C> | undefined> {
  const lock = from.lock && at.engine === 'postgres' ? sql`for update` : sql``
  const { rows } = await sql<
    Pick<Tables[T], C>
  >`select ${namesOf(from)} from ${sql.table(from.table)}
    where organization_id = ${organizationId} and id = ${id} ${lock}`.execute(at.query)
  return rows[0]
}

/** These columns of the rows with these ids in an organization; ids that are not there are left out. */
export async function rowsByIds<T extends Owned, C extends keyof Tables[T] & string>(
  at: Connection,
  from: { readonly table: T; readonly columns: readonly C[] },
  organizationId: string,
  ids: readonly string[],
): Promise<Pick<Tables[T], C>[]> {
  if (ids.length === 0) return []
  const { rows } = await sql<
    Pick<Tables[T], C>
  >`select ${namesOf(from)} from ${sql.table(from.table)}
    where ${besideIds(at, organizationId)} and id in (${sql.join(ids)})`.execute(at.query)
  return rows
}

function namesOf({ columns }: { readonly columns: readonly string[] }) {
  return sql.join(columns.map((name) => sql.ref(name)))
}
