import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { portForTests } from '../harness/ports.ts'
import { credential, gatewayForTests, prefix } from '../harness/gateway.ts'
import type { IssuedKey, TestGateway } from '../harness/gateway.ts'

interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: string
  readonly request_id: string
  readonly rule_id?: string | null
}

let gateway: TestGateway

async function refused(response: Response, status: number, code: string): Promise<Problem> {
  const problem = (await response.json()) as Problem
  assert.equal(problem.code, code)
  assert.equal(response.status, status)
  assert.equal(problem.status, status)
  assert.equal(problem.type, `${gateway.product.baseUrl}/problems/${code}`)
  assert.equal(response.headers.get('content-type'), 'application/problem+json')
  assert.equal(response.headers.get('intercept-refused'), code)
  assert.equal(response.headers.get('intercept-request-id'), problem.request_id)
  assert.ok(problem.title !== '' && problem.detail !== '')
  assert.equal(response.headers.get('www-authenticate') !== null, status === 401)
  assert.equal(response.headers.get('access-control-allow-origin'), null)
  return problem
}

describe('the order of checks', () => {
  before(async () => {
    gateway = await gatewayForTests({
      target: [
        '--rule',
        'deny DELETE /admin/*',
        '--rule',
        'trial deny * /odd/*',
        '--rule',
        'allow * /*',
      ],
    })
    const { run, upstream } = gateway
    await run('target', 'set', 'acme', 'off', '--upstream', upstream.url, '--disabled')
    await run('target', 'set', 'acme', 'pages', '--upstream', upstream.url, '--browsers')
    await run(
      'target',
      'set',
      'acme',
      'verbatim',
      '--upstream',
      upstream.url,
      '--paths',
      'verbatim',
    )
    await run(
      'target',
      'set',
      'acme',
      'strict',
      '--upstream',
      upstream.url,
      '--rule',
      'allow GET /open',
    )
    await run('target', 'set', 'acme', 'small', '--upstream', upstream.url, '--body', '10')
    await run('target', 'set', 'acme', 'slow', '--upstream', upstream.url, '--rate', '1/m')
    await run(
      'target',
      'set',
      'acme',
      'nobody',
      '--upstream',
      `http://127.0.0.1:${await portForTests()}`,
    )
    await run('org', 'create', 'other')
    await run('target', 'set', 'other', 'theirs', '--upstream', upstream.url)
  })
  after(async () => gateway[Symbol.asyncDispose]())

  for (const scheme of ['xApiKey', 'bearer'] as const) {
    describe(scheme, () => {
      let key: IssuedKey
      const call = async (path: string, init?: RequestInit, by: IssuedKey | undefined = key) =>
        gateway.call(path, by, init)
      const bare = async (path: string, init: RequestInit = {}) =>
        gateway.call(path, undefined, init)
      const issue = async (...words: string[]) =>
        gateway.issue('--scheme', scheme === 'bearer' ? 'bearer' : 'x-api-key', ...words)
      before(() => {
        key = gateway[scheme]
      })

      test('a good key is let through', async () => {
        const response = await call('/echo/hello?x=1')
        assert.equal(response.status, 200)
        assert.equal(await response.text(), 'ok')
        assert.equal(response.headers.get('intercept-refused'), null)
        assert.match(response.headers.get('intercept-request-id') ?? '', /^req_/)
        assert.equal(gateway.upstream.seen.at(-1)?.url, '/hello?x=1')
      })

      test('1: a malformed, truncated, extended or unknown key is 401 credential_invalid', async () => {
        const { secret } = key
        const flipped = secret.slice(0, -1) + (secret.endsWith('a') ? 'b' : 'a')
        for (const wrong of [
          secret.slice(0, -1),
          `${secret}a`,
          flipped,
          secret.replace('live', 'test'),
          secret.slice(0, 9),
        ]) {
          await refused(
            await call(
              '/echo/x',
              {},
              { id: '', secret: wrong.replace(/^(?!svc_|sk_)/, 'sk_live_') },
            ),
            401,
            'credential_invalid',
          )
        }
      })

      test('1: a key in the other header is 401 credential_wrong_header, which names the right one', async () => {
        const headers: Record<string, string> =
          scheme === 'bearer'
            ? { 'X-API-Key': key.secret }
            : { Authorization: `Bearer ${key.secret}` }
        const problem = await refused(
          await bare('/echo/x', { headers }),
          401,
          'credential_wrong_header',
        )
        assert.match(problem.detail, scheme === 'bearer' ? /Authorization/ : /X-API-Key/)
      })

      test('a key in query, cookie, Basic or path is not read', async () => {
        for (const place of [
          async () => bare(`/echo/x?api_key=${key.secret}&X-API-Key=${key.secret}`),
          async () => bare(`/${key.secret}/x`),
          async () => bare('/echo/x', { headers: { Cookie: `X-API-Key=${key.secret}` } }),
        ]) {
          await refused(await place(), 401, 'credential_missing')
        }
        const basic = Buffer.from(`x:${key.secret}`).toString('base64')
        await refused(
          await bare('/echo/x', { headers: { Authorization: `Basic ${basic}` } }),
          401,
          'credential_invalid',
        )
      })

      test('two credentials are 400 credential_ambiguous, whichever is good', async () => {
        const [name, value] = credential(key)
        const other = scheme === 'bearer' ? gateway.xApiKey : gateway.bearer
        await refused(
          await call('/echo/x', { headers: { [credential(other)[0]]: credential(other)[1] } }),
          400,
          'credential_ambiguous',
        )
        for (const second of [value, `${value}x`, '']) {
          const text = `GET ${prefix}/echo/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${name}: ${value}\r\n${name}: ${second}\r\n\r\n`
          assert.match(await gateway.raw(text), /^HTTP\/1\.1 400 [^]*credential_ambiguous/)
        }
      })

      test('a revoked key is 401 credential_revoked on the next request', async () => {
        const gone = await issue()
        assert.equal((await call('/echo/x', {}, gone)).status, 200)
        await gateway.run('key', 'revoke', gone.id)
        // The command revokes over a database connection of its own, so the node learns of it from the change feed, a
        // moment later.
        await untilRefused(gone)
        await refused(await call('/echo/x', {}, gone), 401, 'credential_revoked')
      })

      test('2: an expired key is 401 credential_expired', async () => {
        const brief = await issue('--expires', scheme === 'bearer' ? '12h' : '1h')
        assert.equal((await call('/echo/x', {}, brief)).status, 200)
        gateway.product.clock.forward((scheme === 'bearer' ? 24 : 2) * 3_600_000)
        await refused(await call('/echo/x', {}, brief), 401, 'credential_expired')
      })

      test('3: a call from outside the CIDRs is 403 address_not_allowed', async () => {
        await refused(
          await call('/echo/x', {}, await issue('--cidr', '10.0.0.0/8')),
          403,
          'address_not_allowed',
        )
        const near = await issue('--cidr', '10.0.0.0/8', '--cidr', '127.0.0.0/8')
        assert.equal((await call('/echo/x', {}, near)).status, 200)
      })

      test('X-Forwarded-For does not help a stranger', async () => {
        const far = await issue('--cidr', '10.0.0.0/8')
        const headers = {
          'X-Forwarded-For': '10.1.2.3',
          Forwarded: 'for=10.1.2.3',
          'X-Real-IP': '10.1.2.3',
        }
        await refused(await call('/echo/x', { headers }, far), 403, 'address_not_allowed')
      })

      test('4: a key from a browser page is 403 browser_origin_refused, unless the target is for pages', async () => {
        const [name, value] = credential(key)
        for (const signs of [
          'Sec-Fetch-Site: cross-site',
          'Sec-Fetch-Site: same-origin',
          'Sec-Fetch-Site: none\r\nSec-Fetch-Site: cross-site',
        ]) {
          const text = `GET ${prefix}/echo/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${name}: ${value}\r\n${signs}\r\n\r\n`
          assert.match(await gateway.raw(text), /^HTTP\/1\.1 403 [^]*browser_origin_refused/)
        }
        const direct = `GET ${prefix}/echo/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${name}: ${value}\r\nSec-Fetch-Site: none\r\n\r\n`
        assert.match(await gateway.raw(direct), /^HTTP\/1\.1 200 /)
        const page = `GET ${prefix}/pages/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${name}: ${value}\r\nSec-Fetch-Site: cross-site\r\n\r\n`
        assert.match(await gateway.raw(page), /^HTTP\/1\.1 200 /)
      })

      test('a CORS preflight with a key is 403, and no answer has CORS headers', async () => {
        const [name, value] = credential(key)
        const text = `OPTIONS ${prefix}/echo/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${name}: ${value}\r\nOrigin: https://a.example\r\nAccess-Control-Request-Method: GET\r\n\r\n`
        const transcript = await gateway.raw(text)
        assert.match(transcript, /^HTTP\/1\.1 403 [^]*browser_origin_refused/)
        assert.doesNotMatch(transcript, /access-control-/i)
      })

      test('a missing target, one without a grant and one of another organization are the same 404', async () => {
        const narrow = await issue('--grant', 'pages:GET')
        const answers = [
          await refused(await call('/missing/x'), 404, 'target_not_found'),
          await refused(await call('/theirs/x'), 404, 'target_not_found'),
          await refused(await call('/echo/x', {}, narrow), 404, 'target_not_found'),
        ]
        const texts = answers.map(({ detail }) => detail.replace(/"\w+"/, ''))
        assert.equal(new Set(texts).size, 1)
        assert.equal((await call('/pages/x', {}, narrow)).status, 200)
        await refused(await call('/pages/x', { method: 'POST' }, narrow), 404, 'target_not_found')
      })

      test('5: a disabled target is 403 target_disabled', async () => {
        await refused(await call('/off/x'), 403, 'target_disabled')
      })

      test('5: the first rule that matches decides, and the refusal names it', async () => {
        const problem = await refused(
          await call('/echo/admin/users', { method: 'DELETE' }),
          403,
          'rule_denied',
        )
        assert.match(problem.rule_id ?? '', /^rul_/)
        assert.equal((await call('/echo/admin/users')).status, 200)
        await refused(await call('/echo/%61dmin/users', { method: 'DELETE' }), 403, 'rule_denied')
      })

      test('5: rules without a match refuse; a rule on trial does not', async () => {
        assert.equal((await call('/strict/open')).status, 200)
        assert.equal(
          (await refused(await call('/strict/closed'), 403, 'rule_denied')).rule_id,
          null,
        )
        assert.equal((await call('/echo/odd/x')).status, 200)
      })

      test('an ambiguous path is 400 path_ambiguous and reaches nobody', async () => {
        const before = gateway.upstream.seen.length
        const [name, value] = credential(key)
        for (const path of [
          '/echo/../x',
          '/echo/%2e%2e/x',
          '/echo/..;/x',
          '/echo/a%2fb',
          '/echo/a%5Cb',
          '/echo/a\\b',
          '/echo//x',
          '/echo/%00',
          '/echo/%zz',
          '/../echo/x',
          '//echo/x',
          '/%2e%2e/echo',
        ]) {
          const text = `GET ${prefix}${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${name}: ${value}\r\n\r\n`
          assert.match(await gateway.raw(text), /^HTTP\/1\.1 400 [^]*path_ambiguous/, path)
        }
        assert.equal(gateway.upstream.seen.length, before)
      })

      test('5: a verbatim target gets %2F and // as they are; dot segments stay refused', async () => {
        const [name, value] = credential(key)
        for (const path of ['/a%2Fb', '//a//b']) {
          const text = `GET ${prefix}/verbatim${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${name}: ${value}\r\n\r\n`
          assert.match(await gateway.raw(text), /^HTTP\/1\.1 200 /)
          assert.equal(gateway.upstream.seen.at(-1)?.url, path)
        }
        const text = `GET ${prefix}/verbatim/a%2F..%2Fb HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${name}: ${value}\r\n\r\n`
        assert.match(await gateway.raw(text), /^HTTP\/1\.1 400 [^]*path_ambiguous/)
      })

      test('6: over the rate of the key is 429 rate_limited with the headers that say so', async () => {
        const limited = await issue('--rate', '2/m')
        const first = await call('/echo/x', {}, limited)
        assert.equal(first.headers.get('ratelimit-policy'), '"key";q=2;w=60')
        assert.equal(first.headers.get('ratelimit'), '"key";r=1;t=30')
        assert.equal((await call('/echo/x', {}, limited)).status, 200)
        const third = await call('/echo/x', {}, limited)
        assert.equal(third.headers.get('ratelimit'), '"key";r=0;t=60')
        assert.ok(Number(third.headers.get('retry-after')) > 0)
        await refused(third, 429, 'rate_limited')
      })

      test('6: over the quota of the key is 429 quota_exhausted', async () => {
        const limited = await issue('--quota', '2/day')
        assert.equal((await call('/echo/x', {}, limited)).status, 200)
        assert.equal((await call('/echo/x', {}, limited)).status, 200)
        const third = await call('/echo/x', {}, limited)
        assert.match(third.headers.get('ratelimit') ?? '', /^"key-quota";r=0;t=\d+$/)
        await refused(third, 429, 'quota_exhausted')
      })

      test('7: a body above the limit of the target is 413 body_too_large', async () => {
        await refused(
          await call('/small/x', { method: 'POST', body: 'x'.repeat(11) }),
          413,
          'body_too_large',
        )
        assert.equal((await call('/small/x', { method: 'POST', body: 'x'.repeat(10) })).status, 200)
      })

      test('7: an upstream that nobody answers at is 502 upstream_unreachable', async () => {
        await refused(await call('/nobody/x'), 502, 'upstream_unreachable')
      })

      test('who am I: the organization, the key by its hint, the targets it may call', async () => {
        const narrow = await issue('--grant', 'pages:GET,POST')
        const response = await call('', {}, narrow)
        const me = (await response.json()) as Record<string, Record<string, unknown>>
        assert.equal(response.status, 200)
        assert.equal(me['organization']?.['slug'], 'acme')
        assert.equal(me['key']?.['id'], narrow.id)
        assert.deepEqual(me['targets'], [
          {
            slug: 'pages',
            name: 'pages',
            url: `${gateway.product.baseUrl}${prefix}/pages/`,
            methods: ['GET', 'POST'],
            disabled: false,
          },
        ])
        assert.ok(!JSON.stringify(me).includes(narrow.secret.slice(20, 50)))
        await refused(await call('', { method: 'POST' }, narrow), 405, 'method_not_allowed')
      })
    })
  }

  test('6: over the rate of the target is 429, whichever key calls', async () => {
    assert.equal((await gateway.call('/slow/x', gateway.xApiKey)).status, 200)
    const second = await gateway.call('/slow/x', gateway.bearer)
    assert.match(second.headers.get('ratelimit-policy') ?? '', /^"target";q=1;w=60$/)
    await refused(second, 429, 'rate_limited')
  })
})

async function untilRefused(key: IssuedKey): Promise<void> {
  const deadline = performance.now() + 10_000
  while ((await gateway.call('/echo/x', key)).status === 200) {
    assert.ok(performance.now() < deadline, 'a revocation by another process was never heard of')
  }
}
