import { sql, type RawBuilder } from 'kysely'
import { idBound, timeOfId, type OrganizationId } from '../../../../ids.ts'
import type { Db } from '../../../db/db.ts'
import type { BlockFilter, BlockQuestion } from './block-match.ts'
import { maxBlockSpanMs } from './call-block.ts'
import { rowOf, type CallColumn, type CallTable, type CallValues } from '../record/call-columns.ts'
import { idRangeOf, type CallFilter } from '../record/call-filter.ts'

/** The columns of the list of blocks that queries name. */
export interface CallBlockTable {
  organization_id: string
  last_id: string
}

/** A slice of the calls that match a filter, newest first, read from blocks. */
export interface Slice<Name extends CallColumn> {
  readonly rows: readonly Pick<CallTable, Name>[]
  /** The slice has all matching calls down to this id; undefined if no more calls are left below it. */
  readonly end: string | undefined
}

/**
 * Reads about as many calls as `records` says, the newest ones within the slice's bounds, and returns those that match
 * the filter.
 */
export async function readSlice<Name extends CallColumn>(
  db: Db,
  organizationId: OrganizationId,
  {
    filter,
    records,
    columns,
    limit,
  }: {
    readonly filter: BlockFilter
    readonly records: number
    readonly columns: readonly Name[]
    /** If given, only this many of the slice's rows are needed, the newest ones. */
    readonly limit?: number | undefined
  },
): Promise<Slice<Name>> {
  const names = ['id', ...columns.filter((name) => name !== 'id')] as const
  const question: BlockQuestion = { filter, columns: names, limit }
  const { rows } = await sql<FoundSlice>`
    with newest as materialized (${newestBlocks(organizationId, filter, records)})
    select min(newest.last_id) as end, max(newest.newer + newest.counted) as counted,
      newest_rows(stored.rows, ${JSON.stringify(question)}) as found
    from newest join call_block_rows as stored on stored.no = newest.no
    where newest.newer < ${sql.lit(records)}`.execute(db.query)
  const [{ end, counted, found } = nothingFound] = rows
  const isLast = end === null || counted === null || counted < records
  return { rows: rowsOf(found, names, isLast ? '' : end), end: isLast ? undefined : end }
}

interface FoundSlice {
  /** The last id of the oldest block; null if there are no blocks. */
  readonly end: string | null
  /** The calls of all blocks that count. */
  readonly counted: number | null
  /** The matching rows, newest first, as JSON. */
  readonly found: string
}

const nothingFound: FoundSlice = { end: null, counted: null, found: '[]' }

/** Reads the newest calls that match a filter, up to a limit; examines as many calls as that takes. */
export async function readNewest<Name extends CallColumn>(
  db: Db,
  organizationId: OrganizationId,
  {
    filter,
    limit,
    columns,
  }: {
    readonly filter: BlockFilter
    readonly limit: number
    readonly columns: readonly Name[]
  },
): Promise<readonly Pick<CallTable, Name>[]> {
  const found: Pick<CallTable, Name>[] = []
  let { before } = filter
  let records = Math.min(limit, maxSlice)
  do {
    const left = Number.isFinite(limit) ? limit - found.length : undefined
    const slice = { filter: { ...filter, before }, records, columns, limit: left }
    const { rows, end } = await readSlice(db, organizationId, slice)
    for (const row of rows) if (found.length < limit) found.push(row)
    before = end
    records = Math.min(records * 2, maxSlice)
  } while (before !== undefined && found.length < limit)
  return found
}

/** This is not larger, because each row becomes an object on the thread that asks. */
const maxSlice = 2000

/**
 * The blocks that may have calls within bounds, with the number of calls in newer ones (`newer`). Blocks that reach
 * above the upper bound do not count, so that each slice ends below the one before.
 */
function newestBlocks(
  organizationId: OrganizationId,
  filter: BlockFilter,
  records: number,
): RawBuilder<unknown> {
  const { after, first, behind } = idRangeOf(filter)
  const { table, counted, conditions } = blocksBy(organizationId, filter)
  if (after !== undefined) conditions.push(sql`last_id > ${after}`)
  if (first !== undefined) conditions.push(sql`last_id >= ${first}`)
  const below = behind === undefined ? conditions : [...conditions, sql`last_id < ${behind}`]
  const all = sql`select * from (select last_id, no, ${counted} as counted from ${table}
    where ${sql.join(below, sql` and `)} order by last_id desc limit ${sql.lit(records)})`
  return sql`select last_id, no, counted,
      sum(counted) over (order by last_id desc rows unbounded preceding) - counted as newer
    from (${behind === undefined ? all : sql`${all} union all ${reachingAbove(behind, table, conditions)}`})`
}

/** The blocks that reach above a bound: they end at most a block's span above it. */
function reachingAbove(
  behind: string,
  table: RawBuilder<unknown>,
  conditions: readonly RawBuilder<unknown>[],
): RawBuilder<unknown> {
  const reach = idBound('req', timeOfId(behind) + maxBlockSpanMs + 1)
  return sql`select last_id, no, 0 from ${table} where ${sql.join(conditions, sql` and `)}
    and last_id >= ${behind} and last_id < ${reach} and first_id < ${behind}`
}

/** The list of blocks that helps most with a filter, and how many calls of each block it counts. */
function blocksBy(
  organizationId: OrganizationId,
  { keyId, statuses }: CallFilter,
): {
  readonly table: RawBuilder<unknown>
  readonly counted: RawBuilder<number>
  readonly conditions: RawBuilder<unknown>[]
} {
  const conditions: RawBuilder<unknown>[] = [sql`organization_id = ${organizationId}`]
  if (keyId !== undefined) {
    conditions.push(sql`key_id = ${keyId}`)
    return { table: sql`call_block_key`, counted: sql`calls`, conditions }
  }
  if (statuses !== undefined && statuses[0] >= 500) {
    conditions.push(sql`failed > 0`)
    const table = sql`call_block indexed by call_block_failed`
    return { table, counted: sql`failed`, conditions }
  }
  return { table: sql`call_block`, counted: sql`calls`, conditions }
}

/** Returns rows as objects, down to the id `end`. */
function rowsOf<Name extends CallColumn>(
  found: string,
  names: readonly CallColumn[],
  end: string,
): Pick<CallTable, Name>[] {
  return (JSON.parse(found) as CallValues[])
    .filter(([id]) => String(id) >= end)
    .map((values) => rowOf(names, values) as Pick<CallTable, Name>)
}
