import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { organizations } from '../../src/store/index.ts'
import { eventsThatFit } from '../harness/events.ts'
import { firstOwner, withStore, type Person } from '../harness/person.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'
import { startReceiver, type Receiver } from '../harness/receiver.ts'
import { until } from '../harness/webhooks.ts'

const O = '/organizations/acme'

describe('webhooks by the JSON API', { timeout: 60_000 }, () => {
  const stack = new AsyncDisposableStack()
  let product: TestProduct
  let owner: Person
  let receiver: Receiver
  before(async () => {
    product = stack.use(await productForTests())
    receiver = stack.use(await startReceiver())
    owner = await firstOwner(product)
  })
  after(async () => await stack.disposeAsync())

  async function answer(route: string, body?: unknown, status = 200) {
    const got = await owner.call(route, body)
    assert.equal(got.status, status, `${route}: ${got.text}`)
    return got.json
  }

  test('an endpoint lives: added, pinged, changed, switched off and on, deleted', async () => {
    const added = await answer(
      `POST ${O}/webhooks/endpoints`,
      { url: receiver.url, headers: { 'X-Token': 'canary-header' }, asymmetric: true },
      201,
    )
    assert.equal(added.state, 'active')
    assert.deepEqual(added.header_names, ['X-Token'])
    assert.match(added.public_key, /^whpk_/)
    const E = `${O}/webhooks/endpoints/${added.id}`

    const ping = await answer(`POST ${E}/ping`, {}, 202)
    await until(() => receiver.arrivals.length === 1, 'the ping')
    const [arrival] = receiver.arrivals
    assert.equal(arrival!.headers['webhook-id'], ping.id)
    assert.equal(arrival!.headers['x-token'], 'canary-header')
    assert.match(String(arrival!.headers['webhook-signature']), /^v1,\S+ v1a,\S+$/)
    const { current } = await answer(`GET ${O}/webhooks/secret`)
    const headers = arrival!.headers as Record<string, string>
    assert.ok(new Webhook(current.secret.slice(4)).verify(arrival!.body, headers))
    await until(
      async () => (await answer(`GET ${E}`)).deliveries.delivered === 1,
      'the books of the endpoint',
    )

    const changed = await answer(`PATCH ${E}`, { description: 'mine', types: ['webhook.ping'] })
    assert.equal(changed.description, 'mine')
    assert.deepEqual(changed.types, ['webhook.ping'])
    const elsewhere = await answer(`PATCH ${E}`, {
      url: `${receiver.url.replace('127.0.0.1', 'localhost')}/`,
    })
    assert.deepEqual(elsewhere.header_names, [], 'headers do not follow to another origin')

    assert.equal((await answer(`POST ${E}/disable`)).state, 'disabled')
    await answer(`POST ${E}/ping`, {}, 409)
    assert.equal((await answer(`POST ${E}/enable`)).state, 'active')
    await answer(`DELETE ${E}`, {}, 204)
    await answer(`GET ${E}`, undefined, 404)
  })

  test('deliveries are listed, looked into and sent again', async () => {
    const { id } = await answer(`POST ${O}/webhooks/endpoints`, { url: receiver.url }, 201)
    const before = receiver.arrivals.length
    await answer(`POST ${O}/webhooks/endpoints/${id}/sample`, { type: 'member.joined' }, 202)
    await until(() => receiver.arrivals.length === before + 1, 'the sample')
    const page = `GET ${O}/webhooks/deliveries?endpoint=${id}`
    await until(async () => (await answer(page)).items[0]?.state === 'delivered', 'the row')
    const [row] = (await answer(page)).items
    const whole = await answer(`GET ${O}/webhooks/deliveries/${row.id}`)
    assert.equal(whole.body, receiver.arrivals.at(-1)!.body.toString())
    assert.equal(whole.attempt_list.length, 1)
    assert.equal(whole.attempt_list[0].status, 204)

    await answer(`POST ${O}/webhooks/deliveries/${row.id}/replay`, {}, 202)
    await until(() => receiver.arrivals.length === before + 2, 'the replay')
    const [first, second] = receiver.arrivals.slice(-2)
    assert.equal(first!.headers['webhook-id'], second!.headers['webhook-id'])
    assert.deepEqual(first!.body, second!.body)

    const filter = { endpoint: id, state: 'delivered' }
    await until(async () => (await answer(page)).items[0]?.state === 'delivered', 'the row')
    assert.deepEqual(await answer(`POST ${O}/webhooks/replays/count`, filter), { deliveries: 1 })
    const operation = await answer(`POST ${O}/webhooks/replays`, filter, 202)
    assert.equal(operation.total, 1)
    const at = `${O}/operations/${operation.id}`
    await until(async () => (await answer(`GET ${at}`)).state === 'done', 'the operation')
    await answer(`POST ${at}/pause`, {}, 409)
    assert.equal((await answer(`GET ${O}/operations`)).items[0].id, operation.id)
    await until(() => receiver.arrivals.length === before + 3, 'the second replay')
  })

  test('events are pulled in their order by a cursor', async () => {
    const all = await answer(`GET ${O}/events?limit=200`)
    assert.ok(all.items.length >= 2)
    let after = ''
    const seen: number[] = []
    for (;;) {
      const page = await answer(`GET ${O}/events?limit=1${after && `&after=${after}`}`)
      seen.push(...page.items.map((event: { sequence: number }) => event.sequence))
      after = page.next
      if (!page.more) break
    }
    assert.deepEqual(
      seen,
      all.items.map((event: { sequence: number }) => event.sequence),
    )
    assert.equal((await answer(`GET ${O}/events?after=${after}`)).next, after)
    assert.equal(JSON.parse(all.items[0].body).id, all.items[0].id)
  })

  test('the types carry a schema and a sample', async () => {
    const { items } = await answer(`GET ${O}/webhooks/types`)
    assert.ok(items.length >= 31)
    for (const { type, schema, sample } of items) {
      assert.equal(schema.properties.type.const, type)
      assert.equal(sample.type, type)
    }
  })

  test('what cannot be an endpoint is refused with its code', async () => {
    const wrong: [object, number, string][] = [
      [{ url: 'http://10.0.0.1/' }, 400, 'outbound_blocked'],
      [{ url: 'http://169.254.169.254/' }, 400, 'outbound_blocked'],
      [{ url: 'ftp://example.com/' }, 400, 'outbound_blocked'],
      [{ url: receiver.url, types: ['no.such'] }, 400, 'invalid_input'],
      [{ url: receiver.url, headers: { Host: 'x' } }, 400, 'invalid_input'],
      [{ url: receiver.url, headers: { 'webhook-id': 'x' } }, 400, 'invalid_input'],
      [{ url: receiver.url, headers: { Webhook_Signature: 'x' } }, 400, 'invalid_input'],
      [{ url: receiver.url, headers: { 'X-A': 'a\r\nb: c' } }, 400, 'invalid_input'],
      [{ url: receiver.url, rate_per_second: 0 }, 400, 'invalid_input'],
      [{ url: receiver.url, state: 'disabled' }, 400, 'invalid_input'],
    ]
    for (const [body, status, code] of wrong) {
      const got = await owner.call(`POST ${O}/webhooks/endpoints`, body)
      assert.equal(got.status, status, JSON.stringify(body))
      assert.equal(got.json.code, code, JSON.stringify(body))
    }
    await answer(`GET ${O}/webhooks/endpoints/ep_unknown`, undefined, 404)
    await answer(`GET ${O}/webhooks/deliveries/dlv_unknown`, undefined, 404)
    await answer(`POST ${O}/webhooks/deliveries/dlv_unknown/replay`, {}, 404)
    await answer(`GET ${O}/operations/op_unknown`, undefined, 404)
  })

  test('the signing secret is rotated with an overlap that can be ended', async () => {
    const before = await answer(`GET ${O}/webhooks/secret`)
    const rotated = await answer(`POST ${O}/webhooks/secret/rotate`, { overlap_seconds: 3600 }, 201)
    assert.notEqual(rotated.current.secret, before.current.secret)
    assert.equal(rotated.old[0].hint, before.current.hint)
    await answer(`POST ${O}/webhooks/secret/end-old`, {}, 204)
    assert.deepEqual((await answer(`GET ${O}/webhooks/secret`)).old, [])
  })

  test('a secret that is rotated again and again keeps its signature header short', async () => {
    const rotate = `POST ${O}/webhooks/secret/rotate`
    for (let rotation = 0; rotation < 9; rotation++) await answer(rotate, {}, 201)
    const refused = await answer(rotate, {}, 409)
    assert.equal(refused.code, 'conflict')
    assert.equal((await answer(rotate, { overlap_seconds: 0 }, 201)).old.length, 0)
  })

  test('every event that was published here is what the catalogue says of its type', async () => {
    const types = await withStore(product, async (store) => {
      const { id } = (await organizations.findBySlug(store, 'acme'))!
      return await eventsThatFit(store, id)
    })
    assert.ok(types.includes('webhook.ping'))
  })
})
