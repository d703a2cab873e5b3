import type { Engine } from '../../db/db.ts'
import { latencyColumns } from './latency-buckets.ts'

/** Counts to add to a table, as one parameter of a statement: a JSON array of rows, sorted by key. */
export interface CountRows {
  readonly table: CountTable
  readonly json: string
  readonly count: number
}

export type CountTable = keyof typeof layouts

// SQLite runs a statement on the calling thread, so a long one would delay calls.
const rowsInStatement = 200

const layouts = {
  call_minute: {
    texts: ['organization_id', 'target_id', 'stopped_at'],
    key: ['organization_id', 'minute', 'target_id', 'stopped_at'],
    sums: ['calls', 'errors', 'bytes_in', 'bytes_out', 'duration_us'],
  },
  call_quarter: {
    texts: ['organization_id', 'subject', 'stopped_at', 'refusal'],
    key: ['organization_id', 'subject', 'quarter', 'stopped_at', 'refusal', 'status'],
    sums: ['calls', ...latencyColumns],
  },
  call_day: {
    texts: ['organization_id', 'subject', 'stopped_at', 'refusal'],
    key: ['organization_id', 'day', 'subject', 'stopped_at', 'refusal', 'status'],
    sums: ['calls'],
  },
  rule_day: {
    texts: ['organization_id', 'rule_id'],
    key: ['organization_id', 'rule_id', 'day_at'],
    sums: ['decided', 'would_refuse'],
  },
} as const satisfies Record<string, { texts: string[]; key: string[]; sums: readonly string[] }>

/**
 * Makes rows from sums by key; a key is the JSON of its values without brackets. Rows are sorted, because nodes that
 * updated the same rows in different orders could deadlock.
 */
export function countRows(
  table: CountTable,
  rows: ReadonlyMap<string, { join(between: string): string }>,
): CountRows[] {
  const keys = [...rows.keys()].sort()
  const parts: CountRows[] = []
  for (let from = 0; from < keys.length; from += rowsInStatement) {
    const some = keys.slice(from, from + rowsInStatement)
    const written = some.map((key) => `[${key},${rows.get(key)?.join(',') ?? ''}]`)
    parts.push({ table, json: `[${written.join(',')}]`, count: some.length })
  }
  return parts
}

/** The statement that adds counts to a table; its one parameter contains all rows. */
export function addAllText(engine: Engine, table: CountTable): string {
  const { texts, key, sums } = layouts[table]
  const isText = (name: string): boolean => (texts as readonly string[]).includes(name)
  const columns = [...key, ...sums]
  const values = columns.map((name, at) =>
    engine === 'postgres' && !isText(name) ? `(value->>${at})::bigint` : `value->>${at}`,
  )
  const rows =
    engine === 'postgres' ? 'jsonb_array_elements($1::jsonb) as row (value)' : 'json_each(?)'
  // Without "where true", SQLite parses "on conflict" as a join condition.
  return `insert into ${table} (${columns.join(', ')}) select ${values.join(', ')} from ${rows} where true ${onConflictAdd(table)}`
}

/** The statement that adds one row on SQLite, with each value bound separately. */
export function addRowText(table: CountTable): string {
  const { key, sums } = layouts[table]
  const columns = [...key, ...sums]
  return `insert into ${table} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')}) ${onConflictAdd(table)}`
}

function onConflictAdd(table: CountTable): string {
  const { key, sums } = layouts[table]
  const set = sums.map((name) => `${name} = ${table}.${name} + excluded.${name}`)
  return `on conflict (${key.join(', ')}) do update set ${set.join(', ')}`
}
