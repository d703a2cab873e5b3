import { createId } from '../../../../ids.ts'
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

function later(one: string | undefined, other: string | undefined): string | undefined {
  return one === undefined || (other !== undefined && other > one) ? other : one
}

function earlier(one: string | undefined, other: string | undefined): string | undefined {
  return one === undefined || (other !== undefined && other < one) ? other : one
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
