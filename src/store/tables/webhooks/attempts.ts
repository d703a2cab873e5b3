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

/** One delivery attempt; up to 16 KiB of the response's body are kept. */
export interface AttemptRecord {
  readonly id: `att_${string}`
  readonly deliveryId: string
  readonly number: number
  /** Whether it probed a held endpoint; probes don't count towards the ten attempts. */
  readonly probe: boolean
  readonly startedAt: number
  readonly durationMs: number
  readonly status: number | undefined
  readonly failure: string | undefined
  readonly responseBody: Uint8Array | undefined
  readonly responseTruncated: boolean
}

/** The last 100 attempts of a delivery, in order. */
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
