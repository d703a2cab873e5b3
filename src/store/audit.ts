import type { Connection } from './connection.ts'

export interface AuditTable {
  organization_id: string
  sequence: number
  id: string
  at: number
  actor_kind: string
  actor_id: string | null
  actor_name: string | null
  action: string
  subject_kind: string
  subject_id: string
  detail: string
  address: string | null
  request_id: string | null
  previous_hash: string
  hash: string
}

/** Rows of an organization's chain in their order, from a sequence on. */
export async function listFrom(
  at: Connection,
  organizationId: string,
  fromSequence: number,
  limit: number,
): Promise<AuditTable[]> {
  return await at.query
    .selectFrom('audit_entry')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('sequence', '>=', fromSequence)
    .orderBy('sequence')
    .limit(limit)
    .execute()
}
