import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'
import { listQuery } from './list.ts'

const watchMs = 1000

/** The keys of an organization. */
export function keysQuery(
  organization: string,
  filter: { readonly search?: string | undefined; readonly state?: string | undefined },
) {
  return infiniteQueryOptions({
    ...listQuery(
      [organization, 'keys', 'list'],
      'GET /organizations/:organization/keys',
      { organization },
      filter,
    ),
    // A revocation by somebody else is seen at once; not in a tab that nobody looks at.
    refetchInterval: ({ state }) =>
      state.status !== 'error' && state.data?.pages.length === 1 ? watchMs : false,
  })
}

/** One key. */
export function keyQuery(organization: string, key: string) {
  return queryOptions({
    queryKey: [organization, 'keys', key],
    queryFn: ({ signal }) =>
      call(
        'GET /organizations/:organization/keys/:key',
        { path: { organization, key } },
        { signal },
      ),
  })
}
