/** The routes for operators and probes: health, readiness and metrics. */
import type { App } from '../http/index.ts'
import type { Feed } from '../store/index.ts'
import { renderFamilies, type Metrics } from '../telemetry/index.ts'

/** A node must hear its database within this time, in milliseconds, to count as ready. */
const proveWithinMs = 1000

/** Whether this node should receive traffic. */
export interface Readiness {
  readonly isReady: boolean
  /** The first line of the readiness probe's response. */
  readonly state: 'ready' | 'draining' | 'storage_unavailable'
  /** The second line of the response: a warning about a node that works nevertheless. */
  readonly remark?: string | undefined
}

export interface OperationsDeps {
  readonly readiness: () => Promise<Readiness>
  readonly metrics: Metrics
}

/**
 * Returns a function that judges readiness: a node is not ready while it is stopping, or while its change feed is not
 * current, for example because the database has not responded for a second.
 */
export function createReadiness(deps: {
  feed: Pick<Feed, 'prove'>
  status: () => { readonly clockOffsetMs: number; readonly isClockOff: boolean }
  isDraining: () => boolean
}) {
  return async (): Promise<Readiness> => {
    if (deps.isDraining()) return { isReady: false, state: 'draining' }
    if (!(await deps.feed.prove(proveWithinMs)))
      return { isReady: false, state: 'storage_unavailable' }
    const { isClockOff, clockOffsetMs } = deps.status()
    const remark = isClockOff ? `clock_offset_ms ${clockOffsetMs}` : undefined
    return { isReady: true, state: 'ready', remark }
  }
}

/** Registers the public routes: liveness and readiness. */
export function registerOperations(app: App, deps: OperationsDeps): void {
  registerHealth(app, deps)
}

/** Registers liveness, readiness and metrics on the app that listens on METRICS_PORT. */
export function registerMetrics(app: App, deps: OperationsDeps): void {
  registerHealth(app, deps)
  app.get('/metrics', async (_request, reply) =>
    reply
      .type('text/plain; version=0.0.4; charset=utf-8')
      .send(renderFamilies(await deps.metrics.scrape())),
  )
}

// Liveness reveals no version, name or database state: a process that responds is alive.
function registerHealth(app: App, deps: OperationsDeps): void {
  app.get('/healthz', async (_request, reply) => reply.type('text/plain').send('ok\n'))
  app.get('/readyz', async (_request, reply) => {
    const { isReady, state, remark } = await deps.readiness()
    return reply
      .code(isReady ? 200 : 503)
      .type('text/plain')
      .send(remark === undefined ? `${state}\n` : `${state}\n${remark}\n`)
  })
}
