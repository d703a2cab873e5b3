import { randomHex } from '../secrets/index.ts'
import { isTraceparent, type TracePlace } from '../telemetry/index.ts'

/** The span of a call in a trace, and its child span for the upstream request. */
export interface CallTrace {
  readonly place: TracePlace
  readonly upstreamSpanId: string
  /** When the upstream request began, in milliseconds after the start of the call. */
  readonly upstreamAfterMs: number
}

/** Renders traceparent for the upstream, so that its spans become children of our client span. */
export function renderTraceparent({ place, upstreamSpanId }: CallTrace): string {
  return `00-${place.traceId}-${upstreamSpanId}-${place.flags}`
}

/** Returns traceparent for the upstream if Intercept reports no spans: the caller's own, or a new, unsampled trace. */
export function passTraceparentOn(given: string | undefined): string {
  if (isTraceparent(given)) return given
  return `00-${randomHex(16)}-${randomHex(8)}-00`
}
