import { queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'
import { listQuery } from './list.ts'

export interface AuditFilter {
  readonly action?: string | undefined
  readonly actor_id?: string | undefined
  readonly subject_id?: string | undefined
  readonly search?: string | undefined
  readonly from?: string | undefined
  readonly until?: string | undefined
}

/** Audit entries, newest first. */
export function auditQuery(organization: string, filter: AuditFilter) {
  return listQuery([organization, 'audit', 'list'], 'GET /organizations/:organization/audit', {
    path: { organization },
    query: { ...filter, limit: 100 },
  })
}

/** Has the server verify that every entry follows from the previous one. */
export function chainQuery(organization: string) {
  return queryOptions({
    queryKey: [organization, 'audit', 'chain'],
    staleTime: 300_000,
    queryFn: ({ signal }) =>
      call('GET /organizations/:organization/audit/chain', { path: { organization } }, { signal }),
  })
}
