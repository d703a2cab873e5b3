import { sql } from 'kysely'
import { besideIds } from './beside-ids.ts'
import type { Db } from './db.ts'

interface Source<Row> {
  readonly table: 'directory_group' | 'directory_user'
  readonly columns: readonly (keyof Row & string)[]
}

/**
 * Finds the row with this id in an organization. With `lock`, PostgreSQL locks the organization's directory row and
 * then this row. Changes to a directory take the locks in that order, so that they can't deadlock.
 */
export async function rowById<Row>(
  db: Db,
  {
    from,
    organizationId,
    id,
  }: {
    readonly from: Source<Row> & { readonly lock: boolean }
    readonly organizationId: string
    readonly id: string
  },
): Promise<Row | undefined> {
  if (!from.lock || db.engine === 'sqlite') {
    const { rows } = await sql<Row>`select ${namesOf(from)} from ${sql.table(from.table)}
      where organization_id = ${organizationId} and id = ${id}`.execute(db.query)
    return rows[0]
  }
  // PostgreSQL locks the rows in the order in which `from` lists their tables.
  const names = sql.join(from.columns.map((name) => sql.ref(`${from.table}.${name}`)))
  const { rows } = await sql<Row>`select ${names} from directory, ${sql.table(from.table)}
    where directory.organization_id = ${organizationId}
      and ${sql.table(from.table)}.organization_id = directory.organization_id
      and ${sql.table(from.table)}.id = ${id} for update`.execute(db.query)
  return rows[0]
}

/** Finds the rows with these ids in an organization; unknown ids are left out. */
export async function rowsByIds<Row>(
  db: Db,
  {
    from,
    organizationId,
    ids,
  }: {
    readonly from: Source<Row>
    readonly organizationId: string
    readonly ids: readonly string[]
  },
): Promise<Row[]> {
  if (ids.length === 0) return []
  const { rows } = await sql<Row>`select ${namesOf(from)} from ${sql.table(from.table)}
    where ${besideIds(db, organizationId)} and id in (${sql.join(ids)})`.execute(db.query)
  return rows
}

function namesOf({ columns }: { readonly columns: readonly string[] }) {
  return sql.join(columns.map((name) => sql.ref(name)))
}
