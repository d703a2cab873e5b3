import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { firstOwner, personWith, type Person, type Reply } from '../harness/person.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'
import { intercept } from '../harness/terminal.ts'

interface Description {
  readonly paths: Readonly<Record<string, Record<string, { parameters?: { name: string }[] }>>>
}

describe('a list whose cursor is not one of its own', () => {
  let product: TestProduct
  let owner: Person
  let operator: (route: string) => Promise<Reply>
  let lists: string[]
  before(async () => {
    product = await productForTests()
    owner = await firstOwner(product)
    const words = ['token', 'issue', '--operator', '--name', 'provisioning', '--json']
    const { code, out, err } = await intercept(words, { env: product.env })
    assert.equal(code, 0, err)
    const authorization = `Bearer ${JSON.parse(out).secret}`
    const program = personWith(product.baseUrl)
    operator = async (route) => await program.call(route, undefined, { authorization })
    const answer = await fetch(`${product.baseUrl}/api/v1/openapi.json`)
    const { paths } = (await answer.json()) as Description
    lists = Object.entries(paths).flatMap(([path, { get }]) =>
      get?.parameters?.some(({ name }) => name === 'after') === true ? [path] : [],
    )
  })
  after(async () => await product[Symbol.asyncDispose]())

  test('answers 400, and never its first page once more', async () => {
    assert.ok(lists.length >= 10, lists.join())
    for (const path of lists) {
      const ask = path.includes('/operator/') ? operator : owner.call
      const route = path.replace(/^\/api\/v1/, '').replace('{organization}', 'acme')
      const first = await ask(`GET ${route}`)
      assert.equal(first.status, 200, `${route}: ${first.text}`)
      for (const cursor of ['NO CURSOR', '1.5', '-1', 'usr_00000000000000000000000000']) {
        const address = `${route}?after=${encodeURIComponent(cursor)}`
        const { status, json } = await ask(`GET ${address}`)
        assert.deepEqual([status, json.code], [400, 'invalid_input'], address)
      }
    }
  })
})
