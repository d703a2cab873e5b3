// RFC 3339 (section 5.7) allows leap seconds, but we refuse them, because comparisons with such a time would always be
// false.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { firstOwner, type Person } from '../harness/person.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'

const leapSecond = '2036-12-31T23:59:60Z'
const at = '/organizations/acme'

describe('a leap second', () => {
  let product: TestProduct
  let owner: Person
  before(async () => {
    product = await productForTests()
    owner = await firstOwner(product)
  })
  after(async () => await product[Symbol.asyncDispose]())

  async function isRefused(route: string, body?: object): Promise<void> {
    const { status, json } = await owner.call(route, body)
    assert.deepEqual([status, json.code], [400, 'invalid_input'], route)
    assert.match(json.detail, /There is no such time|must be before/, route)
  }

  test('is no end of a key or an access token: neither would ever end', async () => {
    const end = { expires_at: leapSecond }
    await isRefused(`POST ${at}/keys`, { name: 'endless', ...end })
    await isRefused(`POST ${at}/access-tokens`, {
      name: 'endless',
      permissions: ['traffic.see'],
      ...end,
    })
    const { json } = await owner.call(`POST ${at}/keys`, { name: 'a key' })
    await isRefused(`PUT ${at}/keys/${json.key.id}`, { name: 'a key', ...end })
  })

  test('is no bound of a list or a chart', async () => {
    const since = `from=${encodeURIComponent(leapSecond)}`
    const range = `${since}&to=2037-01-01T00:00:00Z&step_ms=3600000`
    const endpoint = await owner.call(`POST ${at}/webhooks/endpoints`, {
      url: 'http://127.0.0.1:9/hook',
    })
    for (const path of [
      ...[`calls?${since}`, `calls/top?${since}`, `rollups?${range}`, `sign-ins?${range}`],
      ...[`audit?${since}`, `audit?until=${encodeURIComponent(leapSecond)}`],
      `webhooks/deliveries?${since}`,
      `webhooks/endpoints/${endpoint.json.endpoint?.id ?? endpoint.json.id}/figures?${range}`,
    ]) {
      await isRefused(`GET ${at}/${path}`)
    }
  })
})
