import { queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'
import type { Operation } from './webhook-shapes.ts'

const operationPollMs = 1000

export function operationQuery(organization: string, operation: string) {
  return queryOptions({
    queryKey: [organization, 'operations', operation],
    queryFn: ({ signal }) =>
      call(
        'GET /organizations/:organization/operations/:operation',
        { path: { organization, operation } },
        { signal },
      ),
    refetchInterval: (query) => (query.state.data?.state === 'running' ? operationPollMs : false),
  })
}

export function operationsQuery(organization: string) {
  return queryOptions({
    queryKey: [organization, 'operations', 'list'],
    queryFn: ({ signal }) =>
      call(
        'GET /organizations/:organization/operations',
        { path: { organization }, query: { limit: 10 } },
        { signal },
      ),
    refetchInterval: (query) =>
      query.state.data?.items.some((one) => one.state === 'running') === true
        ? operationPollMs
        : 30_000,
  })
}

export async function steerOperation(
  organization: string,
  operation: string,
  verb: 'pause' | 'resume' | 'cancel',
): Promise<Operation> {
  const path = { organization, operation }
  switch (verb) {
    case 'pause':
      return await call('POST /organizations/:organization/operations/:operation/pause', { path })
    case 'resume':
      return await call('POST /organizations/:organization/operations/:operation/resume', { path })
    case 'cancel':
      return await call('POST /organizations/:organization/operations/:operation/cancel', { path })
  }
}
