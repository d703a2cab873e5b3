import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { firstOwner, type Person } from '../harness/person.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'
import { engines } from '../harness/store.ts'
import { until } from '../harness/gateway.ts'
import { upstreamForTests, type TestUpstream } from '../harness/upstream.ts'

const at = '/organizations/acme/keys'
const maxTold = 200
// The time limit is generous, because uses are written only every two seconds.
const withinMs = 20_000

for (const engine of engines) {
  describe(`who calls with a key, on ${engine}`, () => {
    let product: TestProduct
    let owner: Person
    let upstream: TestUpstream
    let id: string
    let old: string
    let fresh: string
    before(async () => {
      product = await productForTests({ engine, settings: { TRUSTED_PROXIES: '1' } })
      owner = await firstOwner(product)
      upstream = await upstreamForTests()
      const target = { slug: 'echo', upstream: upstream.url }
      await owner.call('POST /organizations/acme/targets', target)
      const issued = await owner.call(`POST ${at}`, { name: 'worker' })
      id = issued.json.key.id
      old = issued.json.secret
      await call(old, '192.0.2.1', 'before/1')
      const rotated = await owner.call(`POST ${at}/${id}/rotate`, { overlap_seconds: 3600 })
      fresh = rotated.json.secret
    })
    after(async () => {
      await upstream[Symbol.asyncDispose]()
      await product[Symbol.asyncDispose]()
    })

    /** Makes a call from `address`, as one trusted proxy reports it. */
    async function call(secret: string, address: string, agent: string): Promise<void> {
      const answer = await fetch(`${product.baseUrl}/api/v1/intercept/echo/x`, {
        headers: { 'x-api-key': secret, 'x-forwarded-for': address, 'user-agent': agent },
      })
      assert.equal(answer.status, 200)
      await answer.text()
    }

    async function callers() {
      const answer = await owner.call(`GET ${at}/${id}/callers`)
      assert.equal(answer.status, 200, answer.text)
      return answer.json as {
        stragglers: { address: string; agent: string; target: string; calls: number }[]
        recent: { agent: string; calls: number }[]
        recent_calls: number
      }
    }

    test('each straggler is told by address and agent, a rare one beside a busy one; who has changed is not', async () => {
      for (let times = 0; times < 5; times++) await call(old, '192.0.2.1', 'busy/1')
      await call(old, '192.0.2.2', 'rare/1')
      await call(old, '2001:db8::1', 'busy/1')
      await call(fresh, '192.0.2.3', 'changed/2')
      await until(async () => total((await callers()).stragglers) === 7, withinMs)
      const found = await callers()
      const counts = found.stragglers.map((one) => [`${one.address} ${one.agent}`, one.calls])
      assert.deepEqual(Object.fromEntries(counts), {
        '192.0.2.1 busy/1': 5,
        '192.0.2.2 rare/1': 1,
        '2001:db8::1 busy/1': 1,
      })
      assert.ok(found.stragglers.every(({ target }) => target === 'echo'))
      assert.ok(!JSON.stringify(found).includes(old) && !JSON.stringify(found).includes(fresh))
    })

    test('where a key is used is told of its newest calls, the key’s last target too', async () => {
      await until(async () => (await callers()).recent_calls === 9, withinMs)
      const { recent } = await callers()
      assert.equal(total(recent), 9)
      assert.deepEqual(recent.map(({ agent }) => agent).toSorted(), [
        'before/1',
        'busy/1',
        'busy/1',
        'changed/2',
        'rare/1',
      ])
      const target = await owner.call('GET /organizations/acme/targets/echo')
      const key = await owner.call(`GET ${at}/${id}`)
      assert.equal(key.json.last_used_target_id, target.json.id)
    })

    test('a caller that names itself anew each time fills no more than so many rows', async () => {
      const names = Array.from({ length: maxTold + 20 }, (_, index) => `agent/${index}`)
      await Promise.all(names.map(async (name) => await call(old, '192.0.2.9', name)))
      await until(async () => (await callers()).stragglers.length === maxTold, withinMs)
      await call(old, '192.0.2.2', 'rare/1')
      await until(async () => callsOfRare(await callers()) === 2, withinMs)
      assert.equal((await callers()).stragglers.length, maxTold)
    })

    test('when the old secret has ended nobody is a straggler any more', async () => {
      const ended = await owner.call(`POST ${at}/${id}/end-old-secret`)
      assert.equal(ended.status, 200)
      assert.deepEqual((await callers()).stragglers, [])
    })
  })
}

function total(of: readonly { readonly calls: number }[]): number {
  return of.reduce((sum, { calls }) => sum + calls, 0)
}

function callsOfRare({ stragglers }: { stragglers: readonly { agent: string; calls: number }[] }) {
  return stragglers.find(({ agent }) => agent === 'rare/1')?.calls
}
