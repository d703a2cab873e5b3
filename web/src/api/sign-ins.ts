import { queryOptions } from '@tanstack/react-query'
import { call, type Answer } from './call.ts'

const dayMs = 86_400_000
const days = 30
const refreshMs = 60_000

export type SignIns = Answer<'GET /organizations/:organization/sign-ins'>

/** Sign-ins of the last 30 days, in steps of 24 hours counted back from the next local midnight. */
export function signInsQuery(organization: string) {
  return queryOptions({
    queryKey: [organization, 'sign-ins'],
    staleTime: refreshMs,
    refetchInterval: refreshMs,
    queryFn: ({ signal }) => {
      const to = new Date().setHours(24, 0, 0, 0)
      const query = {
        from: new Date(to - days * dayMs).toISOString(),
        to: new Date(to).toISOString(),
        step_ms: dayMs,
      }
      const path = { organization }
      return call('GET /organizations/:organization/sign-ins', { path, query }, { signal })
    },
  })
}
