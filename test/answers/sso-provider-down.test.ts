import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { hostileIdp, type HostileIdp } from '../harness/hostile-idp.ts'
import { firstOwner, withStore, type Person } from '../harness/person.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'
import { Jar } from '../harness/sign-in.ts'
import { command, connect, walk, type Connected } from '../harness/sso.ts'

const minuteMs = 60_000

describe('a provider that is down', () => {
  let product: TestProduct
  let alive: HostileIdp
  let dying: HostileIdp
  let owner: Person
  let acme: Connected
  let isHanging = false

  before(async () => {
    alive = await hostileIdp({})
    dying = await hostileIdp({
      mortal: { discovery: (document) => (isHanging ? { fault: 'hang' } : document) },
    })
    product = await productForTests()
    owner = await firstOwner(product)
    await command(product, 'org set-plan acme enterprise')
    await command(product, 'org create other --plan enterprise')
    const client = { clientId: 'intercept', secret: 's' }
    acme = await connect(product, {
      organization: 'acme',
      issuer: dying.issuerOf('mortal'),
      domain: 'acme.test',
      ...client,
    })
    await connect(product, {
      organization: 'other',
      issuer: alive.issuerOf('honest'),
      domain: 'other.test',
      ...client,
    })
    const me = await owner.call('GET /me')
    const policy = { required: true, break_glass: [me.json.id as string] }
    assert.equal((await owner.call('PUT /organizations/acme/sso', policy)).status, 200)
  })
  after(async () => {
    await product[Symbol.asyncDispose]()
    await alive[Symbol.asyncDispose]()
  })

  const login = (): string => `${product.baseUrl}/api/v1/auth/sso/login?organization=acme`

  test('that hangs ends in a page, for everybody who waits at once', async (t) => {
    // A sign-in never starts from a cached discovery document. These five share one new request for it, which hangs.
    isHanging = true
    const startedAt = performance.now()
    const asked = dying.asked('mortal', '.well-known/openid-configuration')
    const answers = await Promise.all(
      Array.from({ length: 5 }, async () => await fetch(login(), { redirect: 'manual' })),
    )
    const tookMs = Math.round(performance.now() - startedAt)
    t.diagnostic(`the page came after ${tookMs} ms`)
    // This proves that the product's own deadline of 5 s applied, and not undici's, which is several minutes. The bound
    // is generous because the machine may be busy.
    assert.ok(tookMs < 60_000, `${tookMs} ms`)
    for (const answer of answers) {
      assert.equal(answer.status, 504)
      assert.equal(answer.headers.get('intercept-refused'), 'idp_timeout')
      assert.match(await answer.text(), /Sign in another way/)
    }
    assert.equal(dying.asked('mortal', '.well-known/openid-configuration'), asked + 1)
    // The wall clock goes back, which must not keep the refusals in the tests below from being recorded.
    product.clock.forward(-minuteMs)
  })

  test('that is gone between start and callback ends in a page; other organizations and break-glass go on', async () => {
    isHanging = false
    const jar = new Jar()
    const start = await jar.fetch(acme.initiate_login_uri)
    assert.equal(start.status, 302)
    const there = await fetch(start.headers.get('location') ?? '', { redirect: 'manual' })
    await dying[Symbol.asyncDispose]()
    const answer = await jar.fetch(there.headers.get('location') ?? '')
    assert.equal(answer.status, 502)
    assert.equal(answer.headers.get('intercept-refused'), 'idp_unreachable')
    assert.equal(jar.get('__Host-session'), undefined)

    alive.person = { sub: 'bo', email: 'bo@other.test', email_verified: true }
    const landed = await walk(
      new Jar(),
      `${product.baseUrl}/api/v1/auth/sso/login?email=bo@other.test`,
    )
    assert.equal(landed.status, 200)
    assert.equal((await owner.call('GET /organizations/acme')).status, 200)
    const shown = await owner.call(`GET /organizations/acme/connections/${acme.id}`)
    assert.equal(shown.json.last_refusal.code, 'idp_unreachable')
  })

  test('strangers who start sign-ins at a provider that is down cannot fill the audit log', async () => {
    const noted = async (): Promise<number> =>
      await withStore(product, async (store) => {
        const rows = await store.query
          .selectFrom('audit_entry')
          .select('id')
          .where('action', '=', 'sso.refused')
          .where('subject_id', '=', acme.id)
          .execute()
        return rows.length
      })
    const starts = Array.from({ length: 230 }, async () => {
      const answer = await fetch(login(), { redirect: 'manual' })
      return answer.headers.get('intercept-refused')
    })
    assert.deepEqual([...new Set(await Promise.all(starts))], ['idp_unreachable'])
    const count = await noted()
    assert.ok(count > 100 && count < 230, String(count))
  })

  test('the last break-glass owner stays one while the company sign-in is required', async () => {
    const members = await owner.call('GET /organizations/acme/members')
    const [{ id }] = members.json.items as [{ id: string }]
    await command(product, 'member add acme second@acme.test --role owner')
    const refused = await owner.call(`DELETE /organizations/acme/members/${id}`)
    assert.equal(refused.json.code, 'break_glass_missing')
    const demoted = await owner.call(`PATCH /organizations/acme/members/${id}`, { role: 'viewer' })
    assert.equal(demoted.json.code, 'break_glass_missing')
  })
})
