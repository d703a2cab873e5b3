import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { verifyJws } from '../../src/secrets/index.ts'
import { hostileIdp, signed, type HostileIdp, type Json, type Lie } from '../harness/hostile-idp.ts'
import { firstOwner, personWith, type Person } from '../harness/person.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'
import { Jar } from '../harness/sign-in.ts'
import { command, connect, walk, type Connected } from '../harness/sso.ts'

const minuteMs = 60_000
const lies: Readonly<Record<string, Lie>> = {
  hanging: { token: () => ({ fault: 'hang' }) },
  short: {},
  keyed: {
    discovery: (document) => ({
      ...document,
      token_endpoint_auth_methods_supported: ['private_key_jwt'],
    }),
  },
  post: {
    discovery: (document) => ({
      ...document,
      token_endpoint_auth_methods_supported: ['client_secret_post'],
    }),
  },
}

describe('the answers of the company sign-in', () => {
  let product: TestProduct
  let idp: HostileIdp
  let owner: Person
  let acme: Connected
  let other: Connected

  before(async () => {
    idp = await hostileIdp(lies)
    product = await productForTests()
    owner = await firstOwner(product)
    await command(product, 'org set-plan acme enterprise')
    await command(product, 'org create other --plan enterprise')
    await command(product, 'org create small')
    acme = await connectTo('honest', 'acme', 'acme.test')
    other = await connectTo('honest', 'other', 'other.test')
  })
  after(async () => {
    await product[Symbol.asyncDispose]()
    await idp[Symbol.asyncDispose]()
  })

  async function connectTo(lie: string, organization: string, domain?: string): Promise<Connected> {
    return await connect(product, {
      organization,
      issuer: idp.issuerOf(lie),
      clientId: 'intercept',
      secret: 'it is: secret/+é'.replace('é', 'e'),
      ...(domain === undefined ? {} : { domain }),
    })
  }
  const at = (path: string): string => `${product.baseUrl}/api/v1/auth/sso${path}`
  /** Starts a sign-in and returns the callback URL that the provider redirects the browser to. */
  async function callbackOf(jar: Jar, login = acme.initiate_login_uri): Promise<string> {
    const start = await jar.fetch(login)
    const there = await fetch(start.headers.get('location') ?? '', { redirect: 'manual' })
    return there.headers.get('location') ?? ''
  }
  async function refused(answer: Response, code: string): Promise<void> {
    assert.equal(answer.headers.get('intercept-refused'), code, await answer.text())
    assert.ok(!answer.headers.getSetCookie().some((line) => line.startsWith('__Host-session=')))
  }

  test('login redirects with fresh state, nonce and PKCE, without naming anything from the request', async () => {
    const seen = new Set<string>()
    for (const login of [at('/login?organization=acme'), at('/login?email=x@acme.test')]) {
      const answer = await fetch(login, {
        redirect: 'manual',
        headers: { 'x-forwarded-host': 'evil.test', forwarded: 'host=evil.test' },
      })
      assert.equal(answer.status, 302)
      assert.equal(answer.headers.get('cache-control'), 'no-store')
      const { searchParams } = new URL(answer.headers.get('location') ?? '')
      assert.equal(searchParams.get('response_type'), 'code')
      assert.equal(searchParams.get('code_challenge_method'), 'S256')
      assert.equal(searchParams.get('redirect_uri'), acme.redirect_uri)
      for (const name of ['state', 'nonce', 'code_challenge']) {
        const value = searchParams.get(name) ?? ''
        assert.ok(value.length >= 43 && !seen.has(value), name)
        seen.add(value)
      }
      const [cookie = ''] = answer.headers.getSetCookie()
      assert.match(
        cookie,
        /^__Host-sign-in-[\w-]{16}=.*HttpOnly; Secure; SameSite=Lax; Path=\/; Max-Age=600/,
      )
    }
    for (const method of ['POST', 'PUT', 'DELETE']) {
      assert.equal((await fetch(at('/login?organization=acme'), { method })).status, 405)
    }
  })

  for (const named of [
    'email=ADA@ACME.TEST',
    'email=%20ada@acme.test%20',
    'email=a+b@acme.test',
    'email=a%2Bb@acme.test',
    'organization=Acme',
  ]) {
    test(`login finds the connection however it is written: ${named}`, async () => {
      const answer = await fetch(at(`/login?${named}`), { redirect: 'manual' })
      assert.equal(answer.status, 302)
      const { searchParams } = new URL(answer.headers.get('location') ?? '')
      assert.equal(searchParams.get('redirect_uri'), acme.redirect_uri)
      if (named.includes('a%2Bb') || named.includes('a+b')) {
        assert.equal(searchParams.get('login_hint'), 'a+b@acme.test')
      }
    })
  }

  for (const [name, path, status, code] of [
    ['nothing named', '/login', 400, 'bad_request'],
    ['both named', '/login?organization=acme&email=x@acme.test', 400, 'bad_request'],
    ['named twice', '/login?organization=acme&organization=other', 400, 'bad_request'],
    ['an unknown organization', '/login?organization=nobody', 404, 'sso_not_available'],
    ['an organization without the plan', '/login?organization=small', 404, 'sso_not_available'],
    ['an unverified domain', '/login?email=x@nowhere.test', 404, 'sso_not_available'],
    ['a subdomain', '/login?email=x@sub.acme.test', 404, 'sso_not_available'],
    ['no address at all', '/login?email=acme.test', 404, 'sso_not_available'],
    ['an unknown connection', '/con_none/login', 404, 'sso_not_available'],
  ] as const) {
    test(`login with ${name} is ${status} ${code}`, async () => {
      const answer = await fetch(at(path), { redirect: 'manual' })
      assert.equal(answer.status, status)
      await refused(answer, code)
    })
  }

  test('a provider that starts a sign-in must be the connection’s own', async () => {
    const answer = await fetch(`${acme.initiate_login_uri}?iss=https://evil.example`, {
      redirect: 'manual',
    })
    await refused(answer, 'callback_issuer_mismatch')
  })

  test('a provider may start a sign-in by a form too, with the same checks', async () => {
    const post = async (form: Record<string, string>) =>
      await fetch(acme.initiate_login_uri, {
        method: 'POST',
        redirect: 'manual',
        headers: { origin: 'https://idp.example', 'sec-fetch-site': 'cross-site' },
        body: new URLSearchParams(form),
      })
    const started = await post({ iss: idp.issuerOf('honest'), login_hint: 'ada@acme.test' })
    assert.equal(started.status, 303)
    const to = new URL(started.headers.get('location') ?? '')
    assert.equal(to.searchParams.get('login_hint'), 'ada@acme.test')
    assert.match(
      started.headers.getSetCookie()[0] ?? '',
      /^__Host-sign-in-[\w-]{16}=.*SameSite=Lax/,
    )
    await refused(await post({ iss: 'https://evil.example' }), 'callback_issuer_mismatch')
    const put = await fetch(acme.initiate_login_uri, { method: 'PUT' })
    assert.deepEqual([put.status, put.headers.get('allow')], [405, 'GET, POST'])
  })

  test('a callback counts once, in the browser that started, with its own state, within ten minutes', async () => {
    const tokens = (): number => idp.asked('honest', 'token')
    const jar = new Jar()
    const callback = await callbackOf(jar)
    const asked = tokens()
    await refused(await fetch(callback), 'callback_invalid')
    const stranger = new Jar()
    await callbackOf(stranger)
    await refused(await stranger.fetch(callback), 'callback_invalid')
    const late = new Jar()
    const tooLate = await callbackOf(late)
    product.clock.forward(11 * minuteMs)
    await refused(await late.fetch(tooLate), 'callback_invalid')
    product.clock.forward(-11 * minuteMs)
    assert.equal(tokens(), asked)
    const kept = jar.signIn()
    assert.equal((await jar.fetch(callback)).status, 200)
    jar.set(kept.name, kept.value)
    await refused(await jar.fetch(callback), 'callback_invalid')
  })

  test('an answer for one connection does not count at another', async () => {
    const jar = new Jar()
    const callback = new URL(await callbackOf(jar))
    const asked = idp.asked('honest', 'token')
    const swapped = `${other.redirect_uri}${callback.search}`
    await refused(await jar.fetch(swapped), 'callback_invalid')
    assert.equal(idp.asked('honest', 'token'), asked)
    assert.notEqual(acme.redirect_uri, other.redirect_uri)
  })

  test('a connection that is disabled while somebody is at the provider lets nobody in', async () => {
    const jar = new Jar()
    const callback = await callbackOf(jar)
    const path = `/organizations/acme/connections/${acme.id}`
    assert.equal((await owner.call(`POST ${path}/disable`)).status, 200)
    await refused(await jar.fetch(callback), 'sso_connection_disabled')
    await refused(
      await fetch(at('/login?organization=acme'), { redirect: 'manual' }),
      'sso_connection_disabled',
    )
    assert.equal((await owner.call(`POST ${path}/enable`)).status, 200)
  })

  test('sessions of a connection end with it, and last no longer than it says', async () => {
    const path = `/organizations/acme/connections/${acme.id}`
    assert.equal((await owner.call(`PATCH ${path}`, { session_maximum_seconds: 600 })).status, 200)
    const person = await signedIn()
    const me = await person.call('GET /me')
    const { signed_in_at: signedInAt, expires_at: expiresAt } = me.json.session as Record<
      string,
      string
    >
    const lastsMs = Date.parse(expiresAt ?? '') - Date.parse(signedInAt ?? '')
    assert.ok(lastsMs <= 600_000 && lastsMs > 590_000, String(lastsMs))
    assert.equal((await owner.call(`POST ${path}/disable`)).status, 200)
    assert.equal((await person.call('GET /me')).status, 401)
    await owner.call(`POST ${path}/enable`)
    await owner.call(`PATCH ${path}`, { session_maximum_seconds: null })
  })

  test('a session through a connection cannot change how the account signs in elsewhere', async () => {
    const person = await signedIn()
    const refusal = await person.call('DELETE /me/identities/idn_x')
    assert.equal(refusal.json.code, 'own_sign_in_required')
    const link = await fetch(`${product.baseUrl}/api/v1/auth/github/login?link=1`, {
      redirect: 'manual',
      headers: { cookie: `__Host-session=${person.cookie}` },
    })
    assert.ok(link.status >= 400)
  })

  test('back-channel logout ends the sessions of exactly that person, once per token', async () => {
    const [ada, bob] = [await signedIn('ada'), await signedIn('bob')]
    const post = async (token: string) =>
      await fetch(acme.backchannel_logout_uri, {
        method: 'POST',
        body: new URLSearchParams({ logout_token: token }),
      })
    const token = idp.logoutToken('intercept', { sub: 'ada' })
    const answer = await post(token)
    assert.equal(answer.status, 200, await answer.text())
    assert.equal(answer.headers.get('cache-control'), 'no-store')
    assert.equal((await ada.call('GET /me')).status, 401)
    assert.equal((await bob.call('GET /me')).status, 200)
    const replay = await post(token)
    assert.equal(replay.status, 400)
    assert.equal(((await replay.json()) as Json)['error'], 'invalid_request')
    assert.equal(replay.headers.get('intercept-refused'), 'logout_token_invalid')
  })

  test('a logout token that is wrong in any way ends nothing', async () => {
    const bob = await signedIn('bob')
    const event = 'http://schemas.openid.net/event/backchannel-logout'
    const make = (claims: Json, header: Json = {}) =>
      idp.logoutToken('intercept', { sub: 'bob', ...claims }, header)
    const stranger = signed(
      { alg: 'RS256', kid: 'rsa-1', typ: 'logout+jwt' },
      { iss: idp.issuerOf('honest') },
      'RS256',
      idp.keys.stranger.privateKey,
    )
    const now = Math.floor(Date.now() / 1000)
    for (const [name, token] of Object.entries({
      'a stranger signed it': stranger,
      'nobody signed it': `${make({}).split('.').slice(0, 2).join('.')}.`,
      'another audience': make({ aud: 'other' }),
      'another issuer': make({ iss: 'https://evil.example' }),
      'no event': make({ events: undefined }),
      'another event': make({ events: { 'urn:other': {} } }),
      'the event is no object': make({ events: { [event]: 'yes' } }),
      'a nonce': make({ nonce: 'x' }),
      'nobody named': make({ sub: undefined }),
      'sid of another type': make({ sid: 7 }),
      'a sid that no database stores': make({ sid: 'a\u0000' }),
      'no jti': make({ jti: undefined }),
      'an old one': make({ iat: now - 7_200, exp: now + 60 }),
      'an expired one': make({ exp: now - 120 }),
      'the type of an id_token of another kind': make({}, { typ: 'at+jwt' }),
      'no token': '',
    })) {
      const answer = await fetch(acme.backchannel_logout_uri, {
        method: 'POST',
        body: new URLSearchParams({ logout_token: token }),
      })
      assert.equal(answer.status, 400, name)
    }
    assert.equal((await fetch(acme.backchannel_logout_uri)).status, 405)
    assert.equal((await bob.call('GET /me')).status, 200)
  })

  test('client_secret_basic sends both halves form-encoded; client_secret_post sends them in the body', async () => {
    await signedIn('ada')
    const basic = idp.tokenRequests.at(-1)
    const [id, secret] = Buffer.from(basic?.authorization.replace('Basic ', '') ?? '', 'base64')
      .toString()
      .split(':')
    assert.deepEqual([id, secret], ['intercept', 'it+is%3A+secret%2F%2Be'])
    assert.equal(basic?.form.get('client_secret'), null)
    assert.ok((basic?.form.get('code_verifier') ?? '').length >= 43)
    const posted = await connectTo('post', 'other')
    await walk(new Jar(), posted.initiate_login_uri)
    const last = idp.tokenRequests.at(-1)
    assert.equal(last?.form.get('client_secret'), 'it is: secret/+e')
    assert.equal(last?.authorization, '')
  })

  test('private_key_jwt proves the client with a key whose public half is published', async () => {
    const made = await command<Connected & { client_keys_uri: string }>(
      product,
      `sso connect other --issuer ${idp.issuerOf('keyed')} --client-id intercept --private-key`,
    )
    await walk(new Jar(), made.initiate_login_uri)
    const form = idp.tokenRequests.at(-1)?.form
    const assertion = form?.get('client_assertion') ?? ''
    const published = (await (await fetch(made.client_keys_uri)).json()) as { keys: Json[] }
    const [key = {}] = published.keys
    assert.equal(key['d'], undefined)
    assert.equal(await verifyJws(assertion, key, 'RS256'), 'valid')
    const claims = JSON.parse(
      Buffer.from(assertion.split('.')[1] ?? '', 'base64url').toString(),
    ) as Json
    assert.equal(claims['iss'], 'intercept')
    assert.equal(claims['aud'], `${idp.issuerOf('keyed')}/token`)
    assert.equal(form?.get('client_secret'), null)
  })

  test('a provider that hangs: a page, others unaffected, break-glass works', async (t) => {
    const slow = await connectTo('hanging', 'other')
    const jar = new Jar()
    const callback = await callbackOf(jar, slow.initiate_login_uri)
    const startedAt = performance.now()
    let isAnswered = false
    const waiting = jar.fetch(callback).finally(() => (isAnswered = true))
    assert.ok((await signedIn('ada')).cookie)
    assert.equal((await owner.call('GET /organizations/acme')).status, 200)
    assert.equal(isAnswered, false, 'the others are answered while the provider hangs')
    const answer = await waiting
    await refused(answer, 'idp_timeout')
    assert.equal(answer.status, 504)
    const tookMs = Math.round(performance.now() - startedAt)
    t.diagnostic(`the page came after ${tookMs} ms`)
    // This proves that the product's own deadline of 5 s applied, and not undici's, which is several minutes. The bound
    // is generous because the machine may be busy.
    assert.ok(tookMs < 60_000, `${tookMs} ms`)
  })

  test('connections and domains of another organization are not there', async () => {
    for (const route of [
      'GET /organizations/other/connections',
      `GET /organizations/acme/connections/${other.id}`,
      `POST /organizations/acme/connections/${other.id}/disable`,
      `DELETE /organizations/acme/connections/${other.id}`,
      'GET /organizations/acme/domains/other.test',
      'DELETE /organizations/acme/domains/other.test',
    ]) {
      assert.equal((await owner.call(route)).status, 404, route)
    }
    const domain = { name: 'x.test', connection_id: other.id }
    assert.equal((await owner.call('POST /organizations/acme/domains', domain)).status, 404)
  })

  test('no answer of the API holds the client secret', async () => {
    const secret = 'it is: secret/+e'
    for (const path of [
      'connections',
      `connections/${acme.id}`,
      'sso',
      'domains',
      'audit',
      'events',
    ]) {
      const { text } = await owner.call(`GET /organizations/acme/${path}`)
      assert.ok(!text.includes(secret), path)
    }
  })

  async function signedIn(subject = 'ada'): Promise<Person> {
    idp.person = {
      sub: subject,
      email: `${subject}@acme.test`,
      email_verified: true,
      name: subject,
    }
    const jar = new Jar()
    const landed = await walk(jar, acme.initiate_login_uri)
    assert.equal(landed.status, 200, await landed.text())
    return personWith(product.baseUrl, jar.get('__Host-session'))
  }
})
