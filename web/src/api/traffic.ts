import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { before, rangeName, spanOf, type RangeSearch, type Span } from '../parts/range.ts'
import { call, type Answer } from './call.ts'
import { asOutcome, type CallFilter } from './calls.ts'

const refreshMs = 15_000

/** Sums of calls over steps of time. */
export type Rollup = Answer<'GET /organizations/:organization/rollups'>

interface RollupWish {
  readonly range: RangeSearch
  readonly filter?: CallFilter
  /** The upstream's part of the time apart from ours. */
  readonly parts?: boolean
  /** The period before, as one step. */
  readonly previous?: boolean
}

/** Sums of calls per step of a range, and where they stopped. */
export function rollupQuery(organization: string, wish: RollupWish) {
  const { range, filter = {}, parts, previous = false } = wish
  return queryOptions({
    queryKey: [organization, 'rollups', wish],
    placeholderData: keepPreviousData,
    // What has ended does not change any more.
    refetchInterval: rangeName(range) === undefined ? false : refreshMs,
    queryFn: ({ signal }) => {
      const span = previous ? before(spanOf(range)) : spanOf(range)
      const { range: _, ...narrowed } = filter
      const query = {
        ...asOutcome(narrowed),
        ...moments(span),
        step_ms: span.stepMs,
        ...(parts === undefined ? {} : { parts }),
      }
      return call(
        'GET /organizations/:organization/rollups',
        { path: { organization }, query },
        { signal },
      )
    },
  })
}

/** The keys and targets with the most calls of a range, and the codes with the most refusals. */
export function topQuery(organization: string, range: RangeSearch, filter: CallFilter = {}) {
  return queryOptions({
    queryKey: [organization, 'calls', 'top', range, filter],
    refetchInterval: rangeName(range) === undefined ? false : 2 * refreshMs,
    queryFn: ({ signal }) => {
      const { range: _, ...narrowed } = filter
      return call(
        'GET /organizations/:organization/calls/top',
        { path: { organization }, query: { ...asOutcome(narrowed), ...moments(spanOf(range)) } },
        { signal },
      )
    },
  })
}

function moments({ from, to }: Span) {
  return { from: new Date(from).toISOString(), to: new Date(to).toISOString() }
}

/** What waits for a person. */
export function attentionQuery(organization: string) {
  return queryOptions({
    queryKey: [organization, 'attention'],
    refetchInterval: 30_000,
    queryFn: ({ signal }) =>
      call('GET /organizations/:organization/attention', { path: { organization } }, { signal }),
  })
}

/** How far a new organization has come. */
export function firstStepsQuery(organization: string) {
  return queryOptions({
    queryKey: [organization, 'first-steps'],
    queryFn: ({ signal }) =>
      call('GET /organizations/:organization/first-steps', { path: { organization } }, { signal }),
  })
}
