import { sql } from 'kysely'
import type { Db, Tx } from '../../db/db.ts'

export interface EndpointCountTable {
  endpoint_id: string
  organization_id: string
  committed: number
  removed_delivered: number
  removed_dead: number
  removed_skipped: number
}

/** An endpoint's delivery counts; `committed` is the sum of the other counts. */
export interface EndpointBooks {
  readonly endpointId: string
  readonly committed: number
  readonly delivered: number
  readonly dead: number
  readonly pending: number
  readonly held: number
  readonly skipped: number
}

/**
 * Lists the delivery counts of one endpoint, even a deleted one, or of all endpoints that an organization has now. They
 * are read in one statement, so that they agree.
 */
export async function list(
  db: Db,
  organizationId: string,
  endpointId?: string,
): Promise<EndpointBooks[]> {
  const rows = await db.query
    .selectFrom('endpoint_count as book')
    .innerJoin('endpoint', 'endpoint.id', 'book.endpoint_id')
    .leftJoin(
      (eb) =>
        eb
          .selectFrom('delivery')
          .select(['endpoint_id', 'state', (inner) => inner.fn.countAll<number>().as('rows')])
          .where('endpoint_id', 'in', (inner) =>
            inner
              .selectFrom('endpoint as own')
              .select('own.id')
              .where('own.organization_id', '=', organizationId)
              .$if(endpointId !== undefined, (q) => q.where('own.id', '=', endpointId ?? ''))
              .$if(endpointId === undefined, (q) => q.where('own.deleted_at', 'is', null)),
          )
          .groupBy(['endpoint_id', 'state'])
          .as('part'),
      (join) => join.onRef('part.endpoint_id', '=', 'book.endpoint_id'),
    )
    .select(['book.endpoint_id', 'book.committed', 'book.removed_delivered', 'book.removed_dead'])
    .select(['book.removed_skipped', 'endpoint.state as endpoint_state', 'part.state', 'part.rows'])
    .where('book.organization_id', '=', organizationId)
    .$if(endpointId !== undefined, (q) => q.where('book.endpoint_id', '=', endpointId ?? ''))
    // An organization may have any number of deleted endpoints, so these are left out.
    .$if(endpointId === undefined, (q) => q.where('endpoint.deleted_at', 'is', null))
    .execute()

  const books = new Map<
    string,
    { endpointId: string; committed: number } & Record<BookColumn, number>
  >()
  for (const row of rows) {
    const book = books.get(row.endpoint_id) ?? {
      endpointId: row.endpoint_id,
      committed: row.committed,
      delivered: row.removed_delivered,
      dead: row.removed_dead,
      skipped: row.removed_skipped,
      pending: 0,
      held: 0,
    }
    books.set(row.endpoint_id, book)
    if (row.state === null) continue
    const waiting = row.endpoint_state === 'held' ? 'held' : 'pending'
    book[row.state === 'pending' ? waiting : (row.state as BookColumn)] += row.rows ?? 0
  }
  return [...books.values()]
}

type BookColumn = 'delivered' | 'dead' | 'pending' | 'held' | 'skipped'

/** Raises the endpoints' counts of removed deliveries by the deliveries that retention has just deleted. */
export async function enterRemovals(
  tx: Tx,
  rows: readonly { endpoint_id: string; state: string }[],
): Promise<void> {
  const removed = new Map<string, { delivered: number; dead: number; skipped: number }>()
  for (const row of rows) {
    const own = removed.get(row.endpoint_id) ?? { delivered: 0, dead: 0, skipped: 0 }
    removed.set(row.endpoint_id, own)
    own[row.state as keyof typeof own] += 1
  }
  for (const [id, { delivered, dead, skipped }] of removed) {
    await tx.query
      .updateTable('endpoint_count')
      .set({
        removed_delivered: sql<number>`removed_delivered + ${delivered}`,
        removed_dead: sql<number>`removed_dead + ${dead}`,
        removed_skipped: sql<number>`removed_skipped + ${skipped}`,
      })
      .where('endpoint_id', '=', id)
      .execute()
  }
}
