import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createAudit, record } from '../../src/audit/index.ts'
import { createId, type OrganizationId } from '../../src/ids.ts'
import { organizations, type Store } from '../../src/store/index.ts'
import { dayMs } from '../../src/units.ts'
import { engines, steadyClock, storeForTests } from '../harness/store.ts'

const entriesAtOnce = 300

async function organizationIn(store: Store): Promise<OrganizationId> {
  const id = createId('org')
  const fields = { id, slug: id.replace('_', '-'), name: 'Acme', plan: 'standard' } as const
  await store.transaction(async (tx) => await organizations.insert(tx, fields))
  return id
}

async function addEntries(store: Store, organizationId: OrganizationId): Promise<void> {
  await store.transaction(async (tx) => {
    for (let number = 0; number < entriesAtOnce; number++) {
      const subject = { kind: 'test', id: String(number) }
      const entry = { action: 'target.edited', subject, detail: {} } as const
      record(tx, { organizationId, actor: { kind: 'operator' }, ...entry })
    }
  })
}

async function entriesOf(store: Store): Promise<number> {
  const { count } = await store.query
    .selectFrom('audit_entry')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

for (const engine of engines) {
  describe(`retention of the audit log on ${engine}`, () => {
    test('deletes years of entries in many small commits, and only those that are old', async () => {
      const clock = steadyClock()
      await using opened = await storeForTests(engine, clock)
      const { store } = opened
      const ids = [await organizationIn(store), await organizationIn(store)]
      for (let times = 0; times < 4; times++) await addEntries(store, ids[0]!)
      await addEntries(store, ids[1]!)
      clock.forward(2 * dayMs)
      for (const id of ids) await addEntries(store, id)
      const all = await entriesOf(store)
      let most = 0
      const watched: Store = {
        ...store,
        async transaction(work) {
          const before = await entriesOf(store)
          const result = await store.transaction(work)
          most = Math.max(most, before - (await entriesOf(store)))
          return result
        },
      }
      assert.equal(await createAudit({ store: watched }).forget(clock.now() - dayMs), 1500)
      assert.equal(await entriesOf(store), all - 1500)
      assert.ok(most <= 512, `${most} in one commit`)
      for (const id of ids) {
        const { brokenAt, entries } = await createAudit({ store }).verify(id)
        assert.deepEqual([brokenAt, entries], [undefined, entriesAtOnce])
      }
    })

    test('on two nodes at once leaves the log intact, whichever of them is ahead', async () => {
      const clock = steadyClock()
      await using opened = await storeForTests(engine, clock)
      const stores = [opened.store, await opened.another()]
      const [store] = stores as [Store]
      const id = await organizationIn(store)
      const ends: number[] = []
      for (let times = 0; times < 8; times++) {
        await addEntries(store, id)
        clock.forward(dayMs)
        ends.push(clock.now() - dayMs / 2)
      }
      await Promise.all(
        ends.map(async (end, at) => await createAudit({ store: stores[at % 2]! }).forget(end)),
      )
      const { brokenAt, reason, entries } = await createAudit({ store }).verify(id)
      assert.deepEqual([brokenAt, reason, entries], [undefined, undefined, 0])
    })
  })
}
