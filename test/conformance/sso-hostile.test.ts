import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { faults } from '../../src/oidc/index.ts'
import { hostileIdp, type HostileIdp } from '../harness/hostile-idp.ts'
import { lies } from '../harness/hostile-lies.ts'
import { firstOwner, type Person } from '../harness/person.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'
import { Jar } from '../harness/sign-in.ts'
import { command, connect, walk, type Connected } from '../harness/sso.ts'
import { intercept } from '../harness/terminal.ts'

// What has its own limit of seconds is tested without the product around it.
const slow = ['discovery-hang', 'discovery-drip', 'token-hang']
const told = Object.entries(lies).filter(([name]) => !slow.includes(name))
const perOrganization = 60

describe('the whole product refuses a provider that lies', () => {
  let product: TestProduct
  let idp: HostileIdp
  let owner: Person
  before(async () => {
    idp = await hostileIdp(lies)
    product = await productForTests()
    owner = await firstOwner(product)
    await command(product, 'org set-plan acme enterprise')
    for (let at = 0; at * perOrganization < told.length; at++) {
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
    assert.equal(jar.get('__Host-sign-in'), undefined)
  })

  for (const [index, [name, { stops }]] of told.entries()) {
    const [code] = faults[stops[1]]
    test(`O7, O14, O15: ${name} ends on a page with ${code}, without a session`, async () => {
      const organization = `liars-${Math.floor(index / perOrganization)}`
      if (stops[0] === 'discovery') {
        const words = `sso connect ${organization} --issuer ${idp.issuerOf(name)} --client-id intercept --client-secret-stdin --json`
        const refused = await intercept(words.split(' '), { env: { ...product.env }, input: 's' })
        assert.equal(refused.code, 1)
        assert.match(refused.err, new RegExp(code))
        return
      }
      const made = await connectTo(name, organization)
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
    await connectTo('nonce-other', 'acme')
    const jar = new Jar()
    await walk(jar, `${product.baseUrl}/api/v1/auth/sso/login?organization=acme`)
    const { json } = await owner.call('GET /organizations/acme/audit?limit=20')
    const text = JSON.stringify(json)
    assert.match(text, /sso\.refused/)
    assert.match(text, /id_token_invalid/)
    assert.match(text, /"check":"nonce"/)
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
