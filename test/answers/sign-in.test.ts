import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  atGithub,
  Jar,
  ownerWithAda,
  refused,
  signInProductForTests,
  type SignInProduct,
} from '../harness/sign-in.ts'

describe('attacks on the sign-in', () => {
  let parts: SignInProduct
  let base: string
  before(async () => {
    parts = await signInProductForTests()
    base = parts.product.baseUrl
    await ownerWithAda(parts)
  })
  after(async () => await parts[Symbol.asyncDispose]())

  for (const provider of ['github', 'google']) {
    const login = () => `${base}/api/v1/auth/${provider}/login`

    test(`${provider}: 302 with fresh state, PKCE S256, exact redirect_uri, not cached`, async () => {
      const seen = new Set<string>()
      for (let time = 0; time < 3; time++) {
        const answer = await fetch(login(), { redirect: 'manual' })
        assert.equal(answer.status, 302)
        assert.equal(answer.headers.get('cache-control'), 'no-store')
        const asked = new URL(answer.headers.get('location') ?? '')
        const expected = provider === 'github' ? parts.github.url : parts.idp.issuer
        assert.equal(asked.origin, expected)
        const query = asked.searchParams
        assert.equal(query.get('response_type'), 'code')
        assert.equal(query.get('redirect_uri'), `${base}/api/v1/auth/${provider}/callback`)
        assert.equal(query.get('code_challenge_method'), 'S256')
        assert.match(query.get('code_challenge') ?? '', /^[\w-]{43}$/)
        assert.ok(Buffer.from(query.get('state') ?? '', 'base64url').length >= 16)
        assert.ok(provider === 'github' || (query.get('nonce') ?? '').length >= 22)
        const scope = provider === 'github' ? 'read:user user:email' : 'openid email profile'
        assert.equal(query.get('scope'), scope)
        seen.add(query.get('state') ?? '').add(query.get('code_challenge') ?? '')
      }
      assert.equal(seen.size, 6)
    })

    test(`${provider}: other methods are 405`, async () => {
      for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'HEAD']) {
        const answer = await fetch(login(), { method, redirect: 'manual' })
        assert.equal(answer.status, 405, method)
        assert.deepEqual(answer.headers.getSetCookie(), [])
      }
    })

    test(`${provider}: the transaction's cookie is __Host-, HttpOnly, Secure, Lax, ten minutes`, async () => {
      const answer = await fetch(login(), { redirect: 'manual' })
      const [cookie = ''] = answer.headers.getSetCookie()
      assert.match(cookie, /^__Host-sign-in-[\w-]{16}=/)
      const attributes = cookie.split('; ').slice(1).sort()
      assert.deepEqual(attributes, ['HttpOnly', 'Max-Age=600', 'Path=/', 'SameSite=Lax', 'Secure'])
      // The cookie is sealed, so nobody can read the PKCE verifier in it.
      assert.ok(!cookie.includes('verifier'))
    })

    test(`${provider}: Host and forwarding headers change no address`, async () => {
      const answer = await fetch(login(), {
        redirect: 'manual',
        headers: {
          'x-forwarded-host': 'evil.test',
          'x-forwarded-proto': 'https',
          forwarded: 'host=evil.test;proto=https',
          'x-original-url': 'https://evil.test/',
        },
      })
      const asked = new URL(answer.headers.get('location') ?? '')
      assert.ok(asked.searchParams.get('redirect_uri')?.startsWith(base))
    })
  }

  test('login CSRF: an answer without the transaction, or in another browser, starts no session', async () => {
    const attacker = new Jar()
    const callback = await atGithub(attacker, parts, 'ada')
    await refused(parts, async () => await fetch(callback), {
      status: 400,
      code: 'callback_invalid',
    })
    const victim = new Jar()
    await victim.fetch(`${base}/api/v1/auth/github/login`)
    await refused(parts, async () => await victim.fetch(callback), {
      status: 400,
      code: 'callback_invalid',
    })
  })

  test('a wrong, missing, doubled or listed state is refused before the code is sent anywhere', async () => {
    for (const change of [
      (url: URL) => url.searchParams.set('state', 'x'.repeat(43)),
      (url: URL) => url.searchParams.delete('state'),
      (url: URL) => url.searchParams.append('state', url.searchParams.get('state') ?? ''),
      (url: URL) => {
        url.searchParams.append('state[]', url.searchParams.get('state') ?? '')
        url.searchParams.delete('state')
      },
      (url: URL) => url.searchParams.append('code', 'another'),
    ]) {
      const jar = new Jar()
      const url = new URL(await atGithub(jar, parts, 'ada'))
      change(url)
      await refused(parts, async () => await jar.fetch(url.href), {
        status: 400,
        code: 'callback_invalid',
      })
    }
  })

  test('an answer counts once (replay), in the same browser too', async () => {
    const jar = new Jar()
    const callback = await atGithub(jar, parts, 'ada')
    const kept = jar.signIn()
    const first = await jar.fetch(callback)
    assert.equal(first.status, 200)
    assert.equal(jar.signIn().value, '')
    // The browser has dropped its cookie, but an attacker who copied it has not.
    const thief = new Jar()
    thief.set(kept.name, kept.value)
    await refused(parts, async () => await thief.fetch(callback), {
      status: 400,
      code: 'callback_invalid',
    })
  })

  test('a transaction is over after ten minutes, and an altered or doubled cookie is none', async () => {
    const late = new Jar()
    const callback = await atGithub(late, parts, 'ada')
    parts.product.clock.forward(601_000)
    await refused(parts, async () => await late.fetch(callback), {
      status: 400,
      code: 'callback_invalid',
    })
    const altered = new Jar()
    const second = await atGithub(altered, parts, 'ada')
    const { name, value: sealed } = altered.signIn()
    altered.set(name, `${sealed.slice(0, -4)}AAAA`)
    await refused(parts, async () => await altered.fetch(second), {
      status: 400,
      code: 'callback_invalid',
    })
    await refused(
      parts,
      async () =>
        await fetch(second, {
          headers: { cookie: `${name}=${sealed}; ${name}=${sealed}` },
        }),
      { status: 400, code: 'callback_invalid' },
    )
  })

  test('mix-up: one provider’s transaction ends at no other provider’s callback', async () => {
    const jar = new Jar()
    const callback = await atGithub(jar, parts, 'ada')
    await refused(parts, async () => await jar.fetch(callback.replace('/github/', '/google/')), {
      status: 400,
      code: 'callback_invalid',
    })
  })

  test('mix-up: an answer that names another issuer is refused (RFC 9207)', async () => {
    const jar = new Jar()
    const url = new URL(await atGithub(jar, parts, 'ada'))
    url.searchParams.set('iss', 'https://evil.test')
    await refused(parts, async () => await jar.fetch(url.href), {
      status: 400,
      code: 'callback_issuer_mismatch',
    })
    const google = new Jar()
    const start = await google.fetch(`${base}/api/v1/auth/google/login`)
    const state = new URL(start.headers.get('location') ?? '').searchParams.get('state') ?? ''
    // The provider promises iss, so a response without it is refused too.
    for (const iss of ['', '&iss=https%3A%2F%2Fevil.test']) {
      const again = new Jar()
      again.set(google.signIn().name, google.signIn().value)
      const callback = `${base}/api/v1/auth/google/callback?code=x&state=${state}${iss}`
      const answer = await again.fetch(callback)
      assert.equal(answer.status, 400)
      assert.equal(parts.idp.tokenRequests(), 0)
    }
  })

  test('code injection: somebody else’s code in one’s own sign-in fails at the verifier', async () => {
    const attacker = new Jar()
    const stolen = new URL(await atGithub(new Jar(), parts, 'ada')).searchParams.get('code') ?? ''
    const own = new URL(await atGithub(attacker, parts, 'mallory'))
    own.searchParams.set('code', stolen)
    await refused(parts, async () => await attacker.fetch(own.href), {
      status: 502,
      code: 'idp_token_refused',
      tokenRequests: 1,
    })
  })

  test('return_to leads nowhere but to paths of our own', async () => {
    const corpus = [
      '//evil.test',
      '///evil.test',
      '/\\evil.test',
      '\\\\evil.test',
      '/%09/evil.test',
      '/%0a/evil.test',
      '/%2f/evil.test',
      '/%2Fevil.test',
      '/%5cevil.test',
      '/\t/evil.test',
      '/.//evil.test',
      '/..//evil.test',
      'https:evil.test',
      'https://evil.test',
      'http://localhost.evil.test',
      'http://localhost@evil.test',
      'javascript:alert(1)',
      'data:text/html,x',
      'evil.test',
      '@evil.test',
      '/\r\nLocation: https://evil.test',
      '/ö',
      '',
      ' //evil.test',
      '/'.repeat(3),
    ]
    for (const value of corpus) {
      const jar = new Jar()
      const query = `?return_to=${encodeURIComponent(value)}`
      const answer = await jar.fetch(await atGithub(jar, parts, 'ada', query))
      assert.equal(answer.status, 200, value)
      const refresh = answer.headers.get('refresh') ?? ''
      assert.equal(refresh, '0; url=/api/v1/auth/landed?return_to=/', value)
      const landed = await jar.fetch(
        `${base}/api/v1/auth/landed?return_to=${encodeURIComponent(value)}`,
      )
      assert.equal(landed.headers.get('location'), '/', value)
    }
    const jar = new Jar()
    const query = `?return_to=${encodeURIComponent('/o/acme/calls?status=4xx#x')}`
    const answer = await jar.fetch(await atGithub(jar, parts, 'ada', query))
    const target = /url=(.*)$/.exec(answer.headers.get('refresh') ?? '')?.[1] ?? ''
    const landed = await jar.fetch(base + target)
    assert.equal(landed.status, 302)
    assert.equal(landed.headers.get('location'), '/o/acme/calls?status=4xx#x')
  })

  test('what a provider says of an error is shown as text; the page sends its address nowhere', async () => {
    const jar = new Jar()
    const start = await jar.fetch(`${base}/api/v1/auth/github/login`)
    const state = new URL(start.headers.get('location') ?? '').searchParams.get('state') ?? ''
    const error = encodeURIComponent('<script>alert(1)</script>')
    const callback = `${base}/api/v1/auth/github/callback?state=${state}&error=access_denied&error_description=${error}`
    const answer = await jar.fetch(callback)
    const html = await answer.text()
    assert.equal(answer.status, 403)
    assert.ok(!html.includes('<script>alert'))
    assert.equal(answer.headers.get('referrer-policy'), 'no-referrer')
    assert.equal(answer.headers.get('cache-control'), 'no-store')
    const policy = answer.headers.get('content-security-policy') ?? ''
    assert.ok(policy.includes("default-src 'none'") && !policy.includes('unsafe'))
    assert.ok(policy.includes("frame-ancestors 'none'"))
  })
})
