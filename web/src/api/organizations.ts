import { queryOptions } from '@tanstack/react-query'
import { call, type Answer } from './call.ts'

export type Organization = Answer<'GET /organizations/:organization'>

export function organizationQuery(organization: string) {
  return queryOptions({
    queryKey: [organization, 'organization'],
    queryFn: ({ signal }) =>
      call('GET /organizations/:organization', { path: { organization } }, { signal }),
  })
}
