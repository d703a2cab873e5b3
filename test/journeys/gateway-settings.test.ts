import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import { gatewayForTests, prefix, until } from '../harness/gateway.ts'

describe('the gateway as it is set', () => {
  test('TRUSTED_PROXIES: the address is counted from the right, and forwarding headers are kept', async () => {
    await using gateway = await gatewayForTests({ settings: { TRUSTED_PROXIES: '1' } })
    const key = await gateway.issue('--cidr', '203.0.113.0/24')
    const call = async (forwardedFor: string) =>
      gateway.call('/echo/x', key, {
        headers: { 'X-Forwarded-For': forwardedFor, 'X-Forwarded-Proto': 'https' },
      })
    assert.equal((await call('10.0.0.1, 203.0.113.7')).status, 200)
    assert.equal((await call('203.0.113.7, 10.0.0.1')).status, 403)
    assert.equal((await call('203.0.113.7, nonsense')).status, 403)
    const raw = gateway.upstream.seen[0]?.rawHeaders ?? []
    assert.equal(raw[raw.indexOf('X-Forwarded-For') + 1], '10.0.0.1, 203.0.113.7, 127.0.0.1')
    assert.equal(raw[raw.indexOf('X-Forwarded-Proto') + 1], 'https')
  })

  test('after its burst of wrong keys an address is told 429, while good keys go on, first use included', async () => {
    await using gateway = await gatewayForTests({
      settings: { LIMIT_FAILED_CREDENTIALS: '1/s burst 100' },
    })
    const wrong = async () =>
      (await gateway.call('/echo/x', { id: '', secret: 'svc_live_nope' })).status
    const statuses: number[] = []
    for (let call = 0; call < 150; call++) statuses.push(await wrong())
    assert.ok(statuses.slice(0, 100).every((status) => status === 401))
    assert.equal(statuses.at(-1), 429)
    assert.equal((await gateway.call('/echo/x', gateway.xApiKey)).status, 200)
    assert.equal((await gateway.call('/echo/x', await gateway.issue())).status, 200)
    let refused = await gateway.call('/echo/x', { id: '', secret: 'svc_live_nope' })
    await until(async () => {
      refused = await gateway.call('/echo/x', { id: '', secret: 'svc_live_nope' })
      return refused.headers.get('intercept-refused') === 'rate_limited'
    })
    assert.ok(Number(refused.headers.get('retry-after')) >= 1)
  })

  test('a rate of the organization is one for all of its keys, and each answer tells of it', async () => {
    await using gateway = await gatewayForTests()
    const other = await gateway.issue()
    assert.equal((await gateway.call('/echo/x', other)).headers.get('ratelimit'), null)
    await gateway.run('org', 'limits', 'acme', '--rate', '3/h')
    const calls = [gateway.xApiKey, other, gateway.bearer, gateway.xApiKey, other]
    const responses: Response[] = []
    for (const key of calls) responses.push(await gateway.call('/echo/x', key))
    assert.deepEqual(
      responses.map(({ status }) => status),
      [200, 200, 200, 429, 429],
    )
    assert.equal(responses[0]?.headers.get('ratelimit-policy'), '"organization";q=3;w=3600')
    assert.match(responses[2]?.headers.get('ratelimit') ?? '', /^"organization";r=0;t=\d+$/)
    assert.equal(responses[3]?.headers.get('intercept-refused'), 'rate_limited')
    assert.ok(Number(responses[3]?.headers.get('retry-after')) > 1000)
    const refusal = (await responses[3]?.json()) as { detail: string }
    assert.equal(refusal.detail, 'The organization is limited to 3 calls per 3600 s.')
  })

  test('LIMIT_KEEP_ALIVE: every response of a node says for how long it keeps the connection', async () => {
    await using gateway = await gatewayForTests({ settings: { LIMIT_KEEP_ALIVE: '620s' } })
    const ofCall = await gateway.raw(`GET ${prefix}/echo/x HTTP/1.1\r\nHost: a\r\n{key}\r\n\r\n`)
    assert.match(ofCall, /^HTTP\/1\.1 200 [^]*\r\nKeep-Alive: timeout=620\r\n/)
    const ofPage = await gateway.raw('GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n')
    assert.match(ofPage, /^HTTP\/1\.1 200 [^]*\r\nKeep-Alive: timeout=620\r\n/)
  })

  test('KEY_SCHEMES: a scheme that is off lets nobody in', async () => {
    await using gateway = await gatewayForTests({ settings: { KEY_SCHEMES: 'bearer' } })
    assert.equal((await gateway.call('/echo/x', gateway.bearer)).status, 200)
    assert.equal((await gateway.call('/echo/x', gateway.xApiKey)).status, 401)
  })

  test('Intercept-Assertion: the upstream can verify who is calling with the published keys', async () => {
    await using gateway = await gatewayForTests({ target: ['--assertion'] })
    await gateway.call('/echo/x', gateway.bearer, { headers: { 'Intercept-Assertion': 'forged' } })
    const raw = gateway.upstream.seen[0]?.rawHeaders ?? []
    const token = raw[raw.indexOf('Intercept-Assertion') + 1] ?? ''
    assert.equal(raw.filter((name) => name.toLowerCase() === 'intercept-assertion').length, 1)
    const jwks = createRemoteJWKSet(new URL(`${gateway.product.baseUrl}/.well-known/jwks.json`))
    const { payload, protectedHeader } = await jwtVerify(token, jwks, {
      issuer: gateway.product.baseUrl,
      audience: 'echo',
      algorithms: ['ES256'],
    })
    assert.equal(payload.sub, gateway.bearer.id)
    assert.ok((payload.exp ?? 0) - (payload.iat ?? 0) <= 60)
    assert.notEqual(protectedHeader.typ, 'JWT')

    // A proxy that only asks for the decision gets an assertion to pass on.
    const decided = await gateway.call('/-/check?target=echo', gateway.bearer, {
      headers: { 'X-Original-URI': '/x', 'X-Original-Method': 'GET' },
    })
    const handedOn = decided.headers.get('intercept-assertion') ?? ''
    const options = { issuer: gateway.product.baseUrl, audience: 'echo' }
    assert.equal((await jwtVerify(handedOn, jwks, options)).payload.sub, gateway.bearer.id)
  })

  test('PostgreSQL: a revocation that one node has answered is refused by the other, its stream cut', async (t) => {
    await using gateway = await gatewayForTests({
      engine: 'postgres',
      answer: (_request, response) => {
        response.writeHead(200, { 'Content-Type': 'text/event-stream' })
        response.write('data: x\n\n')
      },
    })
    const other = await gateway.product.anotherNode()
    const key = await gateway.issue()
    const headers = { 'X-API-Key': key.secret }
    const url = `http://127.0.0.1:${other.port}${prefix}/echo/x`
    const stream = await fetch(url, { headers })
    assert.equal(stream.status, 200)
    const cut = assert.rejects(stream.text())
    await gateway.run('key', 'revoke', key.id)
    const revokedAt = performance.now()
    // When the command returns, each node has confirmed the revocation or no longer trusts its cache.
    const again = await fetch(url, { headers })
    await again.body?.cancel()
    assert.ok(again.status === 401 || again.status === 503, String(again.status))
    await cut
    t.diagnostic(`cut ${Math.round(performance.now() - revokedAt)} ms after the command's answer`)
  })
})
