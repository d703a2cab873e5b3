import { queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'

/** One organization with its version. */
export function organizationQuery(organization: string) {
  return queryOptions({
    queryKey: [organization, 'organization'],
    queryFn: ({ signal }) =>
      call('GET /organizations/:organization', { path: { organization } }, { signal }),
  })
}
