/** How the product reports on itself: log, metrics and traces. */
export { createLog, type Log } from './log.ts'
export { createMetrics, type Metrics } from './metrics.ts'
export {
  CountedOfWorkers,
  renderFamilies,
  type CollectedSample,
  type Labels,
  type MetricFamily,
} from './exposition.ts'
export { LatencyTable } from './latency-table.ts'
export { measureProcess } from './process-metrics.ts'
export { redact } from './redact.ts'
export { createLossySender, type LossySender } from './lossy-sender.ts'
export { renderLogs, type LogRecord } from './otlp-logs.ts'
export { openAccessLog, type AccessEntry, type AccessLog } from './access-log.ts'
export { resourceOf } from './resource.ts'
export { createSampler, samplerNames } from './sampler.ts'
export { isSampled, isTraceparent, type TracePlace } from './trace-place.ts'
export { CollectorRefusal, type Attributes } from './otlp.ts'
export { createTracer, type Span, type Tracer } from './traces.ts'
