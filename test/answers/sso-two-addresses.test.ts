import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { portForTests } from '../harness/ports.ts'
import { hostileIdp, type HostileIdp } from '../harness/hostile-idp.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'
import { Jar } from '../harness/sign-in.ts'
import { command, connect, type Connected } from '../harness/sso.ts'

describe('the company sign-in where the identity address is another one', () => {
  let product: TestProduct
  let idp: HostileIdp
  let connection: Connected
  let authUrl: string

  before(async () => {
    idp = await hostileIdp({})
    const port = await portForTests()
    authUrl = `http://127.0.0.1:${port}`
    product = await productForTests({
      settings: { PORT: String(port), BASE_URL: `http://localhost:${port}`, AUTH_URL: authUrl },
    })
    await command(product, 'org create acme --plan enterprise')
    connection = await connect(product, {
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

  async function handOver(jar: Jar): Promise<string> {
    const start = await jar.fetch(`${product.baseUrl}/api/v1/auth/sso/login?organization=acme`)
    const there = await fetch(start.headers.get('location') ?? '', { redirect: 'manual' })
    const callback = there.headers.get('location') ?? ''
    assert.ok(callback.startsWith(`${authUrl}/`), callback)
    // At the identity address the browser has none of our cookies.
    const over = await fetch(callback, { redirect: 'manual' })
    assert.equal(over.status, 302)
    assert.equal(over.headers.get('referrer-policy'), 'no-referrer')
    return over.headers.get('location') ?? ''
  }

  test('the answer is handed over to the base address, once, to the browser that started', async () => {
    assert.equal(connection.redirect_uri, `${authUrl}/api/v1/auth/sso/${connection.id}/callback`)
    const jar = new Jar()
    const back = await handOver(jar)
    assert.ok(
      back.startsWith(`${product.baseUrl}/api/v1/auth/sso/${connection.id}/callback?handover=`),
    )
    assert.equal((await new Jar().fetch(back)).status, 400)
    const landed = await jar.fetch(back)
    assert.equal(landed.status, 200, await landed.text())
    assert.ok(jar.get('__Host-session'))
    assert.equal((await jar.fetch(back)).status, 400)
  })

  test('a hand-over code is worth nothing after 30 seconds or in another browser', async () => {
    const jar = new Jar()
    const back = await handOver(jar)
    const stranger = new Jar()
    await handOver(stranger)
    // The stranger has another sign-in in progress, so the state does not match.
    assert.equal((await stranger.fetch(back)).status, 400)
    const late = new Jar()
    const tooLate = await handOver(late)
    product.clock.forward(31_000)
    assert.equal((await late.fetch(tooLate)).status, 400)
    product.clock.forward(-31_000)
  })
})

describe('the company sign-in where the identity address differs by its port alone', () => {
  test('the answer is handed over too: cookies know no ports, and people land at the base address', async () => {
    await using idp = await hostileIdp({})
    await using product = await productForTests({ settings: { AUTH_URL: 'http://localhost:1' } })
    await command(product, 'org create acme --plan enterprise')
    await connect(product, {
      organization: 'acme',
      issuer: idp.issuerOf('honest'),
      clientId: 'intercept',
      secret: 's',
      domain: 'acme.test',
    })
    const jar = new Jar()
    const start = await jar.fetch(`${product.baseUrl}/api/v1/auth/sso/login?organization=acme`)
    const there = await fetch(start.headers.get('location') ?? '', { redirect: 'manual' })
    const callback = new URL(there.headers.get('location') ?? '')
    assert.equal(callback.origin, 'http://localhost:1')
    // Requests the callback at the base address, as a proxy in front of the identity address would forward it.
    const over = await jar.fetch(product.baseUrl + callback.pathname + callback.search)
    assert.equal(over.status, 302)
    const back = over.headers.get('location') ?? ''
    assert.ok(back.startsWith(`${product.baseUrl}${callback.pathname}?handover=`), back)
    assert.equal((await jar.fetch(back)).status, 200)
    assert.ok(jar.get('__Host-session'))
  })
})
