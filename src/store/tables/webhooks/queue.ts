import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'

/** Up to this many deliveries and endpoints, `look` takes about a millisecond. */
const fewRows = 1000

/** The waiting deliveries, and the held and disabled endpoints, of all organizations. */
export interface QueueState {
  /** Pending deliveries to endpoints that are not held. */
  readonly pending: number
  readonly held: number
  /** When the oldest delivery counted in `pending` was created, in milliseconds since 1970. */
  readonly oldestAt: number | undefined
  readonly heldEndpoints: number
  readonly disabledEndpoints: number
}

/**
 * Whether the queue and the list of endpoints are short enough for `look` to run in the thread that serves requests.
 */
export async function isShort(db: Db): Promise<boolean> {
  const few = sql.lit(fewRows + 1)
  const { rows } = await sql<{ deliveries: number; endpoints: number }>`select
    (select count(*) from (select 1 from delivery where state = 'pending' limit ${few}) as d) as deliveries,
    (select count(*) from (select 1 from endpoint limit ${few}) as e) as endpoints`.execute(
    db.query,
  )
  return rows.every((row) => row.deliveries <= fewRows && row.endpoints <= fewRows)
}

/** Counts what is waiting. It scans the whole queue, so run it in the thread that serves requests only if
 * `isShort`. */
export async function look(db: Db): Promise<QueueState> {
  const rows = await db.query
    .selectFrom('delivery')
    .innerJoin('endpoint', 'endpoint.id', 'delivery.endpoint_id')
    .select(({ fn }) => [
      'endpoint.state as endpoint_state',
      fn.countAll<number>().as('rows'),
      fn.min('delivery.created_at').as('oldest'),
    ])
    .where('delivery.state', '=', sql.lit('pending'))
    .groupBy('endpoint.state')
    .execute()
  let [pending, held] = [0, 0]
  let oldestAt: number | undefined
  for (const row of rows) {
    if (row.endpoint_state === 'held') {
      held += row.rows
      continue
    }
    pending += row.rows
    const oldest = row.oldest
    oldestAt = oldestAt === undefined ? oldest : Math.min(oldestAt, oldest)
  }
  const endpoints = await db.query
    .selectFrom('endpoint')
    .select(({ fn }) => ['state', fn.countAll<number>().as('rows')])
    .where('state', '<>', 'active')
    .where('deleted_at', 'is', null)
    .groupBy('state')
    .execute()
  const countOf = (state: string): number => endpoints.find((row) => row.state === state)?.rows ?? 0
  return {
    ...{ pending, held, oldestAt },
    heldEndpoints: countOf('held'),
    disabledEndpoints: countOf('disabled'),
  }
}
