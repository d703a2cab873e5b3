/**
 * Thrown when the collector refuses a body because of its content: sending the same body again is pointless, but other
 * bodies may be accepted.
 */
export class CollectorRefusal extends Error {}

/** A finished span of a trace (W3C Trace Context: ids in lower-case hex). */
export interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly kind: 'server' | 'client'
  readonly name: string
  /** Milliseconds since 1970. */
  readonly startedAt: number
  readonly durationUs: number
  readonly isError: boolean
  readonly attributes: Attributes
}

/** Names and values; attributes without a value are left out. */
export type Attributes = Readonly<Record<string, string | number | undefined>>

const kinds = { server: 2, client: 3 } as const
const statusError = 2

/**
 * Renders the body of an OTLP/HTTP request for traces (opentelemetry-proto 1.x, JSON mapping: 64-bit numbers as
 * strings).
 */
export function renderSpans(spans: readonly Span[], resource: Attributes): string {
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: renderAttributes(resource) },
        scopeSpans: [{ scope: scopeOf(resource), spans: spans.map(renderSpan) }],
      },
    ],
  })
}

function renderSpan(span: Span): object {
  const startUs = BigInt(Math.round(span.startedAt * 1000))
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    ...(span.parentSpanId === undefined ? {} : { parentSpanId: span.parentSpanId }),
    name: span.name,
    kind: kinds[span.kind],
    startTimeUnixNano: String(startUs * 1000n),
    endTimeUnixNano: String((startUs + BigInt(span.durationUs)) * 1000n),
    attributes: renderAttributes(span.attributes),
    status: span.isError ? { code: statusError } : {},
  }
}

/** The instrumentation scope, which names this product even if the service has another name. */
export function scopeOf(resource: Attributes): object {
  return { name: 'intercept', version: resource['service.version'] }
}

/** Converts attributes to OTLP's form; numbers must be integers. */
export function renderAttributes(attributes: Attributes): object[] {
  return Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ({
      key,
      value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
    }))
}
