import type { Sampler } from './sampler.ts'

/** A span's position in its trace, and whether the trace is reported. */
export interface TracePlace {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  /** Two hex digits; the last bit says whether the trace is reported. */
  readonly flags: string
}

const traceparentShape = /^00-((?!0{32})[0-9a-f]{32})-((?!0{16})[0-9a-f]{16})-([0-9a-f]{2})$/

/**
 * Whether a `traceparent` header is valid in version 00, so that its trace can be continued (W3C Trace Context, section
 * 3.2).
 */
export function isTraceparent(given: string | undefined): given is string {
  return given !== undefined && traceparentShape.test(given)
}

/** Creates a child span of the caller's span, or the root span of a new trace. */
export function placeInTrace(
  given: string | undefined,
  how: { readonly randomHex: (bytes: number) => string; readonly sample: Sampler },
): TracePlace {
  const [, known, parentSpanId, flags] = traceparentShape.exec(given ?? '') ?? []
  const traceId = known ?? how.randomHex(16)
  const parentIsSampled = flags === undefined ? undefined : isSampled(flags)
  return {
    traceId,
    spanId: how.randomHex(8),
    parentSpanId,
    flags: how.sample(traceId, parentIsSampled) ? '01' : '00',
  }
}

/** Whether a trace with these flags is reported. */
export function isSampled(flags: string): boolean {
  return (Number.parseInt(flags, 16) & 1) === 1
}
