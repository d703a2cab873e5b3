/** Reports finished requests: a line of the access log, and spans for a collector. */
import type { KeyPrincipal } from '../access/index.ts'
import type { ProblemCode } from '../errors.ts'
import type { Check, GuardedTarget } from '../targets/index.ts'
import { isSampled, type AccessEntry, type Span, type Tracer } from '../telemetry/index.ts'
import type { Arrival, Call, Passed } from './call.ts'
import type { CallTrace } from './trace.ts'

/** A finished request to the gateway, identified or not. */
export interface Ended {
  readonly arrival: Arrival
  readonly method: string
  readonly path: string
  readonly status: number
  readonly refusal: ProblemCode | undefined
  readonly check: Check
  readonly principal?: KeyPrincipal | undefined
  readonly target?: GuardedTarget | undefined
  readonly upstreamUs?: number | undefined
  readonly trace?: CallTrace | undefined
  /** The end of the request by the monotonic clock, in milliseconds. */
  readonly endedAt: number
}

export function endedCall(call: Call, passed: Passed, endedAt: number): Ended {
  const { arrival, method, path, status, refusal, check, principal, target } = call
  const { upstreamUs, trace } = passed
  return {
    ...{ arrival, method, path, status, refusal, check, principal, target },
    ...{ upstreamUs, trace, endedAt },
  }
}

/** Returns a request's line for the access log: no query, no body, and no header except the user agent. */
export function accessEntryOf(ended: Ended): AccessEntry {
  const { arrival, principal, upstreamUs } = ended
  const { exchange } = arrival
  const durationMs = ended.endedAt - arrival.moment.monotonicMs
  return {
    time: new Date(arrival.moment.nowMs).toISOString(),
    area: 'call',
    method: ended.method,
    path: ended.path,
    status: ended.status,
    refused: ended.refusal,
    duration_ms: Math.round(durationMs * 1000) / 1000,
    upstream_ms: upstreamUs === undefined ? undefined : upstreamUs / 1000,
    bytes_in: exchange.bytesIn,
    bytes_out: exchange.bytesOut,
    address: arrival.address,
    agent: exchange.head.userAgent,
    organization: principal?.organizationSlug,
    key: principal?.keyId,
    target: ended.target?.slug,
    request_id: exchange.requestId,
  }
}

/**
 * Returns the spans of a request: the call's and, if it was forwarded, the upstream's as its child; none if the trace
 * is not sampled. Attributes have OpenTelemetry's names where such names exist.
 */
export function spansOf(ended: Ended, tracer: Pick<Tracer, 'place'>): Span[] {
  const { arrival, target, principal, trace } = ended
  const { exchange } = arrival
  const place = trace?.place ?? tracer.place(exchange.head.traceparent)
  if (!isSampled(place.flags)) return []
  const durationMs = ended.endedAt - arrival.moment.monotonicMs
  const span: Span = {
    ...place,
    kind: 'server',
    name: `${ended.method} ${target?.slug ?? '(no target)'}`,
    startedAt: arrival.moment.nowMs,
    durationUs: Math.round(durationMs * 1000),
    isError: ended.status >= 500,
    attributes: {
      'http.request.method': ended.method,
      'http.response.status_code': ended.status,
      'url.path': ended.path,
      'client.address': arrival.address,
      'intercept.organization_id': principal?.organizationId,
      'intercept.key_id': principal?.keyId,
      'intercept.target_id': target?.id,
      'intercept.request_id': exchange.requestId,
      'intercept.refused': ended.refusal,
      'intercept.stopped_at': ended.refusal === undefined ? undefined : ended.check,
      'intercept.upstream_us': ended.upstreamUs,
    },
  }
  return trace && target ? [span, upstreamSpan(ended, span, { trace, target })] : [span]
}

/** Returns the span of the upstream request. It ends when the response begins, or with the call if no response came. */
function upstreamSpan(
  { method, status, refusal, upstreamUs }: Ended,
  parent: Span,
  { trace, target }: { readonly trace: CallTrace; readonly target: GuardedTarget },
): Span {
  const failed = upstreamUs === undefined
  const restUs = parent.durationUs - Math.round(trace.upstreamAfterMs * 1000)
  return {
    traceId: parent.traceId,
    spanId: trace.upstreamSpanId,
    parentSpanId: parent.spanId,
    kind: 'client',
    name: `${method} ${target.upstream.host}`,
    startedAt: parent.startedAt + trace.upstreamAfterMs,
    durationUs: upstreamUs ?? Math.max(0, restUs),
    isError: failed || status >= 500,
    attributes: {
      'http.request.method': method,
      'http.response.status_code': failed ? undefined : status,
      'server.address': target.upstream.host,
      'server.port': target.upstream.port,
      'error.type': refusal,
    },
  }
}
