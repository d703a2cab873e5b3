import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  firstOwner,
  memberOf,
  personWith,
  sessionOf,
  withStore,
  type Person,
} from '../harness/person.ts'
import { atGithub, Jar, signInProductForTests, type SignInProduct } from '../harness/sign-in.ts'
import { users } from '../../src/store/index.ts'

const transactionCookie = '__Host-sign-in'

describe('attacks on the sign-in', () => {
  let parts: SignInProduct
  let base: string
  let owner: Person
  before(async () => {
    parts = await signInProductForTests()
    base = parts.product.baseUrl
    owner = await firstOwner(parts.product)
    await invite('ada.github@corp.test')
    // Ada has an account that her GitHub identity made.
    const jar = new Jar()
    await jar.fetch(await atGithub(jar, parts, 'ada'))
    assert.ok(jar.get('__Host-session'))
  })
  after(async () => await parts[Symbol.asyncDispose]())

  async function invite(email: string): Promise<void> {
    const body = { email, role: 'viewer' }
    const answer = await owner.call('POST /organizations/acme/invitations', body)
    assert.equal(answer.status, 201, answer.text)
  }

  /** The callback must end in a page that refuses: no session, and (unless said) no question to a token endpoint. */
  async function refused(
    call: () => Promise<Response>,
    expected: { status: number; code: string; tokenRequests?: number },
  ): Promise<string> {
    const before = parts.github.tokenRequests() + parts.idp.tokenRequests()
    const answer = await call()
    const html = await answer.text()
    assert.equal(answer.status, expected.status, html)
    assert.equal(answer.headers.get('intercept-refused'), expected.code, html)
    assert.match(answer.headers.get('content-type') ?? '', /text\/html/)
    assert.equal(sessionOf(answer.headers), undefined)
    const asked = parts.github.tokenRequests() + parts.idp.tokenRequests() - before
    assert.equal(asked, expected.tokenRequests ?? 0)
    return html
  }

  for (const provider of ['github', 'google']) {
    const login = () => `${base}/api/v1/auth/${provider}/login`

    test(`O1: ${provider}: 302 with fresh state, PKCE S256, exact redirect_uri, not cached`, async () => {
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

    test(`O1: ${provider}: other methods are 405`, async () => {
      for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'HEAD']) {
        const answer = await fetch(login(), { method, redirect: 'manual' })
        assert.equal(answer.status, 405, method)
        assert.deepEqual(answer.headers.getSetCookie(), [])
      }
    })

    test(`O2: ${provider}: the transaction's cookie is __Host-, HttpOnly, Secure, Lax, ten minutes`, async () => {
      const answer = await fetch(login(), { redirect: 'manual' })
      const [cookie = ''] = answer.headers.getSetCookie()
      assert.match(cookie, /^__Host-sign-in=/)
      const attributes = cookie.split('; ').slice(1).sort()
      assert.deepEqual(attributes, ['HttpOnly', 'Max-Age=600', 'Path=/', 'SameSite=Lax', 'Secure'])
      // Sealed: what is in it cannot be read or changed.
      assert.ok(!cookie.includes('verifier'))
    })

    test(`O5: ${provider}: Host and forwarding headers change no address`, async () => {
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

  test('O3: login CSRF: an answer without the transaction, or in another browser, starts no session', async () => {
    const attacker = new Jar()
    const callback = await atGithub(attacker, parts, 'ada')
    await refused(async () => await fetch(callback), { status: 400, code: 'callback_invalid' })
    const victim = new Jar()
    await victim.fetch(`${base}/api/v1/auth/github/login`)
    await refused(async () => await victim.fetch(callback), {
      status: 400,
      code: 'callback_invalid',
    })
  })

  test('O3: a wrong, missing, doubled or listed state is refused before the code is sent anywhere', async () => {
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
      await refused(async () => await jar.fetch(url.href), {
        status: 400,
        code: 'callback_invalid',
      })
    }
  })

  test('O3: an answer counts once (replay), in the same browser too', async () => {
    const jar = new Jar()
    const callback = await atGithub(jar, parts, 'ada')
    const kept = jar.get(transactionCookie) ?? ''
    const first = await jar.fetch(callback)
    assert.equal(first.status, 200)
    assert.equal(jar.get(transactionCookie), undefined)
    // The browser has forgotten the transaction; an attacker who copied the cookie has not.
    const thief = new Jar()
    thief.set(transactionCookie, kept)
    await refused(async () => await thief.fetch(callback), {
      status: 400,
      code: 'callback_invalid',
    })
  })

  test('O3: a transaction is over after ten minutes, and an altered or doubled cookie is none', async () => {
    const late = new Jar()
    const callback = await atGithub(late, parts, 'ada')
    parts.product.clock.forward(601_000)
    await refused(async () => await late.fetch(callback), {
      status: 400,
      code: 'callback_invalid',
    })
    const altered = new Jar()
    const second = await atGithub(altered, parts, 'ada')
    const sealed = altered.get(transactionCookie) ?? ''
    altered.set(transactionCookie, `${sealed.slice(0, -4)}AAAA`)
    await refused(async () => await altered.fetch(second), {
      status: 400,
      code: 'callback_invalid',
    })
    await refused(
      async () =>
        await fetch(second, {
          headers: { cookie: `${transactionCookie}=${sealed}; ${transactionCookie}=${sealed}` },
        }),
      { status: 400, code: 'callback_invalid' },
    )
  })

  test('O4: mix-up: one provider’s transaction ends at no other provider’s callback', async () => {
    const jar = new Jar()
    const callback = await atGithub(jar, parts, 'ada')
    await refused(async () => await jar.fetch(callback.replace('/github/', '/google/')), {
      status: 400,
      code: 'callback_invalid',
    })
  })

  test('O4: mix-up: an answer that names another issuer is refused (RFC 9207)', async () => {
    const jar = new Jar()
    const url = new URL(await atGithub(jar, parts, 'ada'))
    url.searchParams.set('iss', 'https://evil.test')
    await refused(async () => await jar.fetch(url.href), {
      status: 400,
      code: 'callback_issuer_mismatch',
    })
    const google = new Jar()
    const start = await google.fetch(`${base}/api/v1/auth/google/login`)
    const state = new URL(start.headers.get('location') ?? '').searchParams.get('state') ?? ''
    // The provider promises iss, so an answer without it is refused as well.
    for (const iss of ['', '&iss=https%3A%2F%2Fevil.test']) {
      const again = new Jar()
      again.set(transactionCookie, google.get(transactionCookie) ?? '')
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
    await refused(async () => await attacker.fetch(own.href), {
      status: 502,
      code: 'idp_token_refused',
      tokenRequests: 1,
    })
  })

  test('O6: return_to leads nowhere but to paths of our own', async () => {
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

  test('O8, O9: a verified e-mail address never opens an account that somebody uses (CVE-2023-3128)', async () => {
    const known = await withStore(parts.product, async (store) =>
      users.listByEmail(store, 'ada.github@corp.test'),
    )
    parts.github.people.set('twin', {
      id: 4242,
      login: 'twin',
      emails: [{ email: 'Ada.GitHub@corp.test', primary: true, verified: true }],
    })
    await invite('ada.github@corp.test')
    const jar = new Jar()
    const callback = await atGithub(jar, parts, 'twin')
    await refused(async () => await jar.fetch(callback), {
      status: 403,
      code: 'account_exists',
      tokenRequests: 1,
    })
    assert.equal(known.length, 1)
  })

  test('O9: an address that the provider has not verified joins nothing and makes nothing (CVE-2026-9092)', async () => {
    await invite('victim@corp.test')
    const jar = new Jar()
    const callback = await atGithub(jar, parts, 'mallory')
    await refused(async () => await jar.fetch(callback), {
      status: 403,
      code: 'email_not_verified',
      tokenRequests: 1,
    })
  })

  test('O8: a login name that changes hands is another person; the numeric id is who counts', async () => {
    const before = parts.github.people.get('ada')!
    parts.github.people.set('ada', { ...before, id: 999 })
    const jar = new Jar()
    const callback = await atGithub(jar, parts, 'ada')
    await refused(async () => await jar.fetch(callback), {
      status: 403,
      code: 'account_exists',
      tokenRequests: 1,
    })
    parts.github.people.set('ada', before)
  })

  test('O8: an e-mail address that changes at the provider moves nobody to another account', async () => {
    const before = parts.github.people.get('ada')!
    const emails = [{ email: 'olga@acme.test', primary: true, verified: true }]
    parts.github.people.set('ada', { ...before, emails })
    const jar = new Jar()
    await jar.fetch(await atGithub(jar, parts, 'ada'))
    const me = await personWith(base, jar.get('__Host-session')).call('GET /me')
    assert.equal(me.json.email, 'ada.github@corp.test')
    assert.notEqual(me.json.id, (await owner.call('GET /me')).json.id)
    parts.github.people.set('ada', before)
  })

  test('O16: nobody is let in uninvited', async () => {
    parts.github.people.set('stranger', {
      id: 5,
      login: 'stranger',
      emails: [{ email: 'stranger@x.test', primary: true, verified: true }],
    })
    const jar = new Jar()
    const callback = await atGithub(jar, parts, 'stranger')
    await refused(async () => await jar.fetch(callback), {
      status: 403,
      code: 'sign_in_refused',
      tokenRequests: 1,
    })
  })

  test('O12: somebody who was deactivated has no way back in', async () => {
    parts.github.people.set('leaver', {
      id: 6,
      login: 'leaver',
      emails: [{ email: 'leaver@x.test', primary: true, verified: true }],
    })
    await invite('leaver@x.test')
    const jar = new Jar()
    await jar.fetch(await atGithub(jar, parts, 'leaver'))
    const leaver = personWith(base, jar.get('__Host-session'))
    assert.equal((await leaver.call('GET /me')).status, 200)
    const members = await owner.call('GET /organizations/acme/members?limit=200')
    const member = members.json.items.find(
      (one: { email: string }) => one.email === 'leaver@x.test',
    )
    const path = `/organizations/acme/members/${member.id}`
    assert.equal((await owner.call(`PATCH ${path}`, { active: false })).status, 200)
    assert.equal((await leaver.call('GET /me')).json.code, 'session_ended')
    await invite('leaver@x.test')
    const again = new Jar()
    const callback = await atGithub(again, parts, 'leaver')
    await refused(async () => await again.fetch(callback), {
      status: 403,
      code: 'sign_in_refused',
      tokenRequests: 1,
    })
  })

  test('O15: what a provider says of an error is shown as text; the page sends its address nowhere', async () => {
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

  test('GHSA-xg6x-h9c9-2m83: a sign-in that is left half-way grants nothing', async () => {
    const jar = new Jar()
    await atGithub(jar, parts, 'ada')
    const half = personWith(base)
    const headers = { cookie: `${transactionCookie}=${jar.get(transactionCookie)}` }
    assert.equal((await half.call('GET /me', undefined, headers)).status, 401)
    const asSession = { cookie: `__Host-session=${jar.get(transactionCookie)}` }
    assert.equal((await half.call('GET /me', undefined, asSession)).status, 401)
  })

  test('S2: a planted session is worth nothing; each sign-in makes a new token and replaces the browser’s old session', async () => {
    const jar = new Jar()
    jar.set('__Host-session', 'planted')
    await jar.fetch(await atGithub(jar, parts, 'ada'))
    const first = jar.get('__Host-session') ?? ''
    assert.notEqual(first, 'planted')
    assert.equal((await personWith(base, 'planted').call('GET /me')).status, 401)
    // The next sign-in starts from the session, as a link of our own page does.
    await jar.fetch(await atGithub(jar, parts, 'ada'))
    const second = jar.get('__Host-session') ?? ''
    assert.notEqual(second, first)
    assert.equal((await personWith(base, first).call('GET /me')).json.code, 'session_ended')
    assert.equal((await personWith(base, second).call('GET /me')).status, 200)
  })

  test('H6: signing out ends the session everywhere and takes the cookie away; another origin cannot', async () => {
    const jar = new Jar()
    await jar.fetch(await atGithub(jar, parts, 'ada'))
    const token = jar.get('__Host-session') ?? ''
    const node = await parts.product.anotherNode()
    const there = personWith(base, token, `http://127.0.0.1:${node.port}`)
    assert.equal((await there.call('GET /me')).status, 200)
    const foreign = await jar.fetch(`${base}/api/v1/auth/logout`, {
      method: 'POST',
      headers: { origin: 'http://evil.test' },
    })
    assert.equal(foreign.status, 403)
    assert.equal((await there.call('GET /me')).status, 200)
    const out = await jar.fetch(`${base}/api/v1/auth/logout`, {
      method: 'POST',
      headers: { origin: base },
    })
    assert.equal(out.status, 204)
    assert.equal(out.headers.get('clear-site-data'), '"cache", "storage"')
    const [cookie = ''] = out.headers.getSetCookie()
    assert.deepEqual(cookie.split('; ').sort(), [
      'HttpOnly',
      'Max-Age=0',
      'Path=/',
      'SameSite=Strict',
      'Secure',
      '__Host-session=',
    ])
    assert.equal((await personWith(base, token).call('GET /me')).json.code, 'session_ended')
    assert.equal((await there.call('GET /me')).json.code, 'session_ended')
    await node.stop()
  })

  test('O9, CVE-2026-9087: another identity is added by its own person, from the session that asked, once, and only the proven subject', async () => {
    parts.github.people.set('second', {
      id: 88,
      login: 'second',
      emails: [{ email: 'second@x.test', primary: true, verified: true }],
    })
    const linker = await memberOf(parts.product, 'acme', { email: 'linker@x.test', role: 'viewer' })
    const other = await memberOf(parts.product, 'acme', { email: 'other@x.test', role: 'viewer' })
    const proofFor = async (person: Person): Promise<string> => {
      const jar = new Jar()
      jar.set('__Host-session', person.cookie ?? '')
      const answer = await jar.fetch(await atGithub(jar, parts, 'second', '?link=1'))
      assert.equal(sessionOf(answer.headers), undefined, 'linking signs nobody in')
      const refresh = answer.headers.get('refresh') ?? ''
      const path = new URL(refresh.split('url=')[1] ?? '', base).searchParams.get('return_to') ?? ''
      return new URL(path, base).searchParams.get('link') ?? ''
    }
    const proof = await proofFor(linker)
    const look = await linker.call('POST /me/identities/look', { proof })
    assert.equal(look.json.subject, '88')
    assert.equal((await other.call('POST /me/identities', { proof })).json.code, 'link_invalid')
    const changed = `${proof.slice(0, -6)}AAAAAA`
    assert.equal(
      (await linker.call('POST /me/identities', { proof: changed })).json.code,
      'link_invalid',
    )
    assert.equal((await linker.call('POST /me/identities', { proof })).status, 201)
    assert.equal((await linker.call('POST /me/identities', { proof })).json.code, 'link_invalid')
    const taken = await proofFor(other)
    const refusedLink = await other.call('POST /me/identities', { proof: taken })
    assert.equal(refusedLink.json.code, 'identity_taken')
    // From now on GitHub signs the linker in.
    const jar = new Jar()
    await jar.fetch(await atGithub(jar, parts, 'second'))
    const me = await personWith(base, jar.get('__Host-session')).call('GET /me')
    assert.equal(me.json.email, 'linker@x.test')
  })

  test('T7: an invitation is used once, by the address it is for, and not when it is too old', async () => {
    parts.github.people.set('guest', {
      id: 101,
      login: 'guest',
      emails: [{ email: 'guest@x.test', primary: true, verified: true }],
    })
    await invite('guest@x.test')
    const jar = new Jar()
    await jar.fetch(await atGithub(jar, parts, 'guest'))
    const guest = personWith(base, jar.get('__Host-session'))
    const rival = await memberOf(parts.product, 'rival', {
      email: 'boss@rival.test',
      role: 'owner',
    })
    const tokenOf = (link: string) => link.split('/').at(-1)
    const invited = await rival.call('POST /organizations/rival/invitations', {
      email: 'guest@x.test',
      role: 'developer',
    })
    const token = tokenOf(invited.json.link)
    const wrong = await owner.call('POST /invitations/accept', { token })
    assert.equal(wrong.json.code, 'invitation_for_other')
    const seen = await guest.call('GET /me')
    assert.equal(seen.json.invitations[0].organization.slug, 'rival')
    assert.equal((await guest.call('POST /invitations/accept', { token })).status, 200)
    const again = await guest.call('POST /invitations/accept', { token })
    assert.equal(again.json.code, 'invitation_invalid')
    const late = await rival.call('POST /organizations/rival/invitations', {
      email: 'late@x.test',
      role: 'viewer',
    })
    const lateToken = tokenOf(late.json.link)
    parts.product.clock.forward(7 * 24 * 3_600_000 + 1000)
    const look = await personWith(base).call('POST /invitations/look', { token: lateToken })
    assert.equal(look.json.code, 'invitation_invalid')
  })
})
