import { sql, type RawBuilder } from 'kysely'
import type { Tx } from './db.ts'
import type { Write } from './together.ts'

/** The type of a column; `utf8` is text stored as bytes. */
type ColumnType = 'text' | 'bigint' | 'utf8'

// Even with 15 columns, this stays far below the 32,766 parameters that SQLite accepts in a statement.
const rowsInStatement = 500

/**
 * Builds inserts for any number of rows. `keepsOld` skips rows whose key exists; `replaces` overwrites rows that have
 * the same values in the given columns. On PostgreSQL each column is passed as one array, so that the statement is
 * identical for one row and for hundreds and its plan can be cached.
 */
export function insertion<Row extends Readonly<Record<string, string | number | Buffer | null>>>(
  tx: Tx,
  insert: {
    readonly table: 'audit_entry' | 'event' | 'delivery' | 'directory_request'
    readonly types: { readonly [column in keyof Row]: ColumnType }
    readonly rows: readonly Row[]
    readonly keepsOld?: boolean
    readonly replaces?: readonly (keyof Row & string)[]
  },
): Write[] {
  const { table, types, rows } = insert
  const columns = Object.entries<ColumnType>(types)
  const conflict = conflictOf(insert, columns)
  const names = sql.join(columns.map(([name]) => sql.ref(name)))
  const writes: Write[] = []
  for (let from = 0; from < rows.length; from += rowsInStatement) {
    const part = rows.slice(from, from + rowsInStatement)
    const source = tx.engine === 'postgres' ? lists(columns, part) : tuples(columns, part)
    writes.push(sql`insert into ${sql.table(table)} (${names}) ${source}${conflict}`)
  }
  return writes
}

function conflictOf(
  { keepsOld, replaces }: { readonly keepsOld?: boolean; readonly replaces?: readonly string[] },
  columns: Columns,
): RawBuilder<unknown> {
  if (keepsOld === true) return sql` on conflict do nothing`
  if (replaces === undefined) return sql``
  const key = sql.join(replaces.map((name) => sql.ref(name)))
  const others = columns.filter(([name]) => !replaces.includes(name))
  const set = others.map(([name]) => sql`${sql.ref(name)} = excluded.${sql.ref(name)}`)
  return sql` on conflict (${key}) do update set ${sql.join(set)}`
}

type Columns = readonly (readonly [name: string, type: ColumnType])[]
type Rows = readonly Readonly<Record<string, string | number | Buffer | null>>[]

function tuples(columns: Columns, rows: Rows): RawBuilder<unknown> {
  const written = rows.map((row) => sql`(${sql.join(columns.map(([name]) => row[name]))})`)
  return sql`values ${sql.join(written)}`
}

function lists(columns: Columns, rows: Rows): RawBuilder<unknown> {
  const values = columns.map(([name, type]) => {
    const list = rows.map((row) => (type === 'utf8' ? String(row[name]) : row[name]))
    return sql`cast(${list} as ${sql.raw(type === 'bigint' ? 'bigint' : 'text')}[])`
  })
  const read = columns.map(([name, type]) =>
    type === 'utf8' ? sql`convert_to(${sql.ref(name)}, 'UTF8')` : sql.ref(name),
  )
  const names = columns.map(([name]) => sql.ref(name))
  return sql`select ${sql.join(read)} from unnest(${sql.join(values)}) as row (${sql.join(names)})`
}
