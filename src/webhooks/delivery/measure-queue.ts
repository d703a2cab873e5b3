import type { Clock } from '../../clock.ts'
import { deliveryQueue, type Store } from '../../store/index.ts'
import type { Metrics } from '../../telemetry/index.ts'

/** Measuring may read many rows, so scrapes share a measurement until it is this old. */
const lookAgainMs = 5000

/** Exports the size of the delivery queue; every node sees the same queue. */
export function measureQueue(deps: {
  readonly store: Store
  readonly clock: Clock
  readonly metrics: Metrics
}): void {
  const { store, clock, metrics } = deps
  let known: deliveryQueue.QueueState = {
    ...{ pending: 0, held: 0, oldestAt: undefined },
    ...{ heldEndpoints: 0, disabledEndpoints: 0 },
  }
  let lookedAt = -Infinity
  metrics.beforeScrape(async () => {
    if (clock.monotonic() - lookedAt < lookAgainMs) return
    lookedAt = clock.monotonic()
    // If the database is down, the last value stays; `intercept_feed_age_seconds` shows the outage.
    known = await look(store).catch(() => known)
  })
  metrics.collected(
    {
      name: 'intercept_webhook_queue',
      help: 'Deliveries that wait, in the whole installation; held: their endpoint fails and is only probed.',
      type: 'gauge',
      across: 'max',
    },
    () => [
      [{ state: 'pending' }, known.pending],
      [{ state: 'held' }, known.held],
    ],
  )
  metrics.collected(
    {
      name: 'intercept_webhook_endpoints',
      help: 'Endpoints that do not take deliveries, by why: held because they fail, or disabled.',
      type: 'gauge',
      across: 'max',
    },
    () => [
      [{ state: 'held' }, known.heldEndpoints],
      [{ state: 'disabled' }, known.disabledEndpoints],
    ],
  )
  metrics.highest(
    'intercept_webhook_oldest_seconds',
    'Age of the oldest pending delivery to an endpoint that is not held.',
    () => (known.oldestAt === undefined ? 0 : Math.max(0, clock.now() - known.oldestAt) / 1000),
  )
}

/**
 * Reads a short queue on the connection that serves requests, because on SQLite a slow read would start a thread of
 * about 10 MB.
 */
async function look(store: Store): Promise<deliveryQueue.QueueState> {
  return await deliveryQueue.look((await deliveryQueue.isShort(store)) ? store : store.slowReads)
}
