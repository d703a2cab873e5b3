import type { OrganizationId } from '../../../ids.ts'
import type { Db } from '../../db/db.ts'
import { callsThat, type CallFilter } from './call-filter.ts'
import type { CallRecord } from './call-record.ts'
import { callsBy, list, type CallIndex, type CallTable } from './calls.ts'

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
const readSlice = 2000

/**
 * Finds a page of calls, newest first. The search examines a bounded number of records and reports where it stopped.
 */
export async function search(
  db: Db,
  organizationId: OrganizationId,
  page: CallSearch,
): Promise<CallsFound> {
  const index = indexOf(page, db.engine)
  const { name } = index
  if (index.isWhole) {
    const all = await list(db, organizationId, { ...page, index: name })
    return { calls: all, searchedTo: undefined }
  }
  const found: CallRecord[] = []
  let { before } = page
  const { maxExamined = defaultMaxExamined } = page
  const largest = index.isScattered ? scatteredSlice : maxSlice
  let slice = Math.min(firstSlice, largest, maxExamined)
  for (let examined = 0; examined < maxExamined; examined += slice) {
    if (examined > 0) slice = Math.min(slice * 2, largest)
    const rest = { ...page, before }
    const end = await endOfSlice(db, organizationId, { page: rest, index, slice })
    const limit = page.limit - found.length
    found.push(...(await list(db, organizationId, { ...rest, limit, downTo: end, index: name })))
    if (end === undefined || found.length === page.limit) {
      return { calls: found, searchedTo: undefined }
    }
    before = end
    if (page.hasTime?.() === false) break
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

/** The columns of a call that sums are made from. */
export type SummedCall = Pick<
  CallTable,
  | 'at'
  | 'key_id'
  | 'target_id'
  | 'stopped_at'
  | 'refusal'
  | 'status'
  | 'duration_us'
  | 'upstream_us'
>

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
  const slice = Math.min(index.isScattered ? scatteredSlice : readSlice, maxExamined)
  for (let examined = 0; examined < maxExamined; examined += slice) {
    const page = { ...rest, before, limit: 0 }
    const end = await endOfSlice(db, organizationId, { page, index, slice })
    const query = db.query
      .selectFrom(callsBy(db, index.name))
      .select(['at', 'key_id', 'target_id', 'stopped_at', 'refusal', 'status'])
      .select(['duration_us', 'upstream_us'])
      .where(callsThat(db, organizationId, { ...rest, before, downTo: end }))
    onCalls(await query.execute())
    if (end === undefined) return undefined
    before = end
    if (hasTime?.() === false) break
  }
  return before
}

interface Index {
  /** The index that SQLite is made to use; undefined leaves the choice to the database. */
  readonly name: CallIndex | undefined
  /** The part of the filter that the index covers. */
  readonly filter: CallFilter
  /** Whether the index covers the whole filter, so that every record it yields matches. */
  readonly isWhole: boolean
  /** Whether the records of the index lie apart in the table, whose rows are in the order of ids. */
  readonly isScattered: boolean
}

/** Chooses the most selective index: an address or a key has fewer calls than an organization. */
function indexOf(page: CallSearch, engine: Db['engine']): Index {
  const { before: _before, after: _after, limit: _limit, ...filter } = page
  const { from, to, maxExamined: _max, hasTime: _hasTime, ...rest } = filter
  const named = Object.entries(rest).filter(([, value]) => value !== undefined)
  const isAlone = named.length <= 1
  const { id, address, keyId, statuses } = filter
  if (id !== undefined) {
    return { name: undefined, filter: { id }, isWhole: true, isScattered: false }
  }
  if (address !== undefined && engine === 'postgres') {
    const filter = { address, from, to }
    return { name: undefined, filter, isWhole: isAlone, isScattered: true }
  }
  if (keyId !== undefined) {
    const filter = { keyId, from, to }
    return { name: 'call_key', filter, isWhole: isAlone, isScattered: true }
  }
  if (statuses !== undefined && statuses[0] >= 500) {
    const filter = { statuses: [500, 600] as const, from, to }
    const isWhole = isAlone && statuses[1] >= 600
    return { name: 'call_failed', filter, isWhole, isScattered: true }
  }
  const isWhole = named.length === 0
  return { name: undefined, filter: { from, to }, isWhole, isScattered: false }
}

/** The id of the last call in a slice; undefined when fewer calls are left. */
async function endOfSlice(
  db: Db,
  organizationId: OrganizationId,
  { page, index, slice }: { page: CallSearch; index: Index; slice: number },
): Promise<string | undefined> {
  const { before, after } = page
  const row = await db.query
    .selectFrom(callsBy(db, index.name))
    .select('id')
    .where(callsThat(db, organizationId, { ...index.filter, before, after }))
    .orderBy('id', 'desc')
    .limit(1)
    .offset(slice - 1)
    .executeTakeFirst()
  return row?.id
}
