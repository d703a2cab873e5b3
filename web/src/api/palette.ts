import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { call, type Answer } from './call.ts'

/** The targets and endpoints of an organization, which the command palette (Ctrl K) searches in the browser. */
export interface Things {
  readonly targets: Answer<'GET /organizations/:organization/targets'>['items']
  readonly endpoints: Answer<'GET /organizations/:organization/webhooks/endpoints'>['items']
}

export function paletteQuery(organization: string) {
  return queryOptions({
    queryKey: [organization, 'palette'],
    staleTime: 30_000,
    queryFn: async ({ signal }): Promise<Things> => {
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

/** The server searches the keys, because an organization may have thousands. */
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
