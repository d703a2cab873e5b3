import { sql } from 'kysely'
import { besideIds } from './beside-ids.ts'
import type { Db } from './db.ts'

/** A table whose rows are an organization's and have an id, and the columns that are wanted of it. */
interface Source<Row> {
  readonly table: 'directory_group' | 'directory_user'
  readonly columns: readonly (keyof Row & string)[]
}

/**
 * The row with this id in an organization; locked until the transaction's end if that is wanted, and before it the
 * organization's directory: whoever changes a directory holds that row first, so that nobody waits in a circle, and
 * what is read behind it is what the last change left.
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
  // Rows are locked in the order of the tables: PostgreSQL waits for the directory before it looks at the other.
  const names = sql.join(from.columns.map((name) => sql.ref(`${from.table}.${name}`)))
  const { rows } = await sql<Row>`select ${names} from directory, ${sql.table(from.table)}
    where directory.organization_id = ${organizationId}
      and ${sql.table(from.table)}.organization_id = directory.organization_id
      and ${sql.table(from.table)}.id = ${id} for update`.execute(db.query)
  return rows[0]
}

/** The rows with these ids in an organization; ids that are not there are left out. */
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
