import { randomHex } from '../secrets/index.ts'

/** A call's place in a trace. */
export interface TracePlace {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly flags: string
}

const traceparentShape = /^00-((?!0{32})[0-9a-f]{32})-((?!0{16})[0-9a-f]{16})-([0-9a-f]{2})$/
const sampled = '01'
const notSampled = '00'

/** Our own span below the caller's, or at the start of a new trace (W3C Trace Context, section 3.2). */
export function placeInTrace(given: string | undefined): TracePlace {
  const [, traceId, parentSpanId, flags] = traceparentShape.exec(given ?? '') ?? []
  return {
    traceId: traceId ?? randomHex(16),
    spanId: randomHex(8),
    parentSpanId,
    flags: flags ?? sampled,
  }
}

/** The header for the upstream when it shall be below our span. */
export function renderTraceparent({ traceId, spanId, flags }: TracePlace): string {
  return `00-${traceId}-${spanId}-${flags}`
}

/** The header for the upstream when we report no spans: the caller's own, or a new trace that nobody samples. */
export function passTraceparentOn(given: string | undefined): string {
  if (given !== undefined && traceparentShape.test(given)) return given
  const ids = randomHex(24)
  return `00-${ids.slice(0, 32)}-${ids.slice(32)}-${notSampled}`
}
