/** Spans for an OpenTelemetry collector: OTLP over HTTP as JSON, in batches, never at the cost of a call. */
import type { Log } from './log.ts'
import { createLossySender, type LossySender } from './lossy-sender.ts'
import type { Metrics } from './metrics.ts'
import { renderSpans, type Span } from './otlp.ts'

export type { Span } from './otlp.ts'

/** Takes spans; sends them when it gets round to it. */
export type Tracer = LossySender<Span>

/** Opens a tracer. `post` sends a body to the collector, within a deadline of its own, and throws when it fails. */
export function createTracer(deps: {
  readonly post: (body: string) => Promise<void>
  readonly version: string
  readonly metrics: Metrics
  readonly log: Pick<Log, 'warn'>
}): Tracer {
  return createLossySender({
    ...deps,
    render: (spans: readonly Span[]) => renderSpans(spans, deps.version),
    dropped: deps.metrics.counter('intercept_spans_dropped_total', 'Spans never sent.'),
    warning: 'Spans could not be sent to the collector',
  })
}
