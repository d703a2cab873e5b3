import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from 'kysely'
import { systemClock } from '../../src/clock.ts'
import { deliveryQueue, type Store } from '../../src/store/index.ts'
import { createMetrics } from '../../src/telemetry/index.ts'
import { measureQueue } from '../../src/webhooks/delivery/measure-queue.ts'
import { engines, storeForTests } from '../harness/store.ts'

for (const engine of engines) {
  describe(`the queue of deliveries on ${engine}`, () => {
    test('is short with up to a thousand pending deliveries', async () => {
      await using place = await storeForTests(engine)
      const { store } = place
      await addPending(store, 1, 1000)
      assert.equal(await deliveryQueue.isShort(store), true)
      await addPending(store, 1001, 1001)
      assert.equal(await deliveryQueue.isShort(store), false)
    })

    test('is measured with slow reads only if it is not short', async () => {
      await using place = await storeForTests(engine)
      let slowReads = 0
      const store = new Proxy(place.store, {
        get: (of, name) => {
          if (name === 'slowReads') slowReads++
          return Reflect.get(of, name) as unknown
        },
      })
      const scrape = async (): Promise<void> => {
        const metrics = createMetrics()
        measureQueue({ store, clock: systemClock, metrics })
        await metrics.scrape()
      }
      await scrape()
      assert.equal(slowReads, 0)
      await addPending(place.store, 1, 1001)
      await scrape()
      assert.equal(slowReads, 1)
    })
  })
}

async function addPending(store: Store, from: number, to: number): Promise<void> {
  await store.transaction(async (tx) => {
    await sql`insert into delivery (id, organization_id, endpoint_id, event_sequence, event_id, type, state,
        due_at, created_at)
      with recursive n(i) as (select ${sql.lit(from)} union all select i + 1 from n where i < ${sql.lit(to)})
      select 'dlv_' || i, 'org_1', 'ep_1', i, 'evt_1', 'key.issued', 'pending', 1, 1 from n`.execute(
      tx.query,
    )
  })
}
