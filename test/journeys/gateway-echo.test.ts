import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { prefix, until } from '../harness/gateway.ts'
import { firstOwner, type Person } from '../harness/person.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'
import { intercept } from '../harness/terminal.ts'

const upstream = 'http://echo.intercept.internal/'

describe('the built-in echo', () => {
  let product: TestProduct
  let owner: Person
  before(async () => {
    product = await productForTests()
    owner = await firstOwner(product)
  })
  after(async () => await product[Symbol.asyncDispose]())

  test('set-up link → organization → echo → key → a guarded call that is answered, and recorded', async () => {
    const at = '/organizations/acme'
    const target = await owner.call(`POST ${at}/targets`, { slug: 'echo', upstream })
    assert.equal(target.status, 201, target.text)
    const reached = await owner.call(`POST ${at}/targets/echo/reach`)
    assert.equal(reached.json.status, 200, reached.text)
    const issued = await owner.call(`POST ${at}/keys`, { name: 'first' })
    const answer = await fetch(`${product.baseUrl}${prefix}/echo/hello?x=1`, {
      method: 'POST',
      headers: { 'x-api-key': issued.json.secret, 'content-type': 'text/plain' },
      body: 'what was said',
    })
    assert.equal(answer.status, 200)
    const text = await answer.text()
    const seen = JSON.parse(text) as { method: string; url: string; body: string }
    assert.deepEqual([seen.method, seen.url, seen.body], ['POST', '/hello?x=1', 'what was said'])
    assert.ok(!text.includes(issued.json.secret))
    const id = answer.headers.get('intercept-request-id')
    await until(async () => (await owner.call(`GET ${at}/calls/${id}`)).status === 200, 20_000)
  })
})

describe('the built-in echo where loopback is closed', () => {
  let product: TestProduct
  before(async () => {
    product = await productForTests({ settings: { BASE_URL: 'https://intercept.test' } })
  })
  after(async () => await product[Symbol.asyncDispose]())

  async function run(...words: string[]) {
    return await intercept([...words, '--json'], { env: { ...product.env } })
  }

  test('it answers there too, other upstreams on this machine stay closed, and no credential comes back', async () => {
    await run('org', 'create', 'acme')
    const target = ['target', 'set', 'acme', 'echo', '--upstream'] as const
    assert.match((await run(...target, 'http://127.0.0.1:8099')).err, /outbound_blocked/)
    const set = await run(...target, upstream, '--header', 'Authorization: Bearer canary')
    assert.equal(set.code, 0, set.err)
    const issued = await run('key', 'issue', 'acme', '--name', 'first')
    const { secret } = JSON.parse(issued.out) as { secret: string }
    const answer = await fetch(`http://127.0.0.1:${product.port}${prefix}/echo/a`, {
      headers: { host: 'intercept.test', 'x-api-key': secret },
    })
    const text = await answer.text()
    assert.equal(answer.status, 200, text)
    assert.ok(!text.includes('canary') && !text.includes(secret), text)
  })
})
