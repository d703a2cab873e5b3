import { queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'

export function targetsQuery(organization: string) {
  return queryOptions({
    queryKey: [organization, 'targets', 'list'],
    queryFn: ({ signal }) =>
      call('GET /organizations/:organization/targets', { path: { organization } }, { signal }),
  })
}

/**
 * A map by target id: for each of the last 24 hours, how many calls the target had, and how many of them were refused
 * or failed at the upstream. Targets without calls are missing.
 */
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

/** How the nodes currently share the rate limit of a key, a target or the organization. */
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

/** The built-in echo server as a target, so that a first call needs no API. */
export const echoTarget = { slug: 'echo', upstream: 'http://echo.intercept.internal/' } as const

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
