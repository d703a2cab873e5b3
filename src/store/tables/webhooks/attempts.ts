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

/**
 * At most this many attempts of a delivery are kept: a receiver that keeps sending 429 with Retry-After may be tried
 * any number of times within five days.
 */
export const maxAttemptsKept = 100
// Receivers choose the bytes of these bodies, and escaping a hundred of them would block the event loop for 50 ms.
const maxBodiesShown = 16

/** One delivery attempt, with up to 16 KiB of the response's content. */
export interface AttemptRecord {
  readonly id: `att_${string}`
  readonly deliveryId: string
  readonly number: number
  /** Whether the attempt probed a held endpoint; failed probes don't count towards a delivery's ten attempts. */
  readonly probe: boolean
  readonly startedAt: number
  readonly durationMs: number
  readonly status: number | undefined
  readonly failure: string | undefined
  /** Undefined if the response had no content, and for all but the last 16 attempts of a list. */
  readonly responseBody: Uint8Array | undefined
  readonly responseTruncated: boolean
}

/** Lists the last 100 attempts of a delivery in order; only the last 16 have the response's content. */
export async function list(
  db: Db,
  organizationId: string,
  deliveryId: string,
): Promise<AttemptRecord[]> {
  const rows = await db.query
    .selectFrom('attempt')
    .select(['id', 'delivery_id', 'number', 'probe', 'started_at', 'duration_ms', 'status'])
    .select(['failure', 'response_truncated'])
    .where('organization_id', '=', organizationId)
    .where('delivery_id', '=', deliveryId)
    .orderBy('id', 'desc')
    .limit(maxAttemptsKept)
    .execute()
  const bodies = await bodiesOf(
    db,
    rows.slice(0, maxBodiesShown).map(({ id }) => id),
  )
  return rows.toReversed().map((row) => ({
    id: row.id as `att_${string}`,
    deliveryId: row.delivery_id,
    number: row.number,
    probe: row.probe === 1,
    startedAt: row.started_at,
    durationMs: row.duration_ms,
    status: row.status ?? undefined,
    failure: row.failure ?? undefined,
    responseBody: bodies.get(row.id) ?? undefined,
    responseTruncated: row.response_truncated === 1,
  }))
}

async function bodiesOf(
  db: Db,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Uint8Array | null>> {
  if (ids.length === 0) return new Map()
  const rows = await db.query
    .selectFrom('attempt')
    .select(['id', 'response_body'])
    .where('id', 'in', ids)
    .execute()
  return new Map(rows.map((row) => [row.id, row.response_body]))
}
