import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { gatewayForTests, until, type TestGateway } from '../harness/gateway.ts'
import { readLogs, type SentLog } from '../harness/otlp.ts'

for (const engine of ['sqlite', 'postgres'] as const) {
  describe(`logs for a collector on ${engine}`, () => {
    const logs: SentLog[] = []
    const violations: unknown[] = []
    let isAway = false
    let refused = 0
    const collector = createServer((request, response) => {
      void (async () => {
        const body = await text(request)
        assert.equal(request.url, '/opentelemetry/logs')
        if (isAway) refused += 1
        else {
          try {
            logs.push(...readLogs(body))
          } catch (err) {
            violations.push(err, body)
          }
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
        engine,
        settings: {
          OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: `http://127.0.0.1:${port}/opentelemetry/logs`,
          OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=caf%C3%A9%20%22%F0%9F%9A%80%22',
        },
      })
    })
    after(async () => {
      await gateway[Symbol.asyncDispose]()
      collector.closeAllConnections()
      collector.close()
    })

    const audit = (): SentLog[] => logs.filter(({ eventName }) => eventName.startsWith('audit.'))

    test('a call is told with its key, target, status and refusal', async () => {
      await gateway.call('/echo/told', gateway.xApiKey)
      await gateway.call('/echo/..%2fx', gateway.xApiKey)
      const isTold = (event: string) =>
        logs.find(
          ({ eventName, body }) => eventName === event && body.stringValue.includes('/echo/'),
        )
      await until(
        () => isTold('call.forwarded') !== undefined && isTold('call.refused') !== undefined,
      )
      const told = isTold('call.forwarded')?.attributes ?? {}
      assert.equal(told['intercept.key.id'], gateway.xApiKey.id)
      assert.equal(told['http.response.status_code'], 200)
      assert.equal(isTold('call.refused')?.attributes['intercept.refusal'], 'path_ambiguous')
      assert.ok(!JSON.stringify(logs).includes(gateway.xApiKey.secret))
    })

    test("every request follows OpenTelemetry's own definition of the protocol, whatever a call, a name or the resource is made of", async () => {
      const name = 'odd "\\ é 日本 🚀 \u202e'
      const { id } = await gateway.run('key', 'issue', 'acme', '--name', name)
      const called = '/echo/odd%00%ff%F0%9F%9A%80%22%0A'
      await gateway.raw(
        `GET {prefix}/odd-agent HTTP/1.1\r\nHost: x\r\n{key}\r\nUser-Agent: \x80\xe9"\\\tx\r\n\r\n`,
      )
      await gateway.call(called, gateway.xApiKey)
      await gateway.call('/nowhere/odd', gateway.xApiKey)
      const has = (holds: (one: SentLog) => boolean) => logs.some(holds) || violations.length > 0
      await until(
        () =>
          has(({ attributes }) => attributes['intercept.subject.id'] === id) &&
          has(({ attributes }) => String(attributes['url.path']).endsWith('/odd-agent')) &&
          has(({ attributes }) => String(attributes['url.path']).includes('/nowhere/')),
      )
      assert.deepEqual(violations, [])
      for (const { resource } of logs) {
        assert.equal(resource['service.name'], 'intercept')
        assert.equal(resource['deployment.environment.name'], 'café "🚀"')
      }
      const issued = logs.find(({ attributes }) => attributes['intercept.subject.id'] === id)
      assert.equal(JSON.parse(String(issued?.attributes['intercept.audit.detail'])).name, name)
    })

    test('with the entries of a chain comes where it ends, signed', async () => {
      const { id } = await gateway.issue()
      const at = (name: string, one: SentLog | undefined) => one?.attributes[`intercept.${name}`]
      const entry = () => audit().find((one) => at('subject.id', one) === id)
      const isHead = (one: SentLog) =>
        one.eventName === 'audit.head_sealed' &&
        at('organization.id', one) === at('organization.id', entry()) &&
        at('audit.sequence', one) === at('audit.sequence', entry())
      await until(() => entry() !== undefined && logs.some(isHead))
      const head = logs.find(isHead)
      assert.equal(at('audit.hash', head), at('audit.hash', entry()))
      assert.match(String(at('audit.seal', head)), /^v\d/)
    })

    test('what is audited while the collector is away is sent when it is there again', async () => {
      await until(() => audit().some(({ eventName }) => eventName === 'audit.api_key.issued'))
      isAway = true
      const issued: { id: string }[] = []
      for (let number = 0; number < 5; number++) issued.push(await gateway.issue())
      await until(() => refused > 0)
      isAway = false
      const arrived = (): Set<unknown> =>
        new Set(audit().map(({ attributes }) => attributes['intercept.subject.id']))
      await until(() => issued.every(({ id }) => arrived().has(id)))
      const sequences = audit()
        .filter(({ attributes }) => attributes['intercept.organization.id'] !== 'system')
        .map(({ attributes }) => Number(attributes['intercept.audit.sequence']))
      const known = [...new Set(sequences)].toSorted((a, b) => a - b)
      assert.deepEqual(
        known,
        Array.from({ length: known.length }, (_, at) => at + 1),
      )
      assert.deepEqual(violations, [])
    })
  })
}
