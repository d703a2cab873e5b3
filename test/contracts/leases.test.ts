import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from 'kysely'
import { endpointLeases, type Lease, type Tx } from '../../src/store/index.ts'
import { disabled, freshHealth } from '../../src/webhooks/delivery/endpoint-health.ts'
import { createDeliveryWork } from '../../src/webhooks/delivery/work.ts'
import { engines } from '../harness/store.ts'
import { operator, webhooksForTests, type TestWebhooks } from '../harness/webhooks.ts'

const owner = 'host/1/2/node_1'
const hourMs = 3_600_000

for (const engine of engines) {
  describe(`leases of endpoints on ${engine}`, { timeout: 120_000 }, () => {
    test('who took an endpoint anew neither keeps it nor gives it back by the older lease', async () => {
      await using all = await webhooksForTests(engine, { start: false })
      const { store, clock } = all
      const { id } = await endpointOf(all)
      const before = await store.transaction(async (tx) => await take(tx, id))
      clock.forward(hourMs)
      const now = await store.transaction(async (tx) => await take(tx, id))
      assert.equal(now.leaseToken, before.leaseToken + 1)
      assert.deepEqual(await keep(all, [before]), [])
      await release(all, [before])
      assert.deepEqual(await keep(all, [before, now]), [id])
      await release(all, [before, now])
      assert.deepEqual(await keep(all, [now]), [])
    })

    test('that an endpoint is disabled is announced once, however often the answer to the commit gets lost', async () => {
      await using all = await webhooksForTests(engine, { start: false })
      const { store, clock, webhooks, organizationId } = all
      const { id } = await endpointOf(all)
      await all.publish(1)
      const work = createDeliveryWork({ store, clock, owner })
      const [endpoint] = await work.lease({ limit: 1, ttlMs: 10_000 })
      assert.equal(endpoint?.id, id)
      const health = disabled(freshHealth, 'gone')
      const batch = { outcomes: [], healths: [{ endpoint, health, lastAttemptAt: undefined }] }
      assert.equal((await work.complete(batch)).size, 0)
      assert.equal((await work.complete(batch)).size, 0)
      const events = await webhooks.events.listAfter(organizationId, { after: 0, limit: 10 })
      const types = events.map(({ type }) => type)
      assert.deepEqual(types, ['organization.plan_changed', 'webhook.endpoint_disabled'])
    })
  })
}

describe('leases of endpoints while somebody else writes them', { timeout: 120_000 }, () => {
  test('a release that has waited for a new taking on postgres leaves what was taken', async () => {
    await using all = await webhooksForTests('postgres', { start: false })
    const { store, clock } = all
    const { id } = await endpointOf(all)
    const before = await store.transaction(async (tx) => await take(tx, id))
    clock.forward(hourMs)
    let released: Promise<void> | undefined
    const now = await store.transaction(async (tx) => {
      const taken = await take(tx, id)
      released = release(all, [before])
      await all.until(async () => await somebodyWaits(tx), 'the release waits for the row')
      return taken
    })
    await released
    assert.deepEqual(await keep(all, [now]), [id])
  })
})

async function endpointOf({ webhooks, organizationId, receiver }: TestWebhooks) {
  return await webhooks.endpoints.create(organizationId, { url: receiver.url }, operator)
}

async function take(tx: Tx, id: string): Promise<Lease> {
  const lease = { owner, until: tx.now + 10_000, endpointIds: [id] }
  const [taken] = await endpointLeases.leaseEndpoints(tx, lease)
  assert.ok(taken)
  return taken
}

async function keep({ store }: TestWebhooks, leases: readonly Lease[]): Promise<string[]> {
  const kept = await store.transaction(
    async (tx) => await endpointLeases.renewLeases(tx, { owner, until: tx.now + 10_000, leases }),
  )
  return kept.map(({ id }) => id)
}

async function release(
  { store }: TestWebhooks,
  leases: readonly Lease[],
  restMs = 0,
): Promise<void> {
  const ended = leases.map(({ id, leaseToken }) => ({ id, leaseToken, restMs }))
  await store.transaction(
    async (tx) => await endpointLeases.releaseLeases(tx, { owner, leases: ended }),
  )
}

async function somebodyWaits(tx: Tx): Promise<boolean> {
  const { rows } = await sql`select 1 from pg_locks where not granted`.execute(tx.query)
  return rows.length > 0
}
