import { queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'

/** All targets of an organization. */
export function targetsQuery(organization: string) {
  return queryOptions({
    queryKey: [organization, 'targets', 'list'],
    queryFn: ({ signal }) =>
      call('GET /organizations/:organization/targets', { path: { organization } }, { signal }),
  })
}

/** Each target's last 24 hours, hour by hour, by target id. */
export function targetHoursQuery(organization: string) {
  return queryOptions({
    queryKey: [organization, 'targets', 'hours'],
    refetchInterval: 60_000,
    queryFn: async ({ signal }) => {
      const { items } = await call(
        'GET /organizations/:organization/rollups/targets',
        { path: { organization } },
        { signal },
      )
      return new Map(items.map((item) => [item.target_id, item]))
    },
  })
}

/** One target with its rules. */
export function targetQuery(organization: string, target: string) {
  return queryOptions({
    queryKey: [organization, 'targets', target],
    queryFn: ({ signal }) =>
      call(
        'GET /organizations/:organization/targets/:target',
        { path: { organization, target } },
        { signal },
      ),
  })
}

/** How nodes currently share the rate of a key or target. */
export function rateSharesQuery(organization: string, subject: string) {
  return queryOptions({
    queryKey: [organization, 'rate-shares', subject],
    queryFn: ({ signal }) =>
      call(
        'GET /organizations/:organization/rate-shares',
        { path: { organization }, query: { subject } },
        { signal },
      ),
  })
}

export async function addTarget(
  organization: string,
  target: { readonly slug: string; readonly upstream: string },
) {
  return await call('POST /organizations/:organization/targets', {
    path: { organization },
    body: target,
  })
}

/** The built-in echo as a target, for a first call without an API of one's own. */
export const echoTarget = { slug: 'echo', upstream: 'http://echo.intercept.internal/' } as const

/** How much of a target's quota is used. */
export function targetQuotaQuery(organization: string, target: string) {
  return queryOptions({
    queryKey: [organization, 'targets', target, 'quota'],
    refetchInterval: 5000,
    queryFn: ({ signal }) =>
      call(
        'GET /organizations/:organization/targets/:target/quota',
        { path: { organization, target } },
        { signal },
      ),
  })
}
