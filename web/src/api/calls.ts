import { call } from './call.ts'
import { listQuery } from './list.ts'
import { queryOptions } from '@tanstack/react-query'

/** What the list of calls can be narrowed by; the names are those of the address bar and of the API. */
export interface CallFilter {
  readonly q?: string | undefined
  readonly target?: string | undefined
  readonly key?: string | undefined
  readonly stopped_at?: string | undefined
  readonly status?: string | undefined
  readonly method?: string | undefined
  readonly path?: string | undefined
  readonly address?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** Calls, newest first. */
export function callsQuery(organization: string, filter: CallFilter) {
  return listQuery(
    [organization, 'calls', 'list'],
    'GET /organizations/:organization/calls',
    { organization },
    { ...filter, limit: 100 },
  )
}

/** The newest calls of one key. */
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
