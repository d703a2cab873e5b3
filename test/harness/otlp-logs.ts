// The format of an OTLP/HTTP request for logs, following opentelemetry-proto's logs.proto, common.proto and
// resource.proto in their JSON mapping (OTLP 1.x, "JSON Protobuf Encoding"): every member has its name and type, and
// there are no others.
import assert from 'node:assert/strict'

export interface SentLog {
  readonly timeUnixNano: string
  readonly eventName: string
  readonly body: { stringValue: string }
  readonly attributes: Record<string, string | number>
}

type Shape = Readonly<Record<string, (value: unknown, path: string) => void>>

/** Parses a request's body; throws if it violates the protocol. */
export function readLogs(text: string): SentLog[] {
  const request: unknown = JSON.parse(text)
  check(request, { resourceLogs: list(resourceLogs) }, 'request')
  const { resourceLogs: groups } = request as {
    resourceLogs: { scopeLogs: { logRecords: RawLog[] }[] }[]
  }
  return groups
    .flatMap(({ scopeLogs: scopes }) => scopes.flatMap(({ logRecords }) => logRecords))
    .map((record) => ({
      ...record,
      attributes: Object.fromEntries(
        record.attributes.map(({ key, value }) => [
          key,
          value.intValue === undefined ? (value.stringValue ?? '') : Number(value.intValue),
        ]),
      ),
    }))
}

interface RawLog {
  readonly timeUnixNano: string
  readonly eventName: string
  readonly body: { stringValue: string }
  readonly attributes: { key: string; value: { stringValue?: string; intValue?: string } }[]
}

const nanos = matching(/^\d{1,20}$/)
const text = matching(/^/)
const keyValue = object({ key: matching(/./), value: anyValue })
const resourceLogs = object({
  resource: object({ attributes: list(keyValue) }),
  scopeLogs: list(
    object({
      scope: object({ name: text, version: text }),
      logRecords: list(
        object({
          timeUnixNano: nanos,
          observedTimeUnixNano: nanos,
          severityNumber: (value, path) => assert.ok([9, 13].includes(value as number), path),
          severityText: text,
          eventName: text,
          body: anyValue,
          attributes: list(keyValue),
        }),
      ),
    }),
  ),
})

function anyValue(value: unknown, path: string): void {
  const names = Object.keys(value as object)
  assert.equal(names.length, 1, `${path} has one kind of value`)
  check(
    value,
    names[0] === 'intValue' ? { intValue: matching(/^-?\d+$/) } : { stringValue: text },
    path,
  )
}

function matching(pattern: RegExp) {
  return (value: unknown, path: string): void => {
    assert.ok(typeof value === 'string' && pattern.test(value), `${path}: ${String(value)}`)
  }
}

function object(shape: Shape) {
  return (value: unknown, path: string): void => check(value, shape, path)
}

function list(of: (value: unknown, path: string) => void) {
  return (value: unknown, path: string): void => {
    assert.ok(Array.isArray(value), `${path} is a list`)
    for (const [at, item] of value.entries()) of(item, `${path}[${at}]`)
  }
}

function check(value: unknown, shape: Shape, path: string): void {
  assert.ok(typeof value === 'object' && value !== null, `${path} is an object`)
  for (const [name, member] of Object.entries(value)) {
    const known = shape[name]
    assert.ok(known, `${path}.${name} is not in the protocol`)
    known(member, `${path}.${name}`)
  }
}
