import assert from 'node:assert/strict'
import { test } from 'node:test'
import { firstOwner } from '../harness/person.ts'
import { productForTests } from '../harness/product.ts'
import { exchangeRaw } from '../harness/raw.ts'

test('pages and answers carry their policies; HSTS where the base address is https', async () => {
  await using product = await productForTests({
    settings: { BASE_URL: 'https://intercept.test', AUTH_URL: 'https://intercept.test' },
  })
  const at = `http://127.0.0.1:${product.port}`
  for (const path of [
    '/nowhere',
    '/o/%',
    '/api/v1/%ff',
    '/scim/v2/nowhere',
    '/scim/v2/Users/%ff',
  ]) {
    const { headers, status } = await fetch(at + path)
    assert.ok(status >= 400, path)
    assert.match(headers.get('strict-transport-security') ?? '', /max-age=\d{8}/, path)
    assert.equal(headers.get('x-content-type-options'), 'nosniff', path)
    assert.equal(headers.get('cache-control'), 'no-store', path)
  }
  for (const path of ['/docs', '/sign-in-link?token=x', '/api/v1/auth/landed', '/api/v1/me']) {
    const answer = await fetch(at + path)
    const text = await answer.text()
    assert.match(answer.headers.get('strict-transport-security') ?? '', /max-age=\d{8}/)
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff')
    if (!path.startsWith('/api/v1/me')) {
      const policy = answer.headers.get('content-security-policy') ?? ''
      for (const part of ["default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"]) {
        assert.ok(policy.includes(part), `${path}: ${policy}`)
      }
      assert.ok(!/unsafe|https?:/.test(policy))
      assert.equal(answer.headers.get('cross-origin-opener-policy'), 'same-origin')
      assert.ok(answer.headers.get('referrer-policy'))
      assert.ok(!/<(?:script|style)>|\son\w+=|src="http/i.test(text), path)
    }
  }
})

test('no CORS, no state change on GET or HEAD, refusals in RFC 9457 without insides', async () => {
  await using product = await productForTests()
  const owner = await firstOwner(product)
  const preflight = await fetch(`${product.baseUrl}/api/v1/organizations/acme/keys`, {
    method: 'OPTIONS',
    headers: { origin: 'http://evil.test', 'access-control-request-method': 'POST' },
  })
  assert.equal(preflight.status, 405)
  assert.equal(preflight.headers.get('access-control-allow-origin'), null)
  // Counts audit entries except those for viewing a secret, which is recorded although it changes nothing.
  const audit = async (): Promise<number> => {
    const listed = await owner.call('GET /organizations/acme/audit?limit=200')
    const actions = listed.json.items.map((one: { action: string }) => one.action)
    return actions.filter((action: string) => action !== 'webhook.secret_revealed').length
  }
  const before = await audit()
  const document = await (await fetch(`${product.baseUrl}/api/v1/openapi.json`)).json()
  for (const path of Object.keys((document as { paths: object }).paths)) {
    if (path.endsWith('/live')) continue
    const filled = path.replace('{organization}', 'acme').replaceAll(/\{\w+\}/g, 'x')
    for (const method of ['GET', 'HEAD']) {
      const answer = await fetch(`${product.baseUrl}/api/v1${filled}`, {
        method,
        headers: { cookie: `__Host-session=${owner.cookie}` },
      })
      const text = await answer.text()
      assert.ok(answer.status < 500, `${method} ${filled}: ${answer.status}`)
      assert.ok(!/node_modules|\.ts:|select |sqlite|kysely/i.test(text), text)
    }
  }
  assert.equal(await audit(), before)
})

test('a request that says a type and has no body is answered at once: many programs write it like that', async () => {
  await using product = await productForTests()
  const owner = await firstOwner(product)
  const issued = await owner.call('POST /organizations/acme/keys', { name: 'ci' })
  const target = { slug: 'up', upstream: 'http://127.0.0.1:9000' }
  await owner.call('POST /organizations/acme/targets', target)
  const keyPath = `/api/v1/organizations/acme/keys/${String(issued.json.key.id)}`
  for (const [method, path, type, status] of [
    ['POST', `${keyPath}/revoke`, 'application/json', 200],
    ['DELETE', '/api/v1/organizations/acme/targets/up', 'application/json', 204],
    ['POST', '/api/v1/organizations/acme/keys', 'application/json', 400],
    ['DELETE', '/scim/v2/Users/mem_x', 'application/scim+json', 401],
    ['POST', '/api/v1/credentials/revoke', 'application/json', 400],
    ['POST', '/api/v1/auth/logout', 'application/json', 204],
  ] as const) {
    const answer = await exchangeRaw(
      product.port,
      `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nOrigin: ${product.baseUrl}\r\n` +
        `Cookie: __Host-session=${owner.cookie ?? ''}\r\nContent-Type: ${type}\r\nConnection: close\r\n\r\n`,
      { quietMs: 10_000 },
    )
    assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `), `${method} ${path}`)
  }
})
