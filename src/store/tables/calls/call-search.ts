import type { OrganizationId } from '../../../ids.ts'
import type { Db } from '../../db/db.ts'
import { readSlice } from './blocks/block-search.ts'
import {
  callColumns,
  callRecordOf,
  type CallColumn,
  type CallTable,
} from './record/call-columns.ts'
import { callsThat } from './record/call-condition.ts'
import type { CallFilter, CallSlice } from './record/call-filter.ts'
import type { CallRecord } from './record/call-record.ts'
import { list } from './calls.ts'

/** A filter and the page of its results to return. */
export interface CallSearch extends CallFilter {
  /** Ids below (older than) this one. */
  readonly before?: string | undefined
  /** Ids above (newer than) this one. */
  readonly after?: string | undefined
  readonly limit: number
  /** Approximate number of records that may be examined; defaults to 50,000. */
  readonly maxExamined?: number
  /** Called between slices to ask whether the search may continue; by default it always may. */
  readonly hasTime?: () => boolean
}

export interface CallsFound {
  readonly calls: readonly CallRecord[]
  /** The search stopped at this id and has to continue below it; undefined when the page is complete. */
  readonly searchedTo: string | undefined
}

// Most filters fill a page from a few thousand calls; a rare match justifies larger steps.
const firstSlice = 2000
const maxSlice = 8000
/**
 * The slice for records that lie apart in the table: each of them costs a read, which is slow while the record is not
 * in memory.
 */
const scatteredSlice = 250
const defaultMaxExamined = 50_000
/**
 * This is not larger, because every record of such a slice may become an object on the thread that also serves calls.
 */
const readSliceRecords = 2000

/**
 * Finds a page of calls, newest first. The search examines a bounded number of records and reports where it stopped.
 */
export async function search(
  db: Db,
  organizationId: OrganizationId,
  page: CallSearch,
): Promise<CallsFound> {
  const index = indexOf(page, db.engine)
  if (index.isWhole) {
    const { maxExamined: _maxExamined, hasTime: _hasTime, ...all } = page
    return { calls: await list(db, organizationId, all), searchedTo: undefined }
  }
  const found: CallRecord[] = []
  const { maxExamined = defaultMaxExamined, hasTime, limit, ...filter } = page
  let { before } = filter
  const largest = index.isScattered ? scatteredSlice : maxSlice
  let records = Math.min(firstSlice, largest, maxExamined)
  for (let examined = 0; examined < maxExamined; examined += records) {
    if (examined > 0) records = Math.min(records * 2, largest)
    const { rows, end } = await sliceOf(db, organizationId, {
      ...{ filter: { ...filter, before }, index, records },
      ...{ columns: callColumns, limit: limit - found.length },
    })
    found.push(...rows.map(callRecordOf))
    if (end === undefined || found.length === limit) return { calls: found, searchedTo: undefined }
    before = end
    if (hasTime?.() === false) break
  }
  return { calls: found, searchedTo: before }
}

/** Finds a page of calls, continuing until the page is full or nothing is left. */
export async function searchOn(
  db: Db,
  organizationId: OrganizationId,
  page: CallSearch,
): Promise<CallRecord[]> {
  const found: CallRecord[] = []
  let { before } = page
  do {
    const rest = { ...page, before, limit: page.limit - found.length }
    const { calls, searchedTo } = await search(db, organizationId, rest)
    found.push(...calls)
    before = searchedTo
  } while (before !== undefined)
  return found
}

const summedColumns = [
  'at',
  'key_id',
  'target_id',
  'stopped_at',
  'refusal',
  'status',
  'duration_us',
  'upstream_us',
] as const

/** The columns of a call that sums are made from. */
export type SummedCall = Pick<CallTable, (typeof summedColumns)[number]>

/**
 * Reads the matching calls slice by slice, the newest slice first, until it has examined `maxExamined` records or
 * `hasTime` returns false. Returns the id where it stopped; undefined when it has read all of them.
 */
export async function readBack(
  db: Db,
  organizationId: OrganizationId,
  {
    onCalls,
    ...filter
  }: Omit<CallSearch, 'before' | 'after' | 'limit'> & {
    readonly onCalls: (calls: readonly SummedCall[]) => void
  },
): Promise<string | undefined> {
  const { maxExamined = defaultMaxExamined, hasTime, ...rest } = filter
  const index = indexOf({ ...rest, limit: 0 }, db.engine)
  let before: string | undefined
  const records = Math.min(index.isScattered ? scatteredSlice : readSliceRecords, maxExamined)
  for (let examined = 0; examined < maxExamined; examined += records) {
    const { rows, end } = await sliceOf(db, organizationId, {
      ...{ filter: { ...rest, before }, index, records },
      ...{ columns: summedColumns, limit: undefined },
    })
    onCalls(rows)
    if (end === undefined) return undefined
    before = end
    if (hasTime?.() === false) break
  }
  return before
}

interface SliceOrder<Name extends CallColumn> {
  readonly filter: CallFilter & CallSlice
  readonly index: Index
  /** How many of the calls that the index yields to examine. */
  readonly records: number
  readonly columns: readonly Name[]
  /** The most rows to return, the newest ones; undefined for all. */
  readonly limit: number | undefined
}

/** Reads the matching calls of the next slice below `before`; `end` is the id to go on below, if any are left. */
async function sliceOf<Name extends CallColumn>(
  db: Db,
  organizationId: OrganizationId,
  order: SliceOrder<Name>,
): Promise<{ readonly rows: readonly Pick<CallTable, Name>[]; readonly end: string | undefined }> {
  const { filter, records, columns, limit } = order
  if (db.engine === 'sqlite') {
    const slice = { filter, records, columns, limit }
    const { rows, end } = await readSlice(db, organizationId, slice)
    return { rows: limit === undefined ? rows : rows.slice(0, limit), end }
  }
  const end = await endOfSlice(db, organizationId, order)
  let query = db.query
    .selectFrom('call')
    .select(columns)
    .where(callsThat(db, organizationId, { ...filter, downTo: end }))
    .orderBy('id', 'desc')
  if (limit !== undefined) query = query.limit(limit)
  return { rows: (await query.execute()) as unknown as Pick<CallTable, Name>[], end }
}

interface Index {
  /** The part of the filter that the index covers. */
  readonly filter: CallFilter
  /** Whether the index covers the whole filter, so that every record it yields matches. */
  readonly isWhole: boolean
  /** Whether the records of the index lie apart in the database, where records are in the order of ids. */
  readonly isScattered: boolean
}

/** Chooses the most selective index: an address or a key has fewer calls than an organization. */
function indexOf(page: CallSearch, engine: Db['engine']): Index {
  const { before: _before, after: _after, limit: _limit, ...filter } = page
  const { from, to, maxExamined: _max, hasTime: _hasTime, ...rest } = filter
  const named = Object.entries(rest).filter(([, value]) => value !== undefined)
  const isAlone = named.length <= 1
  const { id, address, keyId, statuses } = filter
  if (id !== undefined) return { filter: { id }, isWhole: true, isScattered: false }
  if (address !== undefined && engine === 'postgres') {
    return { filter: { address, from, to }, isWhole: isAlone, isScattered: true }
  }
  if (keyId !== undefined) {
    return { filter: { keyId, from, to }, isWhole: isAlone, isScattered: true }
  }
  if (statuses !== undefined && statuses[0] >= 500) {
    const isWhole = isAlone && statuses[1] >= 600
    return { filter: { statuses: [500, 600], from, to }, isWhole, isScattered: true }
  }
  return { filter: { from, to }, isWhole: named.length === 0, isScattered: false }
}

/** On PostgreSQL, the id of the last call in a slice; undefined when fewer calls are left. */
async function endOfSlice(
  db: Db,
  organizationId: OrganizationId,
  { filter: { before, after }, index, records }: SliceOrder<CallColumn>,
): Promise<string | undefined> {
  const row = await db.query
    .selectFrom('call')
    .select('id')
    .where(callsThat(db, organizationId, { ...index.filter, before, after }))
    .orderBy('id', 'desc')
    .limit(1)
    .offset(records - 1)
    .executeTakeFirst()
  return row?.id
}
