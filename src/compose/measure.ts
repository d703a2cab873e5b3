import type { SharedRates } from '../access/index.ts'
import type { RequestEnd, Upstreams } from '../http/index.ts'
import { probeLockWaits, type Store } from '../store/index.ts'
import type { Quotas } from '../targets/index.ts'
import type { Metrics } from '../telemetry/index.ts'

/** Exports the versions of the product and of Node, and the database engine, as labels of a gauge with the value 1. */
export function measureBuild(metrics: Metrics, labels: { version: string; engine: string }): void {
  const about = {
    name: 'intercept_build_info',
    help: 'What runs here.',
    type: 'gauge',
    across: 'max',
  } as const
  metrics.collected(about, () => [[{ ...labels, node: process.versions.node }, 1]])
}

/** Measures the connections to upstreams and to the database. */
export function measureConnections(
  metrics: Metrics,
  { upstreams, store }: { upstreams: Upstreams; store: Store },
): void {
  metrics.collected(
    {
      name: 'intercept_upstream_connections',
      help: 'Connections to upstreams, by what they do.',
      type: 'gauge',
    },
    () => {
      const { open, idle } = upstreams.connections()
      return [
        [{ state: 'busy' }, open - idle],
        [{ state: 'idle' }, idle],
      ]
    },
  )
  metrics.collected(
    {
      name: 'intercept_database_connections',
      help: 'Connections to PostgreSQL, by what they do; waiting: work that waits for one.',
      type: 'gauge',
    },
    () => {
      const pool = store.pool()
      if (pool === undefined) return []
      return [
        [{ state: 'busy' }, pool.open - pool.idle],
        [{ state: 'idle' }, pool.idle],
        [{ state: 'waiting' }, pool.waiting],
      ]
    },
  )
}

/** Measures, at each scrape, how many database sessions wait for a lock (PostgreSQL). */
export function measureLocks(metrics: Metrics, store: Store): void {
  let waiting = 0
  metrics.beforeScrape(async () => {
    // Keeps the previous value while the database is down.
    waiting = (await probeLockWaits(store.slowReads).catch(() => waiting)) ?? 0
  })
  metrics.highest(
    'intercept_database_lock_waits',
    "Sessions of this database that wait for somebody else's lock.",
    () => waiting,
  )
}

/** Measures the rates and quotas that are in use on this node. */
export function measureLimits(
  metrics: Metrics,
  { rates, quotas }: { rates: Pick<SharedRates, 'state'>; quotas: Quotas },
): void {
  metrics.highest(
    'intercept_rate_nodes',
    'Nodes that share rates, this one included.',
    () => rates.state().nodes,
  )
  metrics.measured(
    'intercept_rate_subjects',
    'Keys, targets and tokens whose rate is shared here.',
    () => rates.state().subjects,
  )
  metrics.measured(
    'intercept_rate_short',
    'Those of them for which this node needs more.',
    () => rates.state().short,
  )
  metrics.measured(
    'intercept_quota_subjects',
    'Keys and targets whose quota is in use here.',
    () => quotas.state().subjects,
  )
  metrics.measured(
    'intercept_quota_exhausted',
    'Those of them whose quota is used up.',
    () => quotas.state().exhausted,
  )
}

/** Measures requests other than guarded calls. */
export function measureRequests(metrics: Metrics): (end: RequestEnd) => void {
  const took = metrics.histogram(
    'intercept_request_seconds',
    'How long requests outside the guarded area took, by area and class of status.',
  )
  return ({ area, status, tookMs }) => {
    took.observe(tookMs / 1000, { area, status_class: `${Math.floor(status / 100)}xx` })
  }
}
