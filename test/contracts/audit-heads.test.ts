import { sql } from 'kysely'
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createAudit, record } from '../../src/audit/index.ts'
import { createId, type OrganizationId } from '../../src/ids.ts'
import { createSealer } from '../../src/secrets/index.ts'
import { endpoints, events, openStore, organizations, type Store } from '../../src/store/index.ts'
import { publish } from '../../src/webhooks/index.ts'
import { emptyPlace } from './engines.ts'
import { engines, steadyClock, storeForTests, type TestStore } from '../harness/store.ts'

for (const engine of engines) {
  describe(`where an audit chain ends, on ${engine}`, () => {
    const clock = steadyClock()
    let opened: TestStore
    let store: Store
    before(async () => {
      opened = await storeForTests(engine, clock)
      store = opened.store
    })
    after(async () => await opened[Symbol.asyncDispose]())

    async function organization(): Promise<OrganizationId> {
      const id = createId('org')
      await store.transaction(
        async (tx) => await organizations.insert(tx, { id, slug: id, name: 'x', plan: 'standard' }),
      )
      return id
    }

    async function note(organizationId: OrganizationId): Promise<void> {
      await store.transaction(async (tx) =>
        record(tx, {
          organizationId,
          actor: { kind: 'operator' },
          action: 'target.edited',
          subject: { kind: 'test', id: 'x' },
          detail: {},
        }),
      )
    }

    const announcedOf = async (organizationId: OrganizationId) =>
      (await events.listAfter(store, organizationId, { after: 0, limit: 100 })).map(
        ({ body }) => JSON.parse(Buffer.from(body).toString()).data,
      )

    test('a head is announced with its seal, once a day and only if the chain moved', async () => {
      const id = await organization()
      const audit = createAudit({ store })
      await audit.announceHeads()
      assert.deepEqual(await announcedOf(id), [], 'an empty chain has nothing to announce')
      await note(id)
      await audit.announceHeads()
      const { organizationId, ...head } = await audit.head(id)
      assert.deepEqual(await announcedOf(id), [{ organization_id: organizationId, ...head }])
      await note(id)
      await Promise.all([audit.announceHeads(), createAudit({ store }).announceHeads()])
      assert.equal((await announcedOf(id)).length, 1)
      clock.forward(24 * 3_600_000)
      await Promise.all([audit.announceHeads(), createAudit({ store }).announceHeads()])
      assert.deepEqual(
        (await announcedOf(id)).map(({ sequence }) => sequence),
        [1, 2],
      )
      clock.forward(24 * 3_600_000)
      await audit.announceHeads()
      assert.equal((await announcedOf(id)).length, 2)
    })

    test('an organization whose head cannot be announced keeps no other waiting', async () => {
      const ids = [await organization(), await organization()]
      for (const id of ids) await note(id)
      let isFirst = true
      const failingOnce = new Proxy(store, {
        get(target, name) {
          if (name === 'transaction' && isFirst) {
            isFirst = false
            return async () => await Promise.reject(new Error('the lock was never free'))
          }
          const value: unknown = Reflect.get(target, name, target)
          return typeof value === 'function' ? value.bind(target) : value
        },
      })
      await assert.rejects(createAudit({ store: failingOnce }).announceHeads(), /never free/)
      const announced = await Promise.all(ids.map(announcedOf))
      assert.equal(announced.flat().length, 1)
    })

    test('a forged event or delivery behind the last one does not keep the next out', async () => {
      const organizationId = await organization()
      const endpointId = createId('ep')
      await store.transaction(async (tx) => {
        await endpoints.insert(tx, {
          ...{ id: endpointId, organizationId, url: 'http://127.0.0.1:1/', createdBy: undefined },
        })
        await sql`insert into event (organization_id, sequence, id, type, at, body)
          values (${organizationId}, 1, 'evt_forged', 'test.forged', 1, ${Buffer.from('{}')})`.execute(
          tx.query,
        )
        await sql`insert into delivery (id, organization_id, endpoint_id, event_sequence, event_id, type, state, due_at, created_at)
          values ('dlv_forged', ${organizationId}, ${endpointId}, 1, 'evt_forged', 'test.forged', 'delivered', 1, 1)`.execute(
          tx.query,
        )
      })
      await store.transaction(async (tx) =>
        publish(tx, {
          organizationId,
          type: 'organization.plan_changed',
          data: { before: 'standard', after: 'enterprise' },
        }),
      )
      const [written] = await events.listAfter(store, organizationId, { after: 0, limit: 10 })
      assert.equal(written?.type, 'organization.plan_changed')
      const { rows } = await sql<{ state: string; event_id: string }>`select state, event_id
        from delivery where organization_id = ${organizationId}`.execute(store.query)
      assert.deepEqual(
        rows.map(({ state, event_id }) => [state, event_id]),
        [['pending', written?.id]],
      )
    })

    test('a crash between the first migration and its sealing leaves neither', async () => {
      await using place = await emptyPlace(engine, { migrated: false })
      const { databaseUrl, folder } = place
      const crashes = {
        authenticate: () => {
          throw new Error('the power is gone')
        },
        isAuthentic: () => false,
        isOld: () => false,
      }
      const options = { databaseUrl, folder, clock, isNode: false }
      await assert.rejects(openStore({ ...options, authenticator: crashes }), /the power is gone/)
      const authenticator = createSealer(['a master secret of the tests, long enough'])
      await using again = await openStore({ ...options, authenticator })
      const { rows } = await sql<{
        audit_seal: string
      }>`select audit_seal from organization_head`.execute(again.query)
      assert.equal(rows.length, 1)
      assert.notEqual(rows[0]?.audit_seal, 'unsealed')
      const report = await createAudit({ store: again }).verify('system')
      assert.deepEqual([report.entries, report.brokenAt], [0, undefined])
    })
  })
}
