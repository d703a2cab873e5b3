import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { renderLogs } from '../../src/telemetry/index.ts'
import { readLogs, readSpans } from './otlp.ts'

const good = renderLogs(
  [
    {
      at: 1_700_000_000_000,
      event: 'call.forwarded',
      isWarning: false,
      body: 'GET / 200',
      attributes: { 'http.response.status_code': 200, 'url.path': '/ü"\\\u0001\u{1f600}' },
    },
  ],
  { 'service.name': 'intercept', 'service.version': '0.1.0' },
)

function changed(from: string, to: string): string {
  assert.ok(good.includes(from), from)
  return good.replace(from, to)
}

describe('the reader of OTLP requests', () => {
  test('a request that follows the protocol is read with all of its values', () => {
    const [log] = readLogs(good)
    assert.equal(log?.timeUnixNano, '1700000000000000000')
    assert.equal(log.attributes['url.path'], '/ü"\\\u0001\u{1f600}')
    assert.equal(log.attributes['http.response.status_code'], 200)
    assert.equal(log.resource['service.version'], '0.1.0')
  })

  const wrong: readonly (readonly [what: string, request: string])[] = [
    ['an unknown field of a record', changed('"eventName"', '"event"')],
    ['an unknown field of a scope', changed('"scope":{', '"scope":{"vendor":"x",')],
    ['an unknown field of the request', changed('{"resourceLogs"', '{"more":1,"resourceLogs"')],
    ['a field in snake case', changed('"severityNumber"', '"severity_number"')],
    ['a 64-bit number as a number', changed('"1700000000000000000"', '1700000000000000000')],
    ['a fraction as an integer', changed('"intValue":"200"', '"intValue":"200.5"')],
    ['an enumeration by its name', changed('"severityNumber":9', '"severityNumber":"INFO"')],
    ['an unknown severity', changed('"severityNumber":9', '"severityNumber":99')],
    ['a value of two kinds', changed('"intValue":"200"', '"intValue":"200","stringValue":"200"')],
    ['a value without its kind', changed('{"stringValue":"GET / 200"}', '"GET / 200"')],
    ['a number as text', changed('"stringValue":"GET / 200"', '"stringValue":200')],
  ]
  for (const [what, request] of wrong) {
    test(`${what} is refused`, () => {
      assert.throws(() => readLogs(request))
    })
  }

  test('a span with an id of another length, all zeros or in base64 is refused', () => {
    const request = (traceId: string) =>
      JSON.stringify({
        resourceSpans: [{ scopeSpans: [{ spans: [{ traceId, spanId: '00f067aa0ba902b7' }] }] }],
      })
    assert.equal(readSpans(request('4bf92f3577b34da6a3ce929d0e0e4736')).length, 1)
    for (const id of ['4bf92f35', '0'.repeat(32), 'S/kvNXezTaajzpKdDg5HNg==']) {
      assert.throws(() => readSpans(request(id)), id)
    }
  })
})
