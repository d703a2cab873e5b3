import type { Db, Tx } from '../../db/db.ts'
import { ownRow } from '../../db/own-rows.ts'

export interface EventTable {
  organization_id: string
  sequence: number
  id: string
  type: string
  at: number
  body: Uint8Array
}

/** An event as stored, with the exact bytes that every receiver gets. */
export interface EventRecord {
  readonly id: string
  readonly sequence: number
  readonly type: string
  readonly at: number
  readonly body: Buffer
}

/** Lists events after a sequence number, in order; `types` limits them to some types. */
export async function listAfter(
  db: Db,
  organizationId: string,
  page: { after: number; limit: number; types?: readonly string[] | undefined },
): Promise<EventRecord[]> {
  const types = page.types ?? []
  const rows = await db.query
    .selectFrom('event')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('sequence', '>', page.after)
    .$if(types.length > 0, (query) => query.where('type', 'in', types))
    .orderBy('sequence')
    .limit(page.limit)
    .execute()
  return rows.map(fromRow)
}

export async function find(
  db: Db,
  organizationId: string,
  id: string,
): Promise<EventRecord | undefined> {
  const row = await ownRow(db, 'event', { organizationId, id })
  return row && fromRow(row)
}

/** Deletes up to `limit` events that are older than a given time and have no deliveries left; returns how many. */
export async function removeOld(tx: Tx, olderThan: number, limit: number): Promise<number> {
  const { numDeletedRows } = await tx.query
    .deleteFrom('event')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('event as old')
        .select('old.id')
        .where('old.at', '<', olderThan)
        .where((where) =>
          where.not(
            where.exists(
              where
                .selectFrom('delivery')
                .select('delivery.id')
                .whereRef('delivery.organization_id', '=', 'old.organization_id')
                .whereRef('delivery.event_sequence', '=', 'old.sequence'),
            ),
          ),
        )
        .orderBy('old.at')
        .limit(limit),
    )
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

function fromRow(row: EventTable): EventRecord {
  const { id, sequence, type, at } = row
  return { id, sequence, type, at, body: Buffer.from(row.body) }
}
