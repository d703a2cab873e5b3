import assert from 'node:assert/strict'
import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import {
  firstOwner,
  memberOf,
  personWith,
  signedInByLink,
  withStore,
  type Person,
} from '../harness/person.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'
import { engines } from '../harness/store.ts'
import { until } from '../harness/webhooks.ts'

const hourMs = 3_600_000

describe('session tokens under attack', () => {
  let product: TestProduct
  let owner: Person
  before(async () => {
    product = await productForTests()
    owner = await firstOwner(product)
  })
  after(async () => await product[Symbol.asyncDispose]())

  async function codeFor(token: string): Promise<string> {
    const reply = await personWith(product.baseUrl, token).call('GET /me')
    assert.equal(reply.status, 401, token.slice(0, 40))
    return reply.json.code
  }

  function parts(): { header: Record<string, unknown>; claims: Record<string, unknown> } {
    const [header = '', claims = ''] = (owner.cookie ?? '').split('.')
    const read = (part: string) =>
      JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>
    return { header: read(header), claims: read(claims) }
  }

  function encoded(value: unknown): string {
    return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString(
      'base64url',
    )
  }

  test('the session is an ES256 JWT of 24 hours whose claims are iss, aud, sub, sid, iat, exp', async () => {
    const { header, claims } = parts()
    assert.equal(header['alg'], 'ES256')
    assert.deepEqual(Object.keys(claims).sort(), ['aud', 'exp', 'iat', 'iss', 'sid', 'sub'])
    assert.equal(claims['iss'], product.baseUrl)
    assert.equal(claims['aud'], product.baseUrl)
    assert.equal(Number(claims['exp']) - Number(claims['iat']), 24 * 3600)
    const jwks = await fetch(`${product.baseUrl}/.well-known/jwks.json`)
    const { keys } = (await jwks.json()) as { keys: Record<string, unknown>[] }
    const key = keys.find(({ kid }) => kid === header['kid'])
    assert.equal(key?.['kty'], 'EC')
    assert.equal(key?.['d'], undefined)
  })

  test('alg none, HS256 with the public key, and every other alg are 401 (Hono CVE-2026-22817)', async () => {
    const { header, claims } = parts()
    const jwks = await fetch(`${product.baseUrl}/.well-known/jwks.json`)
    const { keys } = (await jwks.json()) as { keys: Record<string, unknown>[] }
    const publicKey = JSON.stringify(keys[0])
    const none = `${encoded({ ...header, alg: 'none' })}.${encoded(claims)}.`
    assert.equal(await codeFor(none), 'session_invalid')
    for (const alg of ['HS256', 'HS512']) {
      const signed = `${encoded({ ...header, alg })}.${encoded(claims)}`
      const mac = createHmac(alg === 'HS256' ? 'sha256' : 'sha512', publicKey).update(signed)
      assert.equal(await codeFor(`${signed}.${mac.digest('base64url')}`), 'session_invalid')
    }
    for (const alg of ['RS256', 'PS256', 'ES384', 'EdDSA', 'es256', 'NONE', '']) {
      const signature = (owner.cookie ?? '').split('.')[2]
      const token = `${encoded({ ...header, alg })}.${encoded(claims)}.${signature}`
      assert.equal(await codeFor(token), 'session_invalid')
    }
  })

  test('a key of somebody’s own, by kid, jwk, jku or x5u, signs nothing', async () => {
    const { header, claims } = parts()
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const jwk = publicKey.export({ format: 'jwk' })
    for (const change of [
      {},
      { jwk },
      { jku: 'http://127.0.0.1:1/jwks' },
      { x5u: 'http://127.0.0.1:1/x' },
      { kid: '../../../dev/null' },
      { kid: "x' or 1=1 --" },
      { kid: '__proto__' },
      { kid: undefined },
      { crit: ['b64'], b64: false },
      { typ: undefined },
      { typ: 'JWT' },
      { typ: 'assertion+jwt' },
    ]) {
      const signed = `${encoded({ ...header, ...change })}.${encoded(claims)}`
      const signature = sign('sha256', Buffer.from(signed), {
        key: privateKey,
        dsaEncoding: 'ieee-p1363',
      })
      assert.equal(await codeFor(`${signed}.${signature.toString('base64url')}`), 'session_invalid')
    }
  })

  test('changed claims, a changed signature, doubled members and stray parts are 401', async () => {
    const { header, claims } = parts()
    const [, , signature] = (owner.cookie ?? '').split('.')
    const head = encoded(header)
    for (const body of [
      encoded({ ...claims, sub: 'usr_00000000000000000000000000' }),
      encoded({ ...claims, exp: Number(claims['exp']) + 1 }),
      encoded({ ...claims, aud: 'http://evil.test' }),
      encoded(JSON.stringify(claims).replace('{', '{"sub":"usr_x",')),
      '',
    ]) {
      assert.equal(await codeFor(`${head}.${body}.${signature}`), 'session_invalid')
    }
    const token = owner.cookie ?? ''
    const flipped = token.slice(0, -1) + (token.endsWith('A') ? 'Q' : 'A')
    for (const text of [flipped, `${token}.x`, `${token}=`, ` ${token}x`, token.slice(0, -2)]) {
      assert.equal(await codeFor(text), 'session_invalid')
    }
  })

  test('authentik CVE-2026-25748: malformed cookies are 401, never let through', async () => {
    const odd = [
      '',
      '=',
      ';;;',
      '"',
      '%00',
      'null',
      'undefined',
      '{}',
      '[]',
      'true',
      '.',
      '..',
      'a.b.c',
    ]
    const long = [
      'A'.repeat(2000),
      'e30.e30.e30',
      '-'.repeat(43),
      "'",
      '\\',
      '__proto__',
      '0',
      '-1',
    ]
    for (const value of [...odd, ...long]) {
      const reply = await fetch(`${product.baseUrl}/api/v1/me`, {
        headers: { cookie: `__Host-session=${value}` },
      })
      assert.equal(reply.status, 401, value)
    }
    for (const header of ['__Host-session', '__host-session=x', 'session=x', `x=${owner.cookie}`]) {
      const reply = await fetch(`${product.baseUrl}/api/v1/me`, { headers: { cookie: header } })
      assert.equal(reply.status, 401, header)
    }
  })

  test('E: neither the token nor anything of it is in the database', async () => {
    await withStore(product, async (store) => {
      const rows = await store.query.selectFrom('session').selectAll().execute()
      const text = JSON.stringify(rows)
      for (const part of (owner.cookie ?? '').split('.')) assert.ok(!text.includes(part))
    })
  })

  test('mass assignment is refused', async () => {
    const victim = 'usr_00000000000000000000000000'
    for (const [route, body] of [
      ['POST /organizations/acme/keys', { name: 'x', userId: victim }],
      ['POST /organizations/acme/keys', { name: 'x', organization_id: 'org_x' }],
      ['POST /organizations/acme/keys', { name: 'x', createdBy: victim }],
      ['PATCH /me', { name: 'x', email_verified: true }],
      ['PATCH /me', { name: 'x', role: 'owner' }],
      ['PATCH /organizations/acme', { name: 'x', plan: 'enterprise' }],
      [
        'POST /organizations/acme/invitations',
        { email: 'a@b.test', role: 'viewer', userId: victim },
      ],
    ] as const) {
      const reply = await owner.call(route, body)
      assert.equal(reply.status, 400, `${route} ${JSON.stringify(body)}`)
      assert.equal(reply.json.code, 'invalid_input')
    }
  })

  test('Fastify CVE-2025-32442: odd spellings of the content type are validated all the same', async () => {
    for (const type of [
      'application/json\t;x=1',
      'APPLICATION/JSON',
      'application/json ; charset=utf-8',
    ]) {
      const reply = await owner.call(
        'POST /organizations/acme/keys',
        { name: 'x', user_id: 'y' },
        { 'content-type': type },
      )
      assert.ok(reply.status === 400 || reply.status === 415, `${type} ${reply.status}`)
    }
  })

  test('deep, wide and odd JSON is refused at once', async () => {
    const post = async (body: string) => {
      const startedAt = performance.now()
      const answer = await fetch(`${product.baseUrl}/api/v1/organizations/acme/keys`, {
        method: 'POST',
        headers: {
          cookie: `__Host-session=${owner.cookie}`,
          origin: product.baseUrl,
          'content-type': 'application/json',
        },
        body,
      })
      return { status: answer.status, tookMs: performance.now() - startedAt }
    }
    const deep = `{"name":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
    const wide = JSON.stringify(
      Object.fromEntries(Array.from({ length: 12_000 }, (_, n) => [n, 1])),
    )
    for (const body of [deep, wide, '{"name":"a\\u0000b"}', '{"name":"\\ud800"}', '{', 'nul', '']) {
      const { status } = await post(body)
      assert.equal(status, 400, body.slice(0, 40))
    }
    assert.equal((await post(`{"name":"${'x'.repeat(300_000)}"}`)).status, 413)
  })

  test('sensitive requests need a sign-in of the last hour', async () => {
    const admin = await memberOf(product, 'acme', { email: 'late@acme.test', role: 'owner' })
    product.clock.forward(hourMs + 1000)
    const reply = await admin.call('DELETE /organizations/acme', { slug: 'acme' })
    assert.equal(reply.status, 403)
    assert.equal(reply.json.code, 'sign_in_too_old')
    const members = await admin.call('GET /organizations/acme/members')
    const self = members.json.items.find((one: { email: string }) => one.email === 'olga@acme.test')
    const change = await admin.call(`PATCH /organizations/acme/members/${self.id}`, {
      role: 'viewer',
    })
    assert.equal(change.json.code, 'sign_in_too_old')
    assert.equal((await admin.call('POST /organizations/acme/keys', { name: 'k' })).status, 201)
  })
})

for (const format of ['jwt', 'opaque'] as const) {
  for (const engine of engines) {
    describe(`${format} sessions on ${engine}`, () => {
      let product: TestProduct
      before(async () => {
        product = await productForTests({ engine, settings: { SESSION_FORMAT: format } })
        await firstOwner(product)
      })
      after(async () => await product[Symbol.asyncDispose]())

      test('role change, deactivation and removal end every session at once, on every node', async () => {
        const owner = await signedInByLink(product, 'olga@acme.test')
        const node = await product.anotherNode()
        const steps = [
          async (path: string) => await owner.call(`PATCH ${path}`, { role: 'admin' }),
          async (path: string) => await owner.call(`PATCH ${path}`, { active: false }),
          async (path: string) => await owner.call(`DELETE ${path}`),
        ]
        for (const [index, step] of steps.entries()) {
          const email = `member${index}@x.test`
          const member = await memberOf(product, 'acme', { email, role: 'viewer' })
          const there = personWith(product.baseUrl, member.cookie, `http://127.0.0.1:${node.port}`)
          assert.equal((await there.call('GET /me')).status, 200)
          assert.equal((await member.call('GET /me')).status, 200)
          const members = await owner.call('GET /organizations/acme/members?limit=200')
          const row = members.json.items.find((one: { email: string }) => one.email === email)
          const done = await step(`/organizations/acme/members/${row.id}`)
          assert.equal(done.status, 200, done.text)
          assert.equal((await member.call('GET /me')).status, 401)
          assert.equal((await there.call('GET /me')).status, 401)
        }
        await node.stop()
      })

      test('own sessions are listed and ended one by one; an administrator ends a member’s; all of it audited', async () => {
        const owner = await signedInByLink(product, 'olga@acme.test')
        const email = 's7@x.test'
        const one = await memberOf(product, 'acme', { email, role: 'viewer' })
        const two = await signedInByLink(product, email)
        const three = await signedInByLink(product, email)
        const listed = await one.call('GET /me/sessions')
        assert.equal(listed.json.items.length, 3)
        assert.equal(listed.json.items.filter((it: { current: boolean }) => it.current).length, 1)
        const newest = listed.json.items[0]
        assert.equal((await one.call(`DELETE /me/sessions/${newest.id}`)).status, 200)
        assert.equal((await three.call('GET /me')).status, 401)
        assert.equal((await two.call('GET /me')).status, 200)
        assert.equal((await one.call('DELETE /me/sessions')).json.ended, 1)
        assert.equal((await two.call('GET /me')).status, 401)
        const members = await owner.call('GET /organizations/acme/members?limit=200')
        const row = members.json.items.find((it: { email: string }) => it.email === email)
        const path = `/organizations/acme/members/${row.id}/sessions`
        assert.equal((await owner.call(`DELETE ${path}`)).json.sessions, 1)
        assert.equal((await one.call('GET /me')).status, 401)
        const audit = await owner.call('GET /organizations/acme/audit')
        const actions = audit.json.items.map((it: { action: string }) => it.action)
        for (const action of ['session.started', 'session.ended', 'member.sessions_ended']) {
          assert.ok(actions.includes(action), action)
        }
      })

      test('signing out is recorded, as what the person did', async () => {
        const owner = await signedInByLink(product, 'olga@acme.test')
        const person = await memberOf(product, 'acme', { email: 'out@acme.test', role: 'viewer' })
        const { id: userId, session } = (await person.call('GET /me')).json
        assert.equal((await person.call('POST /auth/logout')).status, 204)
        const audit = await owner.call('GET /organizations/acme/audit?action=session.ended')
        const [{ actor, detail }] = audit.json.items
        assert.equal(actor.id, userId)
        assert.deepEqual(detail, { sessions: [session.id], reason: 'signed_out' })
      })

      test('a session is over after its time, and a clock that is set back revives nothing', async () => {
        const person = await signedInByLink(product, 'olga@acme.test')
        assert.equal((await person.call('GET /me')).status, 200)
        if (format === 'opaque') {
          product.clock.forward(hourMs)
          assert.equal((await person.call('GET /me')).status, 200, 'use keeps it alive')
          await until(
            async () => await hasNotedUse(person, product.clock.now()),
            'the use is noted',
          )
          product.clock.forward(1.5 * hourMs)
          assert.equal((await person.call('GET /me')).status, 200, 'use an hour ago too')
          product.clock.forward(2 * hourMs + 60_000)
          assert.equal((await person.call('GET /me')).status, 401, 'two idle hours end it')
          product.clock.forward(-3 * hourMs)
        } else {
          product.clock.forward(23 * hourMs)
          assert.equal((await person.call('GET /me')).status, 200)
          product.clock.forward(hourMs + 1000)
          assert.equal((await person.call('GET /me')).status, 401)
          product.clock.forward(-12 * hourMs)
        }
        assert.equal((await person.call('GET /me')).status, 401)
        const node = await product.anotherNode()
        const there = personWith(product.baseUrl, person.cookie, `http://127.0.0.1:${node.port}`)
        assert.equal((await there.call('GET /me')).status, 401, 'nor on a node that starts now')
        await node.stop()
      })
    })
  }
}

/** Tells whether a session's latest use has been stored; that happens in the background. */
async function hasNotedUse(person: Person, atMs: number): Promise<boolean> {
  const { json } = await person.call('GET /me/sessions')
  const { items } = json as { items: { current: boolean; last_seen_at: string }[] }
  return items.some((one) => one.current && atMs - Date.parse(one.last_seen_at) < hourMs / 2)
}
