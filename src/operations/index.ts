/** The operator's door: is it alive, is it ready, what does it measure, what do its refusals mean. */
import type { App } from '../http/index.ts'
import type { Metrics } from '../telemetry/index.ts'

/** Whether this node should get traffic. */
export interface Readiness {
  readonly isReady: boolean
  /** One word for a probe and a person; never more than that. */
  readonly state: 'ready' | 'draining' | 'storage_unavailable'
}

/** What the door asks of the rest. */
export interface OperationsNeeds {
  readonly readiness: () => Readiness
  readonly metrics: Metrics
}

/** Judges readiness: not while stopping, and not while the database has been silent for a second. */
export function createReadiness(needs: {
  feed: { isCurrent(): boolean }
  isDraining: () => boolean
}) {
  return (): Readiness => {
    if (needs.isDraining()) return { isReady: false, state: 'draining' }
    if (!needs.feed.isCurrent()) return { isReady: false, state: 'storage_unavailable' }
    return { isReady: true, state: 'ready' }
  }
}

/** Registers what everybody may see: liveness and readiness. */
export function registerOperations(app: App, needs: OperationsNeeds): void {
  registerHealth(app, needs)
}

/** Hangs what only operators may see; this app listens on METRICS_PORT. */
export function registerMetrics(app: App, needs: OperationsNeeds): void {
  registerHealth(app, needs)
  app.get('/metrics', async (_request, reply) =>
    reply.type('text/plain; version=0.0.4; charset=utf-8').send(needs.metrics.render()),
  )
}

// Liveness says nothing of versions, names or the database: a process that answers is alive.
function registerHealth(app: App, needs: OperationsNeeds): void {
  app.get('/healthz', async (_request, reply) => reply.type('text/plain').send('ok\n'))
  app.get('/readyz', async (_request, reply) => {
    const { isReady, state } = needs.readiness()
    return reply
      .code(isReady ? 200 : 503)
      .type('text/plain')
      .send(`${state}\n`)
  })
}
