import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { firstOwner, type Person } from '../harness/person.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'

describe('a JSON body', () => {
  let product: TestProduct
  let owner: Person
  before(async () => {
    product = await productForTests()
    owner = await firstOwner(product)
  })
  after(async () => await product[Symbol.asyncDispose]())

  async function sent(body: string | Uint8Array<ArrayBuffer>) {
    const answer = await fetch(`${product.baseUrl}/api/v1/organizations/acme/keys`, {
      method: 'POST',
      headers: {
        cookie: `__Host-session=${owner.cookie ?? ''}`,
        origin: product.baseUrl,
        'content-type': 'application/json',
      },
      body,
    })
    const { code, detail } = (await answer.json()) as { code?: string; detail?: string }
    return [answer.status, code, detail]
  }

  const wrong = (what: string) => [400, 'bad_request', `The JSON of the request body ${what}.`]

  test('that names a member twice is refused: another reader might see the other value', async () => {
    const twice = '{"name":"a","cidrs":["10.0.0.0/8"],"cidrs":null}'
    assert.deepEqual(await sent(twice), wrong('names a member twice'))
  })

  test('that is not UTF-8 is refused, not mended', async () => {
    const broken = Uint8Array.from([...Buffer.from('{"name":"'), 0xff, ...Buffer.from('"}')])
    assert.deepEqual(await sent(broken), wrong('is not valid UTF-8'))
  })

  test('that is wrong, goes on after its end, or is empty is refused with where', async () => {
    assert.deepEqual(await sent('{"name":nope}'), wrong('is wrong at character 9'))
    assert.deepEqual(await sent('{"name":"a"} {}'), wrong('goes on after its end'))
    assert.deepEqual(await sent(''), [
      400,
      'bad_request',
      'The request body is empty, but its type says that it is JSON.',
    ])
  })

  test('that names __proto__ is refused', async () => {
    const named = '{"name":"a","__proto__":{"role":"owner"}}'
    assert.deepEqual(await sent(named), wrong('has a member with a name that is not allowed'))
  })

  test('of very many values is refused at the ten thousandth', async () => {
    const [status, code, detail] = await sent(`[${'[],'.repeat(20_000)}[]]`)
    assert.deepEqual(
      [status, code, detail],
      [400, 'invalid_input', 'The request holds more than 10000 values.'],
    )
  })
})

test('a question mark within a query belongs to the value that it is in', async () => {
  await using product = await productForTests()
  const owner = await firstOwner(product)
  const asked = async (search: string): Promise<number> =>
    (await owner.call(`GET /organizations/acme/members?${search}`)).json.items.length
  assert.equal(await asked('search=olga'), 1)
  assert.equal(await asked('search=olga?role=viewer'), 0)
})
