import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { createAudit, record, type SignedHead } from '../../src/audit/index.ts'
import { createId, type OrganizationId } from '../../src/ids.ts'
import { auditEntries, auditHash, organizations, type Store } from '../../src/store/index.ts'
import { engines, storeForTests, type TestStore } from '../harness/store.ts'

for (const engine of engines) {
  describe(`A-outside: an audit chain that somebody with the database changes, on ${engine}`, () => {
    let opened: TestStore
    let store: Store
    let id: OrganizationId
    before(async () => {
      opened = await storeForTests(engine)
      store = opened.store
    })
    after(async () => await opened[Symbol.asyncDispose]())
    beforeEach(async () => {
      id = createId('org')
      await store.transaction(
        async (tx) => await organizations.insert(tx, { id, slug: id, name: 'x', plan: 'standard' }),
      )
      for (let n = 1; n <= 5; n++) {
        await store.transaction(async (tx) => {
          for (const part of ['a', 'b']) {
            record(tx, {
              organizationId: id,
              actor: { kind: 'operator' },
              action: 'target.edited',
              subject: { kind: 'test', id: `${n}${part}` },
              detail: { n },
            })
          }
        })
      }
    })

    const verify = async () => await createAudit({ store }).verify(id)
    const change = async (
      work: (tx: Parameters<Parameters<Store['transaction']>[0]>[0]) => Promise<unknown>,
    ) => await store.transaction(async (tx) => void (await work(tx)))

    const head = async () => await createAudit({ store }).head(id)
    const against = async (kept: SignedHead) => await createAudit({ store }).verify(id, kept)
    const note = async (subject: string) =>
      await change(async (tx) =>
        record(tx, {
          organizationId: id,
          actor: { kind: 'operator' },
          action: 'target.edited',
          subject: { kind: 'test', id: subject },
          detail: {},
        }),
      )
    /** Writes a row with a correct hash, as somebody could who has the database but not the master key. */
    const forge = async (sequence: number, previous: number, at = Date.now()) =>
      await change(async (tx) => {
        const rows = await auditEntries.listFrom(tx, {
          organizationId: id,
          fromSequence: previous,
          limit: 1,
        })
        const row = {
          ...rows[0]!,
          sequence,
          at,
          id: createId('aud'),
          action: 'test.forged',
          previous_hash: rows[0]!.hash,
        }
        await tx.query
          .insertInto('audit_entry')
          .values({ ...row, hash: auditHash(row) })
          .execute()
      })
    const setHead = async (sequence: number) =>
      await change(async (tx) => {
        const [row] = await auditEntries.listFrom(tx, {
          organizationId: id,
          fromSequence: sequence,
          limit: 1,
        })
        await tx.query
          .updateTable('organization_head')
          .set({ audit_sequence: sequence, audit_hash: row?.hash ?? '' })
          .where('organization_id', '=', id)
          .execute()
      })
    const removeFrom = async (sequence: number) =>
      await change(async (tx) =>
        tx.query
          .deleteFrom('audit_entry')
          .where('organization_id', '=', id)
          .where('sequence', '>=', sequence)
          .execute(),
      )

    for (const sequence of [11, 12, 1000, 2 ** 60, 0, -5, -(2 ** 60)]) {
      test(`A-outside: a row at ${sequence}, beyond head or anchor, shows`, async () => {
        await forge(sequence, 10)
        assert.equal((await verify()).brokenAt, sequence)
        const written = (await Array.fromAsync(createAudit({ store }).pages(id, {}))).flat()
        assert.equal(written.length, 11, 'an export contains it as well')
        assert.ok(written.some((entry) => entry.sequence === sequence))
      })
    }

    test('A-outside: a tail that was cut off shows, though the head was adjusted', async () => {
      await removeFrom(8)
      await setHead(7)
      assert.match((await verify()).reason ?? '', /forged/)
    })

    test('A-outside: a log that was emptied shows, though the head was set to nothing', async () => {
      await removeFrom(1)
      await setHead(0)
      assert.match((await verify()).reason ?? '', /forged/)
    })

    test('A-outside: an added row shows, though the head was moved to it', async () => {
      await forge(11, 10)
      await setHead(11)
      assert.match((await verify()).reason ?? '', /forged/)
    })

    test('A-outside: a chain that was recomputed as a whole shows, and writing on does not vouch for it', async () => {
      await change(async (tx) => {
        let previous = ''
        for (const row of await auditEntries.listFrom(tx, {
          organizationId: id,
          fromSequence: 1,
          limit: 100,
        })) {
          const forged = { ...row, action: 'test.forged', previous_hash: previous }
          previous = auditHash(forged)
          await tx.query
            .updateTable('audit_entry')
            .set({ action: forged.action, previous_hash: forged.previous_hash, hash: previous })
            .where('organization_id', '=', id)
            .where('sequence', '=', row.sequence)
            .execute()
        }
      })
      await setHead(10)
      assert.match((await verify()).reason ?? '', /forged/)
      await note('after')
      assert.match((await verify()).reason ?? '', /forged/)
    })

    test('A-outside: an anchor that was moved shows, and retention does not make it ours', async () => {
      await change(async (tx) => {
        const [row] = await auditEntries.listFrom(tx, {
          organizationId: id,
          fromSequence: 4,
          limit: 1,
        })
        const value = JSON.stringify({ sequence: 4, hash: row?.hash, seal: 'v1.x.y' })
        await tx.query
          .insertInto('setting')
          .values({ name: `audit_begins_after ${id}`, value })
          .execute()
        await tx.query
          .deleteFrom('audit_entry')
          .where('organization_id', '=', id)
          .where('sequence', '<=', 4)
          .execute()
      })
      assert.match((await verify()).reason ?? '', /begins was forged/)
      await createAudit({ store }).forget(Date.now() + 1)
      assert.match((await verify()).reason ?? '', /begins was forged/)
    })

    test('A-outside: a forged row behind the head does not keep the next entry out', async () => {
      await forge(11, 10)
      await note('next')
      const report = await verify()
      assert.deepEqual([report.entries, report.brokenAt], [11, undefined])
      const [row] = await auditEntries.listFrom(store, {
        organizationId: id,
        fromSequence: 11,
        limit: 1,
      })
      assert.equal(row?.subject_id, 'next')
    })

    test('A-outside: a head that was kept elsewhere shows that the database went back', async () => {
      const early = await head()
      const { rows } = await savedHead()
      await note('later')
      const kept = await head()
      assert.equal((await against(early)).brokenAt, undefined)
      assert.equal((await against(kept)).brokenAt, undefined)
      await removeFrom(11)
      await change(async (tx) =>
        tx.query
          .updateTable('organization_head')
          .set(rows)
          .where('organization_id', '=', id)
          .execute(),
      )
      assert.equal((await verify()).brokenAt, undefined)
      assert.equal((await against(kept)).brokenAt, 11)
    })

    test('A-outside: a head that was not signed here is no anchor, and one of another history shows', async () => {
      const kept = await head()
      const forged = { ...kept, hash: 'f'.repeat(64) }
      assert.match((await against(forged)).reason ?? '', /not signed here/)
    })

    async function savedHead() {
      const { audit_sequence, audit_hash, audit_seal } = await store.query
        .selectFrom('organization_head')
        .select(['audit_sequence', 'audit_hash', 'audit_seal'])
        .where('organization_id', '=', id)
        .executeTakeFirstOrThrow()
      return { rows: { audit_sequence, audit_hash, audit_seal } }
    }

    test('retention stops at the first younger entry: a wrong clock takes nothing with it', async () => {
      const now = Date.now()
      await change(async (tx) => {
        await tx.query
          .updateTable('audit_entry')
          .set({ at: now - 1_000_000 })
          .where('organization_id', '=', id)
          .where('sequence', 'in', [1, 2, 9])
          .execute()
      })
      await createAudit({ store }).forget(now - 500_000)
      const rows = await auditEntries.listFrom(store, {
        organizationId: id,
        fromSequence: 0,
        limit: 100,
      })
      assert.deepEqual(
        rows.map(({ sequence }) => sequence),
        [3, 4, 5, 6, 7, 8, 9, 10],
      )
    })
  })
}
