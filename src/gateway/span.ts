import type { CallRecord } from '../store/index.ts'
import type { Span } from '../telemetry/index.ts'
import type { Call } from './call.ts'
import { placeInTrace, type TracePlace } from './trace.ts'

/** The span of a finished call, by OpenTelemetry's names; undefined if its trace is not sampled. */
export function spanOf(
  call: Call,
  record: CallRecord,
  trace: TracePlace | undefined,
): Span | undefined {
  const place = trace ?? placeInTrace(call.exchange.head.traceparent)
  if ((Number.parseInt(place.flags, 16) & 1) === 0) return undefined
  return {
    traceId: place.traceId,
    spanId: place.spanId,
    parentSpanId: place.parentSpanId,
    name: `${record.method} ${call.target?.slug ?? '(no target)'}`,
    startedAt: record.at,
    durationUs: record.durationUs,
    isError: record.status >= 500,
    attributes: {
      'http.request.method': record.method,
      'http.response.status_code': record.status,
      'url.path': record.path,
      'client.address': record.address,
      'intercept.organization_id': record.organizationId,
      'intercept.key_id': record.keyId,
      'intercept.target_id': record.targetId,
      'intercept.request_id': record.id,
      'intercept.refused': record.refusal,
      'intercept.stopped_at': record.stoppedAt,
      'intercept.upstream_us': record.upstreamUs,
    },
  }
}
