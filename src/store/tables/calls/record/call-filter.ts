import { sql, type RawBuilder, type SqlBool } from 'kysely'
import { createId, type OrganizationId } from '../../../../ids.ts'
import { contains } from '../../../db/contains.ts'
import type { Db } from '../../../db/db.ts'
import { minuteMs } from '../../../../units.ts'

/** The start of every recorded path; the API shows paths without it. */
export const recordedPrefix = '/api/v1/intercept'

/**
 * How a call ended. `refused`: one of our checks refused it; `upstream_error`: it failed while it was forwarded, or the
 * upstream responded with 500 or above; `answered`: every other call, also one whose caller left before the response.
 */
export type CallOutcome = 'answered' | 'upstream_error' | 'refused'

/** Selects calls; all given conditions must hold. */
export interface CallFilter {
  readonly id?: string | undefined
  readonly keyId?: string | undefined
  readonly targetId?: string | undefined
  readonly stoppedAt?: string | undefined
  readonly outcome?: CallOutcome | undefined
  /** From the first (inclusive) to the second (exclusive). */
  readonly statuses?: readonly [number, number] | undefined
  readonly method?: string | undefined
  /** A prefix of the path. */
  readonly path?: string | undefined
  /** Matches calls whose path, without `recordedPrefix`, contains `text`, or whose key is one of `keyIds`. */
  readonly words?: { readonly text: string; readonly keyIds: readonly string[] } | undefined
  readonly address?: string | undefined
  /** The range of arrival times in milliseconds since 1970: `from` is inclusive, `to` exclusive. */
  readonly from?: number | undefined
  readonly to?: number | undefined
  /** Calls that ended at this time or later, in milliseconds since 1970; no index helps to find them. */
  readonly endedFrom?: number | undefined
}

/** A range of calls by their ids. */
export interface CallSlice {
  /** Only ids below (older than) this one. */
  readonly before?: string | undefined
  /** Only ids above (newer than) this one. */
  readonly after?: string | undefined
  /** Only this id and those above it. */
  readonly downTo?: string | undefined
}

/** The condition that an organization's calls must meet to match a filter, for PostgreSQL. */
export function callsThat(
  db: Db,
  organizationId: OrganizationId,
  filter: CallFilter & CallSlice,
): RawBuilder<SqlBool> {
  const all: RawBuilder<unknown>[] = [sql`organization_id = ${organizationId}`]
  const { words, statuses, from, to } = filter
  if (filter.id !== undefined) all.push(sql`id = ${filter.id}`)
  if (filter.keyId !== undefined) all.push(sql`key_id = ${filter.keyId}`)
  if (filter.targetId !== undefined) all.push(sql`target_id = ${filter.targetId}`)
  if (filter.stoppedAt !== undefined) all.push(sql`stopped_at = ${filter.stoppedAt}`)
  if (filter.outcome !== undefined) all.push(sql`(${outcomes[filter.outcome]})`)
  // The literal lets the database prove that the index of failed calls covers every match.
  if (statuses !== undefined && statuses[0] >= 500) all.push(sql`status >= 500`)
  // If the filter asks for all failed calls, that literal is the whole condition, so the index alone can answer a query
  // for ids.
  const isAllFailed = statuses !== undefined && statuses[0] === 500 && statuses[1] >= 600
  if (statuses !== undefined && !isAllFailed) {
    all.push(sql`status >= ${statuses[0]} and status < ${statuses[1]}`)
  }
  if (filter.method !== undefined) all.push(sql`method = ${filter.method}`)
  if (filter.path !== undefined) {
    // Paths are ASCII, so every path with this prefix sorts between the prefix and the prefix plus U+007F.
    all.push(sql`path >= ${filter.path} and path < ${`${filter.path}\u007f`}`)
  }
  if (words !== undefined) all.push(holdsWords(db, words))
  if (filter.address !== undefined) all.push(sql`address = ${filter.address}`)
  if (from !== undefined) all.push(sql`at >= ${from}`)
  if (to !== undefined) all.push(sql`at < ${to}`)
  if (filter.endedFrom !== undefined) all.push(sql`at + duration_us / 1000 >= ${filter.endedFrom}`)
  all.push(...idsIn(filter))
  return sql<SqlBool>`${sql.join(all, sql` and `)}`
}

/** The bounds of the ids that a filter and a slice select, at most one in each direction. */
export interface IdRange {
  /** Only ids above this one. */
  readonly after?: string
  /** Only this id and those above it. */
  readonly first?: string
  /** Only ids below this one. */
  readonly behind?: string
}

export function idRangeOf(selected: CallFilter & CallSlice): IdRange {
  const { id, from, to, before, after, downTo } = selected
  const start = from === undefined ? undefined : idBefore(from)
  const end = to === undefined ? undefined : idBehind(to)
  const first = later(later(start, downTo), id)
  // `~` is above all characters of ids.
  const behind = earlier(earlier(end, before), id === undefined ? undefined : `${id}~`)
  const upper = behind === undefined ? {} : { behind }
  if (after !== undefined && later(first, after) === after) return { after, ...upper }
  return first === undefined ? upper : { first, ...upper }
}

function idsIn(selected: CallFilter & CallSlice): RawBuilder<unknown>[] {
  const { after, first, behind } = idRangeOf(selected)
  const all: RawBuilder<unknown>[] = []
  if (after !== undefined) all.push(sql`id > ${after}`)
  if (first !== undefined) all.push(sql`id >= ${first}`)
  if (behind !== undefined) all.push(sql`id < ${behind}`)
  return all
}

function later(one: string | undefined, other: string | undefined): string | undefined {
  return one === undefined || (other !== undefined && other > one) ? other : one
}

function earlier(one: string | undefined, other: string | undefined): string | undefined {
  return one === undefined || (other !== undefined && other < one) ? other : one
}

export const outcomes: Readonly<Record<CallOutcome, RawBuilder<SqlBool>>> = {
  answered: sql<SqlBool>`stopped_at is null and status < 500`,
  upstream_error: sql<SqlBool>`stopped_at = 'forward' or (stopped_at is null and status >= 500)`,
  refused: sql<SqlBool>`stopped_at is not null and stopped_at <> 'forward'`,
}

function holdsWords(
  db: Db,
  { text, keyIds }: NonNullable<CallFilter['words']>,
): RawBuilder<unknown> {
  const inPath = contains(db, sql`substr(path, ${sql.lit(recordedPrefix.length + 1)})`, text)
  return keyIds.length === 0 ? inPath : sql`(${inPath} or key_id in (${sql.join(keyIds)}))`
}

// An id contains the time at which the call arrived. `at` is the same time, but computed when the call ends; if the
// clock is corrected in between, the two differ.
const clockMarginMs = minuteMs

/** An id below the ids of all calls that arrived at or after a time: a search for such calls can stop there. */
export function idBefore(at: number): string {
  return createId('req', Math.max(0, Math.floor(at) - clockMarginMs))
}

/** An id above the ids of all calls that arrived before a time. */
function idBehind(at: number): string {
  return createId('req', Math.max(0, Math.ceil(at) + clockMarginMs))
}
