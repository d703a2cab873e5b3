// Reads requests of OTLP/HTTP in JSON as a collector would: with the message classes that OpenTelemetry generates from
// its protocol's definition (opentelemetry-proto).
import root from '@opentelemetry/otlp-transformer/build/src/generated/root.js'
import assert from 'node:assert/strict'

/** A message class that protobufjs generated. */
interface MessageClass {
  fromObject(object: object): object
  /** Says what is wrong, if anything is. */
  verify(message: object): string | null
  encode(message: object): { finish(): Uint8Array }
  decode(bytes: Uint8Array): object
  toObject(message: object, options: { readonly longs: unknown; readonly bytes: unknown }): object
}

const { collector } = (
  root as unknown as {
    readonly opentelemetry: {
      readonly proto: {
        readonly collector: {
          readonly logs: { readonly v1: { readonly ExportLogsServiceRequest: MessageClass } }
          readonly trace: { readonly v1: { readonly ExportTraceServiceRequest: MessageClass } }
        }
      }
    }
  }
).opentelemetry.proto

interface RawAttribute {
  readonly key: string
  readonly value: { readonly stringValue?: string; readonly intValue?: string }
}

type Attributes = Readonly<Record<string, string | number>>

export interface SentLog {
  readonly timeUnixNano: string
  readonly severityNumber: number
  readonly eventName: string
  readonly body: { readonly stringValue: string }
  readonly attributes: Attributes
  /** The attributes of the sender. */
  readonly resource: Attributes
}

export interface SentSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly RawAttribute[]
}

/** Reads the log records of a request; throws if the request violates the protocol. */
export function readLogs(text: string): SentLog[] {
  const { resourceLogs } = readRequest(collector.logs.v1.ExportLogsServiceRequest, text) as {
    resourceLogs: {
      resource: { attributes: RawAttribute[] }
      scopeLogs: { logRecords: (Omit<SentLog, 'attributes'> & { attributes: RawAttribute[] })[] }[]
    }[]
  }
  return resourceLogs.flatMap(({ resource, scopeLogs }) =>
    scopeLogs.flatMap(({ logRecords }) =>
      logRecords.map((record) => ({
        ...record,
        attributes: attributesOf(record.attributes),
        resource: attributesOf(resource.attributes),
      })),
    ),
  )
}

/** Reads the spans of a request; throws if the request violates the protocol. */
export function readSpans(text: string): SentSpan[] {
  const { resourceSpans } = readRequest(collector.trace.v1.ExportTraceServiceRequest, text) as {
    resourceSpans: { scopeSpans: { spans: SentSpan[] }[] }[]
  }
  return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
}

function attributesOf(raw: readonly RawAttribute[]): Attributes {
  return Object.fromEntries(
    raw.map(({ key, value }) => [
      key,
      value.intValue === undefined ? (value.stringValue ?? '') : Number(value.intValue),
    ]),
  )
}

/**
 * Checks a request and returns what was sent. Converting it to a message drops fields that the protocol does not know
 * and converts values of other types, so what comes back from the message's bytes must be exactly what was sent.
 */
function readRequest(message: MessageClass, text: string): object {
  const sent = JSON.parse(text) as object
  const known = withBinaryIds(sent) as object
  const read = message.fromObject(known)
  assert.equal(message.verify(read), null)
  const decoded = message.decode(message.encode(read).finish())
  const understood = message.toObject(decoded, { longs: String, bytes: String })
  assert.deepEqual(plain(understood), plain(known))
  return sent
}

const idBytes: Readonly<Record<string, number>> = { traceId: 16, spanId: 8, parentSpanId: 8 }

/** Converts ids from hex, as OTLP sends them (OTLP 1.x, "JSON Protobuf Encoding"), to protobuf's base64. */
function withBinaryIds(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(withBinaryIds)
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const bytes = idBytes[name]
      if (bytes === undefined) return [name, withBinaryIds(member)]
      assert.match(String(member), new RegExp(`^[0-9a-f]{${bytes * 2}}$`), name)
      assert.doesNotMatch(String(member), /^0+$/, name)
      return [name, Buffer.from(String(member), 'hex').toString('base64')]
    }),
  )
}

/** Removes empty lists, because a message's bytes don't distinguish them from missing ones. */
function plain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(plain)
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => !(Array.isArray(member) && member.length === 0))
      .map(([name, member]) => [name, plain(member)]),
  )
}
