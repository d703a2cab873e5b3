import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { hostileIdp, type HostileIdp } from '../harness/hostile-idp.ts'
import { firstOwner, memberOf, withStore, type Person } from '../harness/person.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'
import { Jar } from '../harness/sign-in.ts'
import { command, connect, walk, type Connected } from '../harness/sso.ts'

describe('the first sign-in of somebody who is here already', () => {
  let product: TestProduct
  let idp: HostileIdp
  let owner: Person
  let admin: Person
  let acme: Connected

  before(async () => {
    idp = await hostileIdp({})
    product = await productForTests()
    owner = await firstOwner(product)
    await command(product, 'org set-plan acme enterprise')
    admin = await memberOf(product, 'acme', { email: 'adam@acme.test', role: 'admin' })
    acme = await connect(product, {
      organization: 'acme',
      issuer: idp.issuerOf('honest'),
      clientId: 'intercept',
      secret: 's',
      domain: 'acme.test',
    })
  })
  after(async () => {
    await product[Symbol.asyncDispose]()
    await idp[Symbol.asyncDispose]()
  })

  async function arrive(claims: { sub: string; email: string }): Promise<Response> {
    idp.person = { email_verified: true, name: claims.sub, ...claims }
    return await walk(new Jar(), acme.initiate_login_uri)
  }
  async function save(person: Person): Promise<void> {
    const path = `/organizations/acme/connections/${acme.id}`
    assert.equal((await person.call(`PATCH ${path}`, { name: 'The company' })).status, 200)
  }
  const refusalOf = (answer: Response): string | null => answer.headers.get('intercept-refused')
  const usedUp = async (): Promise<number> =>
    await withStore(product, async (store) => {
      const rows = await store.query.selectFrom('used_once').select('digest').execute()
      return rows.length
    })

  test('an answer without the state of the browser’s sign-in writes nothing and asks the provider nothing', async () => {
    const jar = new Jar()
    const start = await jar.fetch(acme.initiate_login_uri)
    const back = await fetch(start.headers.get('location') ?? '', { redirect: 'manual' })
    const right = back.headers.get('location') ?? ''
    const cookie = jar.signIn()
    const [before, asked] = [await usedUp(), idp.asked('honest', 'token')]
    for (const [query, code] of [
      ['', 'callback_invalid'],
      ['?code=x', 'callback_invalid'],
      ['?code=x&state=another', 'callback_invalid'],
      ['?code=x&state=a&state=b', 'callback_invalid'],
      ['?code=x&state[]=a', 'callback_invalid'],
    ] as const) {
      jar.set(cookie.name, cookie.value)
      assert.equal(refusalOf(await jar.fetch(acme.redirect_uri + query)), code, query)
    }
    assert.equal(await usedUp(), before)
    assert.equal(idp.asked('honest', 'token'), asked)
    // The correct callback still works, once.
    jar.set(cookie.name, cookie.value)
    idp.person = { sub: 'nora', email: 'nora@acme.test', email_verified: true, name: 'Nora' }
    assert.equal((await jar.fetch(right)).status, 200)
    assert.equal(await usedUp(), before + 1)
    jar.set(cookie.name, cookie.value)
    assert.equal(refusalOf(await jar.fetch(right)), 'callback_invalid')
  })

  test('a test of the connection is not its last sign-in', async () => {
    const shown = async () =>
      (await owner.call(`GET /organizations/acme/connections/${acme.id}`)).json as {
        lastUsedAt: string
        tested_at: string | null
      }
    const before = await shown()
    assert.equal(before.tested_at, null)
    product.clock.forward(60_000)
    const path = `/organizations/acme/connections/${acme.id}/tests`
    const started = await owner.call(`POST ${path}`)
    await walk(new Jar(), started.json.address as string)
    assert.equal((await owner.call(`GET ${path}/${started.json.id}`)).json.passed, true)
    const after = await shown()
    assert.notEqual(after.tested_at, null)
    assert.equal(after.lastUsedAt, before.lastUsedAt)
  })

  test('a provider that an administrator has set does not become an owner’s sign-in unasked', async () => {
    await save(admin)
    const shown = await owner.call(`GET /organizations/acme/connections/${acme.id}`)
    assert.equal(shown.json.owners_confirm, true)
    const claims = { sub: 'not-olga', email: 'olga@acme.test' }
    assert.equal(refusalOf(await arrive(claims)), 'sso_confirmation_required')
    // Adam is not an owner, so his account is linked without confirmation.
    const adam = await arrive({ sub: 'adam', email: 'adam@acme.test' })
    assert.equal(adam.status, 200, await adam.text())
  })

  test('an administrator’s SCIM token does not lead to an owner’s account either', async () => {
    await save(owner)
    const issue = async (person: Person): Promise<{ id: string; secret: string }> => {
      const issued = await person.call('POST /organizations/acme/directory/tokens', { name: 'x' })
      assert.equal(issued.status, 201, issued.text)
      return { id: issued.json.token.id as string, secret: issued.json.secret as string }
    }
    const token = await issue(admin)
    const sent = await fetch(`${product.baseUrl}/scim/v2/Users`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token.secret}`,
        'content-type': 'application/scim+json',
      },
      body: JSON.stringify({
        schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
        userName: 'olga@acme.test',
        active: true,
      }),
    })
    assert.equal(sent.status, 201, await sent.text())
    const claims = { sub: 'not-olga', email: 'olga@acme.test' }
    assert.equal(refusalOf(await arrive(claims)), 'sso_confirmation_required')
    // Once an owner has saved the connection and issued the only active token, an owner's account is linked without
    // confirmation.
    await issue(owner)
    const path = `POST /organizations/acme/directory/tokens/${token.id}/revoke`
    assert.ok((await admin.call(path)).status < 300)
    const olga = await arrive({ sub: 'olga', email: 'olga@acme.test' })
    assert.equal(olga.status, 200, await olga.text())
  })
})
