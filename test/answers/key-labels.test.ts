import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { firstOwner, type Person } from '../harness/person.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'

const at = '/organizations/acme/keys'

describe('labels of keys over the API', () => {
  let product: TestProduct
  let owner: Person
  before(async () => {
    product = await productForTests()
    owner = await firstOwner(product)
  })
  after(async () => await product[Symbol.asyncDispose]())

  test('an edit replaces all labels; null, {} and none clear them', async () => {
    const made = await owner.call(`POST ${at}`, {
      name: 'one',
      labels: { team: 'payments', constructor: 'c', env: 'prod' },
    })
    assert.equal(made.status, 201)
    const { id } = made.json.key as { id: string }
    const shown = JSON.stringify(made.json.key.labels)
    assert.equal(shown, '{"constructor":"c","env":"prod","team":"payments"}')
    const put = async (body: object) =>
      await owner.call(`PUT ${at}/${id}`, { name: 'one', ...body })
    const replaced = await put({ labels: { env: 'test' } })
    assert.deepEqual(replaced.json.labels, { env: 'test' })
    for (const body of [{ labels: null }, { labels: {} }, {}]) {
      await put({ labels: { env: 'test' } })
      const cleared = await put(body)
      assert.deepEqual([cleared.status, cleared.json.labels], [200, null], JSON.stringify(body))
    }
  })

  test('wrong labels and filters are refused with invalid_input', async () => {
    for (const labels of [
      ['team'],
      'team',
      { Team: 'x' },
      { team: 1 },
      { team: null },
      { team: 'x'.repeat(129) },
      { team: 'a\tb' },
      Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`l${n}`, ''])),
    ]) {
      const { status, json } = await owner.call(`POST ${at}`, { name: 'wrong', labels })
      assert.deepEqual([status, json.code], [400, 'invalid_input'], JSON.stringify(labels))
    }
    // The parser of JSON bodies refuses this name, whatever the route.
    const labels = JSON.parse('{"__proto__": "x"}') as object
    const { json } = await owner.call(`POST ${at}`, { name: 'wrong', labels })
    assert.equal(json.code, 'bad_request')
    for (const query of ['label=', 'label=Team:x', 'state=active&state=active', labelTimes(17)]) {
      const { status, json } = await owner.call(`GET ${at}?${query}`)
      assert.deepEqual([status, json.code], [400, 'invalid_input'], query)
    }
    assert.equal((await owner.call(`GET ${at}?${labelTimes(16)}`)).status, 200)
  })

  test('the list is filtered by each label that is given, across pages', async () => {
    for (const [name, labels] of [
      ['f1', { team: 'f', note: 'a,b:c' }],
      ['f2', { team: 'f' }],
      ['f3', { team: 'f', note: 'other' }],
    ] as const) {
      await owner.call(`POST ${at}`, { name, labels })
    }
    const names = async (query: string) => {
      const { json } = await owner.call(`GET ${at}?${query}`)
      return { names: (json.items as { name: string }[]).map(({ name }) => name), next: json.next }
    }
    assert.deepEqual((await names('label=team:f&label=note')).names, ['f3', 'f1'])
    assert.deepEqual((await names('label=team:f&label=note:a,b:c')).names, ['f1'])
    const first = await names('label=team:f&limit=2')
    assert.deepEqual(first.names, ['f3', 'f2'])
    const second = await names(`label=team:f&limit=2&after=${String(first.next)}`)
    assert.deepEqual([second.names, second.next], [['f1'], null])
  })
})

function labelTimes(times: number): string {
  return Array.from({ length: times }, (_, n) => `label=l${n}`).join('&')
}
