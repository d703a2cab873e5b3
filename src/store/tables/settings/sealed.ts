import { sql } from 'kysely'
import type { Db, Tx } from '../../db/db.ts'

/** A column whose values are sealed under a master key, and the context in which each value is sealed. */
export interface SealedColumn {
  readonly table: string
  readonly column: string
  /** The columns that identify a row. */
  readonly key: readonly string[]
  /** Returns the context of a row's value; it must equal the context that the code owning the column uses. */
  readonly context: (row: Readonly<Record<string, string>>) => readonly string[]
  /**
   * Set if the values expire within a day, so that a node may start even if it lacks the master key that sealed them.
   */
  readonly shortLived?: true
}

const ofOrganization =
  (field: string): SealedColumn['context'] =>
  ({ organization_id = '', id = '' }) => [organization_id, id, field]

const owned = ['organization_id', 'id']

/** Every sealed column of the database; `test/answers/master-key-rotation.test.ts` fails if one is missing here. */
export const sealedColumns: readonly SealedColumn[] = [
  {
    table: 'target',
    column: 'credential_sealed',
    key: owned,
    context: ofOrganization('credential'),
  },
  {
    table: 'connection',
    column: 'credential_sealed',
    key: owned,
    context: ofOrganization('credential'),
  },
  {
    table: 'provider_session',
    column: 'id_token_sealed',
    key: ['connection_id', 'session_id'],
    context: ({ connection_id = '', session_id = '' }) => [connection_id, session_id, 'id_token'],
    shortLived: true,
  },
  {
    table: 'webhook_secret',
    column: 'sealed',
    key: owned,
    context: ofOrganization('webhook_secret'),
  },
  {
    table: 'endpoint',
    column: 'headers_sealed',
    key: owned,
    context: ofOrganization('headers'),
  },
  {
    table: 'endpoint',
    column: 'private_key_sealed',
    key: owned,
    context: ofOrganization('private_key'),
  },
  {
    table: 'managed',
    column: 'secrets_sealed',
    key: ['organization_id', 'section', 'name'],
    context: ({ organization_id = '', section = '', name = '' }) => [
      organization_id,
      `${section}/${name}`,
      'managed',
    ],
  },
  {
    table: 'signing_key',
    column: 'private_sealed',
    key: ['id'],
    context: ({ id = '' }) => ['system', id, 'private_jwk'],
  },
  {
    table: 'idempotent_answer',
    column: 'answer_sealed',
    key: ['user_id', 'key_digest'],
    context: ({ user_id = '', key_digest = '' }) => ['user', user_id, `idempotent ${key_digest}`],
    shortLived: true,
  },
]

/** Counts a column's values by the id of the master key under which they are sealed. */
export async function countByKey(
  db: Db,
  { table, column }: SealedColumn,
): Promise<{ keyId: string; count: number }[]> {
  const answer = await sql<{ key_id: string; count: number }>`
    select ${keyIdOf(column)} as key_id, count(*) as count from ${sql.table(table)}
    where ${sql.ref(column)} is not null group by ${keyIdOf(column)}`.execute(db.query)
  return answer.rows.map((row) => ({ keyId: row.key_id, count: row.count }))
}

/** Lists a page of rows, in key order after `after`, whose value is sealed under a master key other than `keyId`. */
export async function listOld(
  db: Db,
  { table, column, key }: SealedColumn,
  page: { keyId: string; after: Readonly<Record<string, string>> | undefined; limit: number },
): Promise<Record<string, string>[]> {
  const names = sql.join(key.map((name) => sql.ref(name)))
  const { after } = page
  const behind =
    after === undefined
      ? sql`1 = 1`
      : sql`(${names}) > (${sql.join(key.map((name) => after[name] ?? ''))})`
  const answer = await sql<Record<string, string>>`
    select ${names}, ${sql.ref(column)} as sealed from ${sql.table(table)}
    where ${sql.ref(column)} is not null and ${keyIdOf(column)} <> ${page.keyId} and ${behind}
    order by ${names} limit ${page.limit}`.execute(db.query)
  return answer.rows
}

/** Replaces a row's sealed value; false if the value has changed since the row was read. */
export async function replace(
  tx: Tx,
  {
    place: { table, column, key },
    row,
    sealed,
  }: {
    readonly place: SealedColumn
    readonly row: Readonly<Record<string, string>>
    readonly sealed: string
  },
): Promise<boolean> {
  const isIt = sql.join(
    key.map((name) => sql`${sql.ref(name)} = ${row[name]}`),
    sql` and `,
  )
  const answer = await sql`
    update ${sql.table(table)} set ${sql.ref(column)} = ${sealed}
    where ${isIt} and ${sql.ref(column)} = ${row['sealed']}`.execute(tx.query)
  return (answer.numAffectedRows ?? 0n) > 0n
}

// Extracts the master key's id from `v1.<key id of 8 characters>.…`.
function keyIdOf(column: string) {
  return sql<string>`substr(${sql.ref(column)}, 4, 8)`
}
