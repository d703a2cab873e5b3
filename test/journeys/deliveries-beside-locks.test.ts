import assert from 'node:assert/strict'
import { sql } from 'kysely'
import { describe, test } from 'node:test'
import { createId } from '../../src/ids.ts'
import { organizationHeads, organizations } from '../../src/store/index.ts'
import { operator, webhooksForTests } from '../harness/webhooks.ts'

describe('deliveries beside publishers who wait for each other', { timeout: 120_000 }, () => {
  test('deliveries go out and the feed stays current while every other connection waits for a lock', async () => {
    await using all = await webhooksForTests('postgres')
    const { webhooks, organizationId, receiver, store, clock } = all
    const busyId = createId('org')
    await store.transaction(async (tx) => {
      const busy = { id: busyId, slug: 'busy', name: 'Busy', plan: 'standard' } as const
      await organizations.insert(tx, busy)
    })
    receiver.answer = (response) => response.writeHead(500).end()
    await webhooks.endpoints.create(organizationId, { url: receiver.url }, operator)
    await all.publish(1)
    await all.until(() => receiver.arrivals.length === 1, 'the first attempt')
    await all.quiet()
    receiver.answer = (response) => response.writeHead(204).end()

    const gate = Promise.withResolvers<void>()
    const locked = Promise.withResolvers<void>()
    const holder = store.transaction(async (tx) => {
      // Without the limits of `lockHead`, so that the lock is held until the gate opens.
      await sql`select 1 from organization_head where organization_id = ${busyId} for update`.execute(
        tx.query,
      )
      locked.resolve()
      await gate.promise
    })
    await locked.promise
    // More transactions than the pool has connections: each waits for the lock or for a connection, and is started
    // again after a timeout.
    const over = new AbortController()
    const waiting = Array.from({ length: 12 }, async () => {
      const lock = async (): Promise<void> =>
        await store.transaction(async (tx) => await organizationHeads.lockHead(tx, busyId))
      while (!over.signal.aborted) await lock().catch(() => undefined)
    })
    const settled = Promise.allSettled([holder, ...waiting])
    try {
      clock.forward(10_000)
      await all.until(() => receiver.arrivals.length === 2, 'the second attempt')
      await store.feed.read()
      assert.ok(store.feed.isCurrent())
    } finally {
      over.abort()
      gate.resolve()
      await settled
    }
    // This fails if the lock was lost, because connections would then have become free too early.
    await holder
    await all.quiet()
    assert.equal((await all.books())['delivered'], 1)
  })
})

for (const engine of ['sqlite', 'postgres'] as const) {
  describe(`many deliveries of one transaction on ${engine}`, { timeout: 120_000 }, () => {
    test('a transaction of 200 events for 30 endpoints is entered whole', async () => {
      await using all = await webhooksForTests(engine, { start: false })
      const { webhooks, organizationId, receiver } = all
      for (let at = 0; at < 30; at++) {
        await webhooks.endpoints.create(organizationId, { url: `${receiver.url}/${at}` }, operator)
      }
      const heard: number[] = []
      all.store.feed.on(
        'delivery',
        ({ sequence }) => heard.push(sequence),
        () => undefined,
      )
      await all.publish(200)
      assert.equal((await all.books())['pending'], 6000)
      const events = await webhooks.events.listAfter(organizationId, { after: 0, limit: 300 })
      assert.equal(events.length, 200)
      assert.equal(heard.length, 1)
    })
  })
}
