/** For operators: health, readiness, metrics, and the pages that explain refusals. */
import type { App } from '../http/index.ts'
import { renderFamilies, type Metrics } from '../telemetry/index.ts'

/** Whether this node should get traffic. */
export interface Readiness {
  readonly isReady: boolean
  /** One word for a probe. */
  readonly state: 'ready' | 'draining' | 'storage_unavailable'
  /** What a person should look at, though the node can work: a second line. */
  readonly remark?: string | undefined
}

/** What these routes need from the rest of the product. */
export interface OperationsDeps {
  readonly readiness: () => Readiness
  readonly metrics: Metrics
}

/** Judges readiness: not while stopping, and not while the database has been silent for a second. */
export function createReadiness(deps: {
  feed: { isCurrent(): boolean }
  status: () => { readonly clockOffsetMs: number; readonly isClockOff: boolean }
  isDraining: () => boolean
}) {
  return (): Readiness => {
    if (deps.isDraining()) return { isReady: false, state: 'draining' }
    if (!deps.feed.isCurrent()) return { isReady: false, state: 'storage_unavailable' }
    const { isClockOff, clockOffsetMs } = deps.status()
    const remark = isClockOff ? `clock_offset_ms ${clockOffsetMs}` : undefined
    return { isReady: true, state: 'ready', remark }
  }
}

/** Registers what everybody may see: liveness and readiness. */
export function registerOperations(app: App, deps: OperationsDeps): void {
  registerHealth(app, deps)
}

/** Registers what only operators may see; this app listens on METRICS_PORT. */
export function registerMetrics(app: App, deps: OperationsDeps): void {
  registerHealth(app, deps)
  app.get('/metrics', async (_request, reply) =>
    reply
      .type('text/plain; version=0.0.4; charset=utf-8')
      .send(renderFamilies(await deps.metrics.scrape())),
  )
}

// Liveness says nothing of versions, names or the database: a process that answers is alive.
function registerHealth(app: App, deps: OperationsDeps): void {
  app.get('/healthz', async (_request, reply) => reply.type('text/plain').send('ok\n'))
  app.get('/readyz', async (_request, reply) => {
    const { isReady, state, remark } = deps.readiness()
    return reply
      .code(isReady ? 200 : 503)
      .type('text/plain')
      .send(remark === undefined ? `${state}\n` : `${state}\n${remark}\n`)
  })
}
