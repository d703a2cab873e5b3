import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KyselyPlugin } from 'kysely'
import { createAudit, record } from '../../src/audit/index.ts'
import { createId } from '../../src/ids.ts'
import { organizations, type Store } from '../../src/store/index.ts'
import { dayMs } from '../../src/units.ts'
import { engines, steadyClock, storeForTests } from '../harness/store.ts'

for (const engine of engines) {
  test(`a chain from which retention removes entries while it is verified is intact on ${engine}`, async () => {
    const clock = steadyClock()
    await using opened = await storeForTests(engine, clock)
    const { store } = opened
    const organizationId = createId('org')
    const fields = { id: organizationId, slug: 'acme', name: 'Acme', plan: 'standard' } as const
    await store.transaction(async (tx) => await organizations.insert(tx, fields))
    for (let number = 0; number < 6; number++) {
      if (number === 3) clock.forward(2 * dayMs)
      await store.transaction(async (tx) =>
        record(tx, {
          organizationId,
          actor: { kind: 'operator' },
          action: 'target.edited',
          subject: { kind: 'test', id: String(number) },
          detail: {},
        }),
      )
    }
    // Shorten the chain after its beginning and end have been read, but before any of its entries is read.
    const audit = createAudit({
      store: afterReads(store, 2, async () => {
        assert.equal(await createAudit({ store }).forget(clock.now() - dayMs), 3)
      }),
    })
    const { brokenAt, reason, entries } = await audit.verify(organizationId)
    assert.deepEqual([brokenAt, reason, entries], [undefined, undefined, 3])
  })
}

/** Wraps a store so that some work runs once, right after the given number of slow reads. */
function afterReads(store: Store, count: number, work: () => Promise<void>): Store {
  let reads = 0
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      reads += 1
      if (reads === count) await work()
      return result
    },
  }
  return {
    ...store,
    slowReads: { ...store.slowReads, query: store.slowReads.query.withPlugin(plugin) },
  }
}
