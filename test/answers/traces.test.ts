import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { gatewayForTests, type TestGateway } from '../harness/gateway.ts'
import { readSpans, type SentSpan } from '../harness/otlp.ts'

describe('traces', () => {
  const bodies: string[] = []
  const spans: SentSpan[] = []
  const headers: unknown[] = []
  const violations: unknown[] = []
  let isAway = false
  const turnedAway: string[] = []
  const collector = createServer((request, response) => {
    void (async () => {
      const body = await text(request)
      headers.push(request.headers['x-collector'])
      ;(isAway ? turnedAway : bodies).push(`${request.url} ${body}`)
      try {
        // Throws unless the body follows OpenTelemetry's own definition of the protocol.
        if (!isAway) spans.push(...readSpans(body))
      } catch (err) {
        violations.push(err, body)
      }
      response.writeHead(isAway ? 503 : 200).end('{}')
    })()
  })
  let gateway: TestGateway

  before(async () => {
    collector.listen(0, '127.0.0.1')
    await once(collector, 'listening')
    const { port } = collector.address() as { port: number }
    gateway = await gatewayForTests({
      settings: {
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
        OTEL_EXPORTER_OTLP_HEADERS: 'x-collector=tok%3D1',
        OTEL_SERVICE_NAME: 'edge',
        OTEL_RESOURCE_ATTRIBUTES: 'service.name=other,deployment.environment.name=a%20b',
      },
    })
  })
  after(async () => {
    await gateway[Symbol.asyncDispose]()
    collector.closeAllConnections()
    collector.close()
  })

  async function spanOf(path: string): Promise<SentSpan> {
    const deadline = performance.now() + 10_000
    for (;;) {
      assert.deepEqual(violations, [])
      const found = spans.find((span) => attribute(span, 'url.path')?.endsWith(path))
      if (found !== undefined) return found
      assert.ok(performance.now() < deadline, `no span for ${path}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  test('a call becomes a span below the caller’s, and the upstream’s will be below ours', async () => {
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
    const answer = await gateway.call('/echo/traced', gateway.xApiKey, {
      headers: { traceparent: `00-${traceId}-00f067aa0ba902b7-01` },
    })
    assert.equal(answer.status, 200)
    const span = await spanOf('/echo/traced')
    assert.equal(span.traceId, traceId)
    assert.equal(span.parentSpanId, '00f067aa0ba902b7')
    assert.equal(span.name, 'GET echo')
    assert.equal(attribute(span, 'http.response.status_code'), '200')
    assert.ok(BigInt(span.endTimeUnixNano) > BigInt(span.startTimeUnixNano))
    const seen = gateway.upstream.seen.find((one) => one.url.endsWith('/traced'))
    const request = spans.find((one) => one.parentSpanId === span.spanId)
    assert.ok(request && seen?.rawHeaders.includes(`00-${traceId}-${request.spanId}-01`))
    assert.deepEqual([span.kind, request.kind], [2, 3])
    assert.equal(attribute(request, 'server.address'), '127.0.0.1')
  })

  test('requests of the API and calls of strangers are spans; their resource and headers are as set', async () => {
    await fetch(`${gateway.product.baseUrl}/api/v1/me`)
    await gateway.call('/echo/stranger', undefined)
    assert.equal(attribute(await spanOf('/api/v1/me'), 'intercept.refused'), 'session_missing')
    const stranger = await spanOf('/echo/stranger')
    assert.equal(attribute(stranger, 'intercept.refused'), 'credential_missing')
    const body = bodies.join('')
    assert.ok(body.includes('"service.name","value":{"stringValue":"edge"}'))
    assert.ok(body.includes('"deployment.environment.name","value":{"stringValue":"a b"}'))
    assert.deepEqual([...new Set(headers)], ['tok=1'])
  })

  test('a refused call is a span too, and says at which check it stopped', async () => {
    await gateway.call('/nowhere/x', gateway.xApiKey)
    const span = await spanOf('/nowhere/x')
    assert.equal(attribute(span, 'intercept.refused'), 'target_not_found')
    assert.equal(attribute(span, 'intercept.stopped_at'), 'target')
  })

  test('a trace that its caller does not sample is not reported', async () => {
    await gateway.call('/echo/unsampled', gateway.xApiKey, {
      headers: { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00' },
    })
    await gateway.call('/echo/sampled-after', gateway.xApiKey)
    await spanOf('/echo/sampled-after')
    assert.ok(!bodies.join('').includes('/echo/unsampled'))
  })

  test('no span holds a key or a query, and a collector that is away disturbs no call', async () => {
    isAway = true
    assert.equal((await gateway.call('/echo/away?q=canary', gateway.xApiKey)).status, 200)
    const deadline = performance.now() + 10_000
    while (turnedAway.length === 0) {
      assert.ok(performance.now() < deadline, 'no span was sent to the collector')
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    isAway = false
    assert.equal((await gateway.call('/echo/back?q=canary', gateway.xApiKey)).status, 200)
    await spanOf('/echo/back')
    for (const body of bodies) {
      assert.ok(body.startsWith('/v1/traces {'))
      assert.ok(!body.includes(gateway.xApiKey.secret) && !body.includes('canary'))
    }
  })
})

function attribute(span: SentSpan, key: string): string | undefined {
  const value = span.attributes.find((one) => one.key === key)?.value
  return value?.stringValue ?? value?.intValue
}
