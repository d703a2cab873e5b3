import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'

/** The targets and endpoints that Ctrl K reaches; keys are searched for. */
export function paletteQuery(organization: string) {
  return queryOptions({
    queryKey: [organization, 'palette'],
    staleTime: 30_000,
    queryFn: async ({ signal }) => {
      const path = { organization }
      const [targets, endpoints] = await Promise.all([
        call('GET /organizations/:organization/targets', { path }, { signal }),
        call('GET /organizations/:organization/webhooks/endpoints', { path }, { signal }),
      ])
      return { targets: targets.items, endpoints: endpoints.items }
    },
  })
}

const foundKeys = 20

/** Keys with a part of a name, found by the server: an organization may have thousands. Without a part, the newest. */
export function keysFoundQuery(organization: string, search: string) {
  return queryOptions({
    queryKey: [organization, 'keys', 'found', search],
    staleTime: 30_000,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      call(
        'GET /organizations/:organization/keys',
        {
          path: { organization },
          query: search === '' ? { limit: foundKeys } : { search, limit: foundKeys },
        },
        { signal },
      ),
  })
}
