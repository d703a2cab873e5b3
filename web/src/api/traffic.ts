import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { before, rangeName, spanOf, type RangeSearch, type Span } from '../parts/range.ts'
import { call, type Answer } from './call.ts'
import { asKnown, type CallFilter } from './calls.ts'

const refreshMs = 15_000

export type Rollup = Answer<'GET /organizations/:organization/rollups'>

interface RollupInput {
  readonly range: RangeSearch
  readonly filter?: CallFilter
  /** Whether to report the upstream's share of the latency separately from Intercept's. */
  readonly parts?: boolean
  /** Whether to fetch the period before the range instead, as a single step. */
  readonly previous?: boolean
}

/** Statistics of calls per time step, with the numbers of calls that each check refused. */
export function rollupQuery(organization: string, input: RollupInput) {
  const { range, filter = {}, parts, previous = false } = input
  return queryOptions({
    queryKey: [organization, 'rollups', input],
    placeholderData: keepPreviousData,
    // A range with explicit times usually lies in the past, so it is not refetched at intervals.
    refetchInterval: rangeName(range) === undefined ? false : refreshMs,
    queryFn: ({ signal }) => {
      const span = previous ? before(spanOf(range)) : spanOf(range)
      const { range: _, ...narrowed } = filter
      const query = {
        ...asKnown(narrowed),
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

/** The keys and targets with the most calls in a range, and the most frequent refusals and upstream errors. */
export function topQuery(organization: string, range: RangeSearch, filter: CallFilter = {}) {
  return queryOptions({
    queryKey: [organization, 'calls', 'top', range, filter],
    refetchInterval: rangeName(range) === undefined ? false : 2 * refreshMs,
    queryFn: ({ signal }) => {
      const { range: _, ...narrowed } = filter
      return call(
        'GET /organizations/:organization/calls/top',
        { path: { organization }, query: { ...asKnown(narrowed), ...moments(spanOf(range)) } },
        { signal },
      )
    },
  })
}

function moments({ from, to }: Span) {
  return { from: new Date(from).toISOString(), to: new Date(to).toISOString() }
}

export function attentionQuery(organization: string) {
  return queryOptions({
    queryKey: [organization, 'attention'],
    refetchInterval: 30_000,
    queryFn: ({ signal }) =>
      call('GET /organizations/:organization/attention', { path: { organization } }, { signal }),
  })
}

export function firstStepsQuery(organization: string) {
  return queryOptions({
    queryKey: [organization, 'first-steps'],
    queryFn: ({ signal }) =>
      call('GET /organizations/:organization/first-steps', { path: { organization } }, { signal }),
  })
}
