import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { faults } from '../../src/oidc/index.ts'
import { hostileIdp, type HostileIdp } from '../harness/hostile-idp.ts'
import { lies } from '../harness/hostile-lies.ts'
import { firstOwner, withStore, type Person } from '../harness/person.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'
import { Jar } from '../harness/sign-in.ts'
import { command, connect, walk, type Connected } from '../harness/sso.ts'
import { intercept } from '../harness/terminal.ts'

// Lies that take seconds, because they end in a time-out; oidc-hostile.test.ts tests them without the whole product.
const slow = Object.entries(lies)
  .filter(([, { stops }]) => stops[1] === 'timeout')
  .map(([name]) => name)
const quick = Object.entries(lies).filter(([name]) => !slow.includes(name))
const perOrganization = 60

describe('the whole product refuses a provider that lies', () => {
  let product: TestProduct
  let idp: HostileIdp
  let owner: Person
  /** What stopped each connection's sign-in, by the connection's id. */
  const stopped = new Map<string, string>()
  let turned = false
  before(async () => {
    idp = await hostileIdp({
      ...lies,
      turncoat: {
        discovery: (document) =>
          turned ? { ...document, issuer: 'https://evil.example' } : document,
      },
    })
    product = await productForTests()
    owner = await firstOwner(product)
    await command(product, 'org set-plan acme enterprise')
    for (let at = 0; at * perOrganization < quick.length; at++) {
      await command(product, `org create liars-${at} --plan enterprise`)
    }
  })
  after(async () => {
    await product[Symbol.asyncDispose]()
    await idp[Symbol.asyncDispose]()
  })

  test('an honest provider signs its person in: a session cookie, and a page that moves on', async () => {
    await connectTo('honest', 'acme', 'acme.test')
    const jar = new Jar()
    const landed = await walk(jar, `${product.baseUrl}/api/v1/auth/sso/login?email=ada@acme.test`)
    assert.equal(landed.status, 200)
    assert.match(await landed.text(), /http-equiv="refresh"/)
    assert.equal(landed.headers.get('cache-control'), 'no-store')
    assert.equal(landed.headers.get('referrer-policy'), 'no-referrer')
    assert.ok(jar.get('__Host-session'))
    assert.equal(jar.signIn().value, '')
  })

  for (const [index, [name, { stops }]] of quick.entries()) {
    const [code] = faults[stops[1]]
    test(`${name} ends on a page with ${code}, without a session`, async () => {
      const organization = `liars-${Math.floor(index / perOrganization)}`
      if (stops[0] === 'discovery') {
        const words = `sso connect ${organization} --issuer ${idp.issuerOf(name)} --client-id intercept --client-secret-stdin --json`
        const refused = await intercept(words.split(' '), { env: { ...product.env }, input: 's' })
        assert.equal(refused.code, 1)
        assert.match(refused.err, new RegExp(code))
        return
      }
      const made = await connectTo(name, organization)
      stopped.set(made.id, stops[1])
      const jar = new Jar()
      const answer = await walk(jar, made.initiate_login_uri)
      const page = await answer.text()
      const expected =
        stops[0] === 'userinfo' && code.startsWith('id_token') ? 'idp_userinfo_invalid' : code
      assert.equal(answer.headers.get('intercept-refused'), expected, page)
      assert.ok(answer.status >= 400, String(answer.status))
      assert.equal(jar.get('__Host-session'), undefined)
      assert.match(page, new RegExp(expected))
      assert.match(answer.headers.get('content-security-policy') ?? '', /default-src 'none'/)
      assert.ok(!/<script>alert|<img src=x/.test(page))
      assert.ok(!page.includes('hostile-secret'))
    })
  }

  test('every refusal is in the audit log with its code and check', async () => {
    const entries = await withStore(
      product,
      async (store) =>
        await store.query
          .selectFrom('audit_entry')
          .select(['subject_id', 'detail'])
          .where('action', '=', 'sso.refused')
          .execute(),
    )
    const noted = new Map(
      entries.map(({ subject_id, detail }) => [
        subject_id,
        JSON.parse(detail) as { code: string; check: string },
      ]),
    )
    for (const [id, check] of stopped) assert.equal(noted.get(id)?.check, check)
    assert.ok(stopped.size > 150)
  })

  test('a provider that begins to lie after it was connected: nobody is sent there, the page and the log say why', async () => {
    const made = await connectTo('turncoat', 'acme')
    turned = true
    const answer = await walk(new Jar(), made.initiate_login_uri)
    assert.equal(answer.headers.get('intercept-refused'), 'idp_discovery_invalid')
    assert.equal(answer.status, 502)
    const { json } = await owner.call('GET /organizations/acme/audit?limit=5')
    const text = JSON.stringify(json)
    assert.match(text, /sso\.refused/)
    assert.match(text, /"check":"issuer_mismatch"/)
    // A test of the connection stops at the same check and gives the reason.
    const path = `/organizations/acme/connections/${made.id}/tests`
    const started = await owner.call(`POST ${path}`)
    assert.equal((await walk(new Jar(), started.json.address as string)).status, 502)
    const result = await owner.call(`GET ${path}/${started.json.id}`)
    assert.equal(result.json.passed, false)
    assert.equal(result.json.lines[0].check, 'issuer_mismatch')
  })

  async function connectTo(lie: string, organization: string, domain?: string): Promise<Connected> {
    return await connect(product, {
      organization,
      issuer: idp.issuerOf(lie),
      clientId: 'intercept',
      secret: idp.clientSecret,
      ...(domain === undefined ? {} : { domain }),
    })
  }
})
