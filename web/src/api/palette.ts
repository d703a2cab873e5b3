import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'

/** Names of everything that Ctrl K reaches. */
export function paletteQuery(organization: string) {
  return queryOptions({
    queryKey: [organization, 'palette'],
    staleTime: 30_000,
    queryFn: async ({ signal }) => {
      const path = { organization }
      const [keys, targets, endpoints] = await Promise.all([
        call('GET /organizations/:organization/keys', { path }, { signal }),
        call('GET /organizations/:organization/targets', { path }, { signal }),
        call('GET /organizations/:organization/webhooks/endpoints', { path }, { signal }),
      ])
      return { keys: keys.items, targets: targets.items, endpoints: endpoints.items }
    },
  })
}

/** Keys with a part of a name, found by the server: an organization may have thousands. */
export function keysNamedQuery(organization: string, search: string) {
  return queryOptions({
    queryKey: [organization, 'keys', 'named', search],
    enabled: search !== '',
    staleTime: 30_000,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      call(
        'GET /organizations/:organization/keys',
        { path: { organization }, query: { search, limit: 20 } },
        { signal },
      ),
  })
}
