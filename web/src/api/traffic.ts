import { queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'

const minuteMs = 60_000

/** Sums of calls per step, and where they stopped; `spanMs` back from now, to the whole step. */
export function rollupQuery(
  organization: string,
  span: {
    readonly spanMs: number
    readonly stepMs: number
    readonly target?: string | undefined
    readonly key?: string | undefined
  },
) {
  const { spanMs, stepMs, target, key } = span
  return queryOptions({
    queryKey: [organization, 'rollups', span],
    refetchInterval: Math.max(10_000, Math.min(minuteMs, stepMs)),
    queryFn: ({ signal }) => {
      const to = Math.ceil(Date.now() / stepMs) * stepMs
      const query = {
        from: new Date(to - spanMs).toISOString(),
        to: new Date(to).toISOString(),
        step_ms: stepMs,
        ...(target === undefined ? {} : { target }),
        ...(key === undefined ? {} : { key }),
      }
      return call(
        'GET /organizations/:organization/rollups',
        { path: { organization }, query },
        { signal },
      )
    },
  })
}

/** What waits for a person. */
export function attentionQuery(organization: string) {
  return queryOptions({
    queryKey: [organization, 'attention'],
    refetchInterval: 30_000,
    queryFn: ({ signal }) =>
      call('GET /organizations/:organization/attention', { path: { organization } }, { signal }),
  })
}

/** How far a new organization has come. */
export function firstStepsQuery(organization: string) {
  return queryOptions({
    queryKey: [organization, 'first-steps'],
    queryFn: ({ signal }) =>
      call('GET /organizations/:organization/first-steps', { path: { organization } }, { signal }),
  })
}
