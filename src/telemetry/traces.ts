/** Spans for an OpenTelemetry collector: OTLP over HTTP as JSON, in batches, never at the cost of a call. */
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import { renderSpans, type Span } from './otlp.ts'

export type { Span } from './otlp.ts'

const waitingAtMost = 4096
const spansInBatch = 512
const everyMs = 1000

/** Takes spans; sends them when it gets round to it. */
export interface Tracer extends AsyncDisposable {
  /** Never waits; beyond what fits in memory, spans are dropped and counted. */
  add(span: Span): void
}

/** Opens a tracer. `post` sends a body to the collector, within a deadline of its own, and throws when it fails. */
export function createTracer(needs: {
  readonly post: (body: string) => Promise<void>
  readonly version: string
  readonly metrics: Metrics
  readonly log: Pick<Log, 'warn'>
}): Tracer {
  const dropped = needs.metrics.counter('intercept_spans_dropped_total', 'Spans never sent.')
  let waiting: Span[] = []
  let sending: Promise<void> | undefined
  const timer = setInterval(() => void flush(), everyMs)
  timer.unref()

  /** What fails to be sent is dropped: a collector that is away must not fill our memory. */
  async function sendAll(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, spansInBatch)
      waiting = waiting.slice(batch.length)
      try {
        await needs.post(renderSpans(batch, needs.version))
      } catch (err) {
        dropped.add(undefined, batch.length + waiting.length)
        waiting = []
        needs.log.warn({ err }, 'Spans could not be sent to the collector')
      }
    }
  }

  async function flush(): Promise<void> {
    sending ??= sendAll().finally(() => {
      sending = undefined
    })
    await sending
  }

  return {
    add(span) {
      if (waiting.length >= waitingAtMost) dropped.add()
      else waiting.push(span)
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await flush()
      await flush()
    },
  }
}
