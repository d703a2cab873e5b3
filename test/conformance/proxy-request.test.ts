import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { gatewayForTests, prefix } from '../harness/gateway.ts'
import type { TestGateway } from '../harness/gateway.ts'
import { ambiguous } from '../harness/lanes/corpus.ts'
import { statusesOf } from '../harness/raw.ts'
import type { SeenRequest } from '../harness/upstream.ts'

const smuggled = `GET {prefix}/smuggled HTTP/1.1\r\nHost: a\r\n{key}\r\n\r\n`

function headersOf(seen: SeenRequest | undefined): Map<string, string[]> {
  const headers = new Map<string, string[]>()
  const raw = seen?.rawHeaders ?? []
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at]?.toLowerCase() ?? ''
    headers.set(name, [...(headers.get(name) ?? []), raw[at + 1] ?? ''])
  }
  return headers
}

describe('what of a request reaches the upstream', () => {
  let gateway: TestGateway
  before(async () => {
    gateway = await gatewayForTests({
      target: ['--header', 'X-Upstream-Key: injected-canary'],
      answer: (_request, response) => response.end('ok'),
    })
  })
  after(async () => gateway[Symbol.asyncDispose]())
  beforeEach(() => gateway.upstream.seen.splice(0))

  /** Sends one request with extra header lines; returns what the upstream received. */
  async function through(lines: string, path = '/x', method = 'GET'): Promise<SeenRequest> {
    const text = `${method} {prefix}${path} HTTP/1.1\r\nHost: caller.example\r\n{key}\r\n${lines}Connection: close\r\n\r\n`
    const transcript = await gateway.raw(text)
    const [seen] = gateway.upstream.seen
    assert.ok(seen, transcript)
    return seen
  }

  for (const [name, message] of ambiguous) {
    test(`${name}: neither it nor what is glued to it reaches the upstream whole`, async () => {
      const transcript = await gateway.raw(message + smuggled)
      const [status = 0, ...more] = statusesOf(transcript)
      assert.ok([400, 413, 501, 502].includes(status), transcript.slice(0, 200))
      assert.deepEqual(more, [])
      assert.deepEqual(gateway.upstream.seen, [])
    })
  }

  test('a chunked body goes on with one framing header and the same bytes', async () => {
    const text = `POST {prefix}/x HTTP/1.1\r\nHost: a\r\n{key}\r\nTransfer-Encoding: Chunked\r\nConnection: close\r\n\r\n3;ext="x"\r\nabc\r\n2\r\nde\r\n0\r\nX-Trailer: t\r\n\r\n`
    assert.match(await gateway.raw(text), /^HTTP\/1\.1 200 /)
    const [seen] = gateway.upstream.seen
    assert.equal(seen?.body, 'abcde')
    const headers = headersOf(seen)
    assert.deepEqual(headers.get('transfer-encoding'), ['chunked'])
    assert.equal(headers.has('content-length'), false)
  })

  test('two pipelined requests are two, each judged by itself', async () => {
    const one = (path: string, lines: string) =>
      `GET ${prefix}/echo${path} HTTP/1.1\r\nHost: a\r\n${lines}\r\n`
    const key = `X-API-Key: ${gateway.xApiKey.secret}\r\n`
    const transcript = await gateway.raw(one('/1', key) + one('/2', '') + one('/3', key))
    assert.deepEqual(statusesOf(transcript), [200, 401, 200])
    assert.deepEqual(gateway.upstream.seen.map(({ url }) => url).sort(), ['/1', '/3'])
  })

  test('hop-by-hop headers and those named in Connection end here, ours are never removed by naming them', async () => {
    const headers = headersOf(
      await through(
        'Keep-Alive: 1\r\nTE: trailers\r\nTrailer: X\r\nProxy-Authorization: Basic eA==\r\nProxy-Connection: keep-alive\r\nX-Secret-Hop: 1\r\nConnection: X-Secret-Hop, Intercept-Key-Id, X-API-Key, X-Forwarded-For, X-Upstream-Key, Content-Length, Host\r\n',
      ),
    )
    for (const name of [
      'keep-alive',
      'te',
      'trailer',
      'proxy-authorization',
      'proxy-connection',
      'x-secret-hop',
      'x-api-key',
      'connection',
    ]) {
      assert.equal(headers.has(name), false, name)
    }
    assert.deepEqual(headers.get('intercept-key-id'), [gateway.xApiKey.id])
    assert.deepEqual(headers.get('x-forwarded-for'), ['127.0.0.1'])
    assert.deepEqual(headers.get('x-upstream-key'), ['injected-canary'])
    assert.equal(headers.get('host')?.length, 1)
  })

  test("the caller's key, session cookie and proxy credentials never go upstream", async () => {
    const seen = await through(
      'Cookie: a=1; __Host-session=secret-session; b=2; __Host-tx=secret-tx\r\nProxy-Authorization: secret-proxy\r\n',
    )
    const text = JSON.stringify(seen)
    assert.doesNotMatch(text, /secret-/)
    assert.ok(!text.includes(gateway.xApiKey.secret))
    assert.deepEqual(headersOf(seen).get('cookie'), ['a=1; b=2'])
  })

  test('what only we may say cannot be said by a caller, however it is spelled', async () => {
    const names = [
      'Intercept-Key-Id',
      'intercept_key_id',
      'INTERCEPT-ORGANIZATION',
      'Intercept-Anything',
      'X-Forwarded-For',
      'X_Forwarded_For',
      'X-Forwarded-Host',
      'X-Forwarded-Proto',
      'X-Forwarded-Port',
      'X-Forwarded-Server',
      'Forwarded',
      'X-Real-IP',
      'True-Client-IP',
      'CF-Connecting-IP',
      'X-Upstream-Key',
      'X_Upstream_Key',
      'Proxy',
    ]
    const seen = await through(names.map((name) => `${name}: forged-canary\r\n`).join(''))
    assert.doesNotMatch(JSON.stringify(seen), /forged-canary/)
    const headers = headersOf(seen)
    assert.deepEqual(headers.get('intercept-organization'), ['acme'])
    assert.deepEqual(headers.get('x-forwarded-for'), ['127.0.0.1'])
    assert.deepEqual(headers.get('x-forwarded-proto'), ['http'])
    assert.deepEqual(headers.get('x-forwarded-host'), ['caller.example'])
    assert.match(headers.get('intercept-request-id')?.[0] ?? '', /^req_/)
  })

  test('method and URL overrides are dropped and influence nothing', async () => {
    const names = [
      'X-HTTP-Method-Override',
      'X-HTTP-Method',
      'X-Method-Override',
      'X-Original-URL',
      'X-Original-URI',
      'X-Rewrite-URL',
      'X-Forwarded-Uri',
      'X-Forwarded-Prefix',
      'X-Forwarded-Method',
    ]
    const seen = await through(names.map((name) => `${name}: /admin\r\n`).join(''))
    assert.doesNotMatch(JSON.stringify(seen), /admin/)
    assert.equal(seen.url, '/x')
  })

  for (const path of [
    '/%20',
    '/a+b',
    '/a%20b?c=d+e&f[]=1&g=%2F..%2F',
    '/a?',
    '/a?b=c?d',
    '/%C3%A9/~x',
    '/a;b=c',
    '/a?x=//../y',
    `/many?${'a=&'.repeat(1200)}`,
  ]) {
    test(`${path.slice(0, 40)} passes byte for byte`, async () => {
      assert.equal((await through('', path)).url, path)
    })
  }

  test('a compressed body passes untouched, both ways', async () => {
    const bytes = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff, 0x00, 0xfe])
    const headers = { 'Content-Encoding': 'gzip', 'Accept-Encoding': 'br' }
    await gateway.call('/echo/x', gateway.bearer, { method: 'POST', body: bytes, headers })
    const [seen] = gateway.upstream.seen
    assert.equal(seen?.body, bytes.toString('latin1'))
    assert.deepEqual(headersOf(seen).get('accept-encoding'), ['br'])
    assert.deepEqual(headersOf(seen).get('content-encoding'), ['gzip'])
  })

  test('a valid traceparent is passed on, an invalid or doubled one begins a new trace', async () => {
    const good = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
    assert.deepEqual(headersOf(await through(`traceparent: ${good}\r\n`)).get('traceparent'), [
      good,
    ])
    for (const bad of [
      'traceparent: x\r\n',
      `traceparent: ${good}\r\ntraceparent: ${good}\r\n`,
      '',
    ]) {
      gateway.upstream.seen.splice(0)
      const [fresh = ''] = headersOf(await through(bad)).get('traceparent') ?? []
      assert.match(fresh, /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/)
      assert.notEqual(fresh, good)
    }
  })

  test('CONNECT, TRACE, * and other authorities never reach an upstream', async () => {
    for (const text of [
      `CONNECT 127.0.0.1:${gateway.upstream.port} HTTP/1.1\r\nHost: a\r\n{key}\r\n\r\n`,
      'TRACE {prefix}/x HTTP/1.1\r\nHost: a\r\n{key}\r\n\r\n',
      'OPTIONS * HTTP/1.1\r\nHost: a\r\n{key}\r\n\r\n',
      `GET http://127.0.0.1:${gateway.upstream.port}/x HTTP/1.1\r\nHost: 127.0.0.1:${gateway.upstream.port}\r\n{key}\r\n\r\n`,
    ]) {
      const [status = 0] = statusesOf(await gateway.raw(text))
      assert.ok([400, 405].includes(status), text)
    }
    assert.deepEqual(gateway.upstream.seen, [])
  })

  test('HEAD is forwarded as HEAD, and its answer has a head alone', async () => {
    const text = 'HEAD {prefix}/x HTTP/1.1\r\nHost: a\r\n{key}\r\nConnection: close\r\n\r\n'
    const transcript = await gateway.raw(text)
    assert.match(transcript, /^HTTP\/1\.1 200 OK\r\n/)
    assert.ok(transcript.endsWith('\r\n\r\n'))
    assert.equal(gateway.upstream.seen[0]?.method, 'HEAD')
  })

  test('96 spellings of a guarded path without a key: the upstream stays silent', async () => {
    const pieces = [
      '/api/v1/intercept',
      '/api/v1/../v1/intercept',
      '//api/v1/intercept',
      '/api//v1/intercept',
      '/api/v1/intercept/',
      '/API/V1/INTERCEPT',
      '/api/v1/%69ntercept',
      '/api/v1/intercept;x',
    ]
    const rests = [
      '/echo/x',
      '/echo',
      '//echo/x',
      '/./echo/x',
      '/%2e%2e/intercept/echo/x',
      '/echo%2fx',
      '/echo/..;/echo/x',
      '/echo\\x',
      '/echo/x?y=/../',
      '%2fecho/x',
      '/echo/%00',
      ';/echo/x',
    ]
    for (const piece of pieces) {
      const glued = rests.map((rest) => `GET ${piece}${rest} HTTP/1.1\r\nHost: a\r\n\r\n`).join('')
      const statuses = statusesOf(await gateway.raw(glued, { quietMs: 150 }))
      assert.ok(
        statuses.length > 0 && statuses.every((status) => [400, 401, 404].includes(status)),
        statuses.join(),
      )
    }
    assert.deepEqual(gateway.upstream.seen, [])
  })
})
