import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { rangeName, spanOf } from '../parts/range.ts'
import { call, type Input } from './call.ts'

type CallsQuery = NonNullable<Input<'GET /organizations/:organization/calls'>['query']>
export type Outcome = NonNullable<CallsQuery['outcome']>
/** The outcomes by which the API can filter calls. */
export const outcomes = [
  'answered',
  'upstream_error',
  'refused',
] as const satisfies readonly Outcome[]

/** The checks of a call in order; a refused call stops at one of them. */
export const stations = [
  'shape',
  'key',
  'address',
  'browser',
  'target',
  'rules',
  'limits',
  'forward',
] as const satisfies readonly NonNullable<CallsQuery['stopped_at']>[]

/** The filters for calls as they appear in the URL. */
export type CallFilter = {
  readonly [Name in Exclude<keyof CallsQuery, 'after' | 'newer' | 'limit'>]?: string | undefined
} & { readonly range?: string | undefined }

const shown = 100

export function callsQuery(organization: string, filter: CallFilter) {
  return infiniteQueryOptions({
    queryKey: [organization, 'calls', 'list', filter],
    initialPageParam: '',
    placeholderData: keepPreviousData,
    queryFn: ({ pageParam, signal }) => {
      const query = { ...askedCalls(filter), limit: shown }
      return call(
        'GET /organizations/:organization/calls',
        {
          path: { organization },
          query: pageParam === '' ? query : { ...query, after: pageParam },
        },
        { signal },
      )
    },
    getNextPageParam: (last) => last.next,
  })
}

/** Converts a filter to the API's form; a named range becomes a start time without an end. */
export function askedCalls(filter: CallFilter) {
  const { range: _, ...narrowed } = filter
  if (rangeName(filter) === undefined) return asKnown(narrowed)
  return {
    ...asKnown(narrowed),
    from: new Date(spanOf(filter).from).toISOString(),
    to: undefined,
  }
}

/** Drops an outcome or a check that the API doesn't know, because anyone can edit the URL. */
export function asKnown(filter: Omit<CallFilter, 'range'>) {
  return {
    ...filter,
    outcome: outcomes.find((one) => one === filter.outcome),
    stopped_at: stations.find((one) => one === filter.stopped_at),
  }
}

export function latestCallsQuery(organization: string, key: string, limit: number) {
  return queryOptions({
    queryKey: [organization, 'calls', 'latest', key, limit],
    queryFn: ({ signal }) =>
      call(
        'GET /organizations/:organization/calls',
        { path: { organization }, query: { key, limit } },
        { signal },
      ),
  })
}

/** One call by its request id. */
export function callQuery(organization: string, id: string) {
  return queryOptions({
    queryKey: [organization, 'calls', id],
    queryFn: ({ signal }) =>
      call(
        'GET /organizations/:organization/calls/:call',
        { path: { organization, call: id } },
        { signal },
      ),
  })
}
