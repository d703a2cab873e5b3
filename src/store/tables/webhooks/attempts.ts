import type { Db } from '../../db/db.ts'

export interface AttemptTable {
  id: string
  delivery_id: string
  organization_id: string
  number: number
  probe: number
  started_at: number
  duration_ms: number
  status: number | null
  failure: string | null
  response_body: Uint8Array | null
  response_truncated: number
}

/** One try to deliver; the answer's body is kept up to 16 KiB. */
export interface AttemptRecord {
  readonly id: `att_${string}`
  readonly deliveryId: string
  readonly number: number
  /** Whether it tested a held endpoint; such attempts use up none of the ten. */
  readonly probe: boolean
  readonly startedAt: number
  readonly durationMs: number
  readonly status: number | undefined
  readonly failure: string | undefined
  readonly responseBody: Uint8Array | undefined
  readonly responseTruncated: boolean
}

/** The attempts of a delivery in their order, the last 100 of them. */
export async function list(
  db: Db,
  organizationId: string,
  deliveryId: string,
): Promise<AttemptRecord[]> {
  const rows = await db.query
    .selectFrom('attempt')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('delivery_id', '=', deliveryId)
    .orderBy('id', 'desc')
    .limit(100)
    .execute()
  return rows.toReversed().map((row) => ({
    id: row.id as `att_${string}`,
    deliveryId: row.delivery_id,
    number: row.number,
    probe: row.probe === 1,
    startedAt: row.started_at,
    durationMs: row.duration_ms,
    status: row.status ?? undefined,
    failure: row.failure ?? undefined,
    responseBody: row.response_body ?? undefined,
    responseTruncated: row.response_truncated === 1,
  }))
}
