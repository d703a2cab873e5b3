import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from 'kysely'
import { createId } from '../../src/ids.ts'
import {
  attempts,
  deliveries,
  deliveryWork,
  endpointLeases,
  operations,
  type AttemptOutcome,
  type DueDelivery,
  type Tx,
} from '../../src/store/index.ts'
import { engines } from '../harness/store.ts'
import { operator, webhooksForTests, type TestWebhooks } from '../harness/webhooks.ts'

const dayMs = 24 * 3_600_000

for (const engine of engines) {
  describe(`deliveries on ${engine}`, { timeout: 120_000 }, () => {
    test("another organization's event finds no delivery", async () => {
      await using all = await webhooksForTests(engine, { start: false })
      const { store, webhooks, organizationId } = all
      await endpointOf(all)
      await all.publish(1)
      const eventId = createId('evt')
      await store.transaction(
        async (tx) =>
          await tx.query
            .insertInto('event')
            .values({
              ...{ organization_id: 'org_other', sequence: 1, id: eventId, type: 'x.y', at: 0 },
              body: Buffer.from('{}'),
            })
            .execute(),
      )
      const page = { filter: { eventId }, limit: 10 }
      assert.deepEqual(await webhooks.deliveries.list(organizationId, page), [])
    })

    test('of a delivery that is tried without end the last hundred attempts are kept, and the last sixteen answers shown', async () => {
      await using all = await webhooksForTests(engine, { start: false })
      const { store, organizationId } = all
      const endpoint = await endpointOf(all)
      await all.publish(1)
      const at = { organizationId, endpointId: endpoint.id }
      for (let number = 0; number < 110; number++) {
        const [delivery] = await due(all, at, 'due')
        assert.ok(delivery)
        await store.transaction(
          async (tx) => await deliveryWork.complete(tx, [paced(delivery, number)]),
        )
      }
      const { rows } = await sql<{ number: number }>`select number from attempt`.execute(
        store.query,
      )
      assert.equal(rows.length, 100)
      const [delivery] = await due(all, at, 'due')
      const shown = await attempts.list(store, organizationId, delivery?.id ?? '')
      assert.deepEqual([shown.length, shown[0]?.number, shown.at(-1)?.number], [100, 11, 110])
      assert.equal(shown.filter(({ responseBody }) => responseBody !== undefined).length, 16)
      assert.ok(shown.at(-1)?.responseBody)
    })

    test('the secret of the last rotation is the current one, also in one millisecond and with a clock set back', async () => {
      await using all = await webhooksForTests(engine, { start: false })
      const { store, webhooks, organizationId } = all
      const { secrets } = webhooks
      await secrets.list(organizationId)
      for (let rotation = 0; rotation < 5; rotation++) {
        // In every second round, the older secrets seem newer than the fresh one, as after a clock was set back.
        await store.transaction(
          async (tx) =>
            await tx.query
              .updateTable('webhook_secret')
              .set({ created_at: tx.now + 60_000 * (rotation % 2) })
              .execute(),
        )
        const fresh = await secrets.rotate(organizationId, operator)
        const current = await secrets.reveal(organizationId, operator)
        assert.equal(current.reveal(), fresh.reveal(), String(rotation))
        const [first] = await secrets.list(organizationId)
        assert.equal(first?.validUntil, undefined)
      }
    })

    test('the counts of deleted endpoints are read only when they are asked for', async () => {
      await using all = await webhooksForTests(engine, { start: false })
      const { webhooks, organizationId } = all
      const kept = await endpointOf(all)
      const deleted = await endpointOf(all)
      await all.publish(2)
      await webhooks.endpoints.remove(organizationId, deleted.id, operator)
      const listed = await webhooks.books(organizationId)
      assert.deepEqual(
        listed.map(({ endpointId, pending }) => [endpointId, pending]),
        [[kept.id, 2]],
      )
      const [book] = await webhooks.books(organizationId, deleted.id)
      assert.deepEqual([book?.committed, book?.skipped], [2, 2])
    })

    test('a held endpoint is probed with the delivery that was tried longest ago', async () => {
      await using all = await webhooksForTests(engine, { start: false })
      const { store, organizationId } = all
      const endpoint = await endpointOf(all)
      await all.publish(3)
      const at = { organizationId, endpointId: endpoint.id }
      const probed: number[] = []
      for (let probe = 1; probe <= 4; probe++) {
        const [delivery] = await due(all, at, 'probe')
        assert.ok(delivery)
        probed.push(delivery.eventSequence)
        await store.transaction(
          async (tx) =>
            await deliveryWork.complete(tx, [{ ...paced(delivery, probe), probe: true }]),
        )
      }
      assert.deepEqual(probed, [1, 2, 3, 1])
    })

    test('a replay whose steps fail, or that is one of many, keeps no other from being done', async () => {
      await using all = await webhooksForTests(engine)
      const { store, webhooks, organizationId, clock } = all
      await endpointOf(all)
      const insertBroken = async (of: string = organizationId) =>
        await store.transaction(async (tx) => {
          const id = createId('op', clock.now())
          const operation = { id, organizationId: of, kind: 'webhook.replay', total: 1 }
          const parameters = null as unknown as Record<string, unknown>
          const by = { createdBy: 'x', createdByName: 'x' }
          await operations.insert(tx, { ...operation, parameters, ...by })
          return id
        })
      for (let number = 0; number < 7; number++) await insertBroken()
      const other = await insertBroken('org_other')
      const listed = await operations.listRunning(store, 'webhook.replay')
      assert.ok(listed.slice(0, 2).some(({ id }) => id === other))
      assert.equal(listed.length, 6)
      await store.transaction(
        async (tx) => await tx.query.deleteFrom('operation').where('id', '!=', other).execute(),
      )
      const { id } = await webhooks.replay.start(organizationId, {}, operator)
      await all.until(
        async () => (await webhooks.operations.get(organizationId, id)).state === 'done',
        'the replay that can be done',
      )
    })

    test('an ordered endpoint is leased only when its first delivery is due', async () => {
      await using all = await webhooksForTests(engine, { start: false })
      const { store, clock, organizationId } = all
      const endpoint = await endpointOf(all, { ordered: true })
      await all.publish(2)
      const at = { organizationId, endpointId: endpoint.id }
      const [first] = await due(all, at, 'ordered')
      assert.ok(first)
      const dueAt = clock.now() + 60_000
      await store.transaction(
        async (tx) => await deliveryWork.complete(tx, [{ ...paced(first, 1), dueAt }]),
      )
      const find = async (now: number): Promise<string[]> =>
        await endpointLeases.findLeasable(store, { now, limit: 10 })
      assert.deepEqual(await find(dueAt - 1), [])
      assert.deepEqual(await find(dueAt), [endpoint.id])
      await all.webhooks.replay.one(organizationId, first.id, operator)
      assert.deepEqual(await find(clock.now()), [endpoint.id])
    })

    test('an endpoint released with a rest is leased again when it ends, or when somebody changes it', async () => {
      await using all = await webhooksForTests(engine, { start: false })
      const { store, clock, webhooks, organizationId } = all
      const { id } = await endpointOf(all)
      await all.publish(1)
      const owner = 'host/1/2/node_1'
      const rest = async (): Promise<void> =>
        await store.transaction(async (tx) => {
          const until = tx.now + 10_000
          const taken = await endpointLeases.leaseEndpoints(tx, { owner, until, endpointIds: [id] })
          assert.equal(taken.length, 1)
          const leases = taken.map(({ leaseToken }) => ({ id, leaseToken, restMs: dayMs }))
          await endpointLeases.releaseLeases(tx, { owner, leases })
        })
      await rest()
      const find = async (now: number): Promise<string[]> =>
        await endpointLeases.findLeasable(store, { now, limit: 10 })
      assert.deepEqual(await find(clock.now() + dayMs - 1000), [])
      assert.deepEqual(await endpointLeases.listLeaseOwners(store, clock.now()), [])
      assert.deepEqual(await find(clock.now() + dayMs + 1000), [id])
      await webhooks.endpoints.update(organizationId, id, {
        input: { description: 'faster now' },
        actor: operator,
      })
      assert.deepEqual(await find(clock.now()), [id])
    })
  })
}

describe('retention beside others on postgres', { timeout: 120_000 }, () => {
  test('a delivery that is replayed while retention removes its neighbours is kept', async () => {
    await using all = await webhooksForTests('postgres', { start: false })
    const { store, webhooks, organizationId, clock } = all
    const { id } = await endpointOf(all)
    await all.publish(2)
    await webhooks.endpoints.disable(organizationId, id, operator)
    const rows = await webhooks.deliveries.list(organizationId, { limit: 10 })
    const replayed = rows.find(({ eventSequence }) => eventSequence === 1)
    assert.ok(replayed)
    const belowId = createId('dlv', clock.now() + dayMs)
    let removal: Promise<number> | undefined
    await store.transaction(async (tx) => {
      await deliveries.requeue(tx, { organizationId, ids: [replayed.id] })
      removal = store.transaction(
        async (other) => await deliveries.removeEnded(other, belowId, 500),
      )
      await all.until(async () => await somebodyWaits(tx), 'retention waits for the row')
    })
    await removal
    const kept = await webhooks.deliveries.list(organizationId, { limit: 10 })
    assert.deepEqual(
      kept.map((one) => [one.id, one.state]),
      [[replayed.id, 'pending']],
    )
    await all.books()
  })
})

async function endpointOf(
  { webhooks, organizationId, receiver }: TestWebhooks,
  more: { ordered?: boolean } = {},
) {
  return await webhooks.endpoints.create(organizationId, { url: receiver.url, ...more }, operator)
}

async function due(
  { store, clock }: TestWebhooks,
  at: { organizationId: string; endpointId: string },
  order: 'due' | 'ordered' | 'probe',
): Promise<DueDelivery[]> {
  const load = { now: clock.now() + 1000, limit: 1, order, except: new Set<string>() }
  return (await deliveryWork.loadDue(store, at, load)).deliveries
}

function paced(delivery: DueDelivery, number: number): AttemptOutcome {
  const startedAt = delivery.createdAt + number
  return {
    ...{ id: createId('att', startedAt), delivery, state: 'pending', dueAt: delivery.dueAt },
    ...{ probe: false, paced: true, retryAfterMs: 0, startedAt, durationMs: 1, status: 429 },
    ...{ failure: undefined, responseBody: Buffer.from('slower'), responseTruncated: false },
  }
}

async function somebodyWaits(tx: Tx): Promise<boolean> {
  const { rows } = await sql`select 1 from pg_locks where not granted`.execute(tx.query)
  return rows.length > 0
}
