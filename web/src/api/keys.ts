import { queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'
import { listQuery } from './list.ts'

/** The keys of an organization. */
export function keysQuery(
  organization: string,
  filter: { readonly search?: string | undefined; readonly state?: string | undefined },
) {
  return listQuery(
    [organization, 'keys', 'list'],
    'GET /organizations/:organization/keys',
    { organization },
    filter,
  )
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
