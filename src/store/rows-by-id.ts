import { sql } from 'kysely'
import { besideIds } from './beside-ids.ts'
import type { Connection } from './connection.ts'

/** A table whose rows are an organization's and have an id, and the columns that are wanted of it. */
interface Source<Row> {
  readonly table: 'directory_group' | 'directory_user'
  readonly columns: readonly (keyof Row & string)[]
}

/** The row with this id in an organization; locked until the transaction's end if that is wanted. */
export async function rowById<Row>(
  at: Connection,
  from: Source<Row> & { readonly lock: boolean },
  organizationId: string,
  id: string,
): Promise<Row | undefined> {
  const lock = from.lock && at.engine === 'postgres' ? sql`for update` : sql``
  const { rows } = await sql<Row>`select ${namesOf(from)} from ${sql.table(from.table)}
    where organization_id = ${organizationId} and id = ${id} ${lock}`.execute(at.query)
  return rows[0]
}

/** The rows with these ids in an organization; ids that are not there are left out. */
export async function rowsByIds<Row>(
  at: Connection,
  from: Source<Row>,
  organizationId: string,
  ids: readonly string[],
): Promise<Row[]> {
  if (ids.length === 0) return []
  const { rows } = await sql<Row>`select ${namesOf(from)} from ${sql.table(from.table)}
    where ${besideIds(at, organizationId)} and id in (${sql.join(ids)})`.execute(at.query)
  return rows
}

function namesOf({ columns }: { readonly columns: readonly string[] }) {
  return sql.join(columns.map((name) => sql.ref(name)))
}
