import { sql, type RawBuilder, type SqlBool } from 'kysely'
import type { OrganizationId } from '../../../ids.ts'
import type { Db } from '../../db/db.ts'
import { callsThat, type CallFilter } from './call-filter.ts'
import type { CallRecord } from './call-record.ts'
import { callsBy, list, type CallIndex } from './calls.ts'

/** Which page of which calls. */
export interface CallSearch extends CallFilter {
  /** Ids below (older than) this one. */
  readonly before?: string | undefined
  /** Ids above (newer than) this one. */
  readonly after?: string | undefined
  readonly limit: number
  /** Records that may be looked at, about; left out: 50,000. */
  readonly maxLookedAt?: number
  /** Asked between slices: whether the search may go on; left out: it may. */
  readonly hasTime?: () => boolean
}

/** What a search has found so far. */
export interface CallsFound {
  readonly calls: readonly CallRecord[]
  /** The search looked at calls down to this id, and has to go on below it; undefined when the page is what there is. */
  readonly searchedTo: string | undefined
}

// Most filters fill a page from a few thousand calls; a rare one is worth larger steps.
const firstSlice = 2000
const maxSlice = 8000
const usualLookedAt = 50_000

/**
 * A page of calls, newest first, for which no more than a bounded number of records is looked at: what no index answers
 * is searched slice by slice, and a search that has looked at enough says where it stopped.
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
  const { maxLookedAt = usualLookedAt } = page
  let slice = Math.min(firstSlice, maxLookedAt)
  for (let lookedAt = 0; lookedAt < maxLookedAt; lookedAt += slice) {
    if (lookedAt > 0) slice = Math.min(slice * 2, maxSlice)
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

/** A page of calls for whoever waits until there is nothing left to look at. */
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

/** The index that a filter is answered by. */
interface Index {
  /** Undefined: the order of lists itself. */
  readonly name: CallIndex | undefined
  /** What the index knows of the filter. */
  readonly filter: CallFilter
  /** The index knows all of it: no record is looked at in vain. */
  readonly isWhole: boolean
}

/** The most selective first: an address or a key has fewer calls than an organization. */
function indexOf(page: CallSearch, engine: Db['engine']): Index {
  const { before: _before, after: _after, limit: _limit, ...filter } = page
  const { from, to, maxLookedAt: _max, hasTime: _hasTime, ...rest } = filter
  const named = Object.entries(rest).filter(([, value]) => value !== undefined)
  const isAlone = named.length <= 1
  const { id, address, keyId, statuses } = filter
  if (id !== undefined) return { name: undefined, filter: { id }, isWhole: true }
  if (address !== undefined && engine === 'postgres') {
    return { name: undefined, filter: { address, from, to }, isWhole: isAlone }
  }
  if (keyId !== undefined) {
    return { name: 'call_key', filter: { keyId, from, to }, isWhole: isAlone }
  }
  if (statuses !== undefined && statuses[0] >= 500) {
    const filter = { statuses: [500, 600] as const, from, to }
    return { name: 'call_failed', filter, isWhole: isAlone && statuses[1] >= 600 }
  }
  return { name: undefined, filter: { from, to }, isWhole: named.length === 0 }
}

/** The id of the last call of a slice; undefined when fewer calls than that are left. */
async function endOfSlice(
  db: Db,
  organizationId: OrganizationId,
  { page, index, slice }: { page: CallSearch; index: Index; slice: number },
): Promise<string | undefined> {
  const { before, after } = page
  const bounds: RawBuilder<SqlBool>[] = [callsThat(db, organizationId, index.filter)]
  if (before !== undefined) bounds.push(sql`id < ${before}`)
  if (after !== undefined) bounds.push(sql`id > ${after}`)
  const row = await db.query
    .selectFrom(callsBy(db, index.name))
    .select('id')
    .where(sql<SqlBool>`${sql.join(bounds, sql` and `)}`)
    .orderBy('id', 'desc')
    .limit(1)
    .offset(slice - 1)
    .executeTakeFirst()
  return row?.id
}
