/** Sends spans to an OpenTelemetry collector as OTLP over HTTP in JSON batches, never delaying a call. */
import type { Log } from './log.ts'
import { createLossySender, type LossySender } from './lossy-sender.ts'
import type { Metrics } from './metrics.ts'
import { renderSpans, type Attributes, type Span } from './otlp.ts'
import type { Sampler } from './sampler.ts'
import { placeInTrace, type TracePlace } from './trace-place.ts'

export type { Span } from './otlp.ts'

/** Queues spans and sends them in the background. */
export interface Tracer extends LossySender<Span> {
  /** Creates a child span of the caller's span (`traceparent`), or the root span of a new trace. */
  place(traceparent: string | undefined): TracePlace
  /** Generates an id for another span of the same trace. */
  spanId(): string
}

/** `post` sends a body to the collector within its own deadline, and throws on failure. */
export function createTracer(deps: {
  readonly post: (body: string) => Promise<void>
  readonly resource: Attributes
  readonly sample: Sampler
  readonly randomHex: (bytes: number) => string
  readonly metrics: Metrics
  readonly log: Pick<Log, 'warn'>
}): Tracer {
  const sender = createLossySender({
    ...deps,
    render: (spans: readonly Span[]) => renderSpans(spans, deps.resource),
    dropped: deps.metrics.counter('intercept_spans_dropped_total', 'Spans never sent.'),
    warning: 'Spans could not be sent to the collector',
  })
  return {
    add: (span) => sender.add(span),
    place: (traceparent) => placeInTrace(traceparent, deps),
    spanId: () => deps.randomHex(8),
    [Symbol.asyncDispose]: async () => await sender[Symbol.asyncDispose](),
  }
}
