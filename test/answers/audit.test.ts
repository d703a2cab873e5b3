import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { createAudit, record, toCsv } from '../../src/audit/index.ts'
import { createId, type OrganizationId } from '../../src/ids.ts'
import { auditEntries, auditHash, organizations, type Store } from '../../src/store/index.ts'
import { until } from '../harness/gateway.ts'
import { firstOwner, memberOf } from '../harness/person.ts'
import { productForTests } from '../harness/product.ts'
import { engines, storeForTests, type TestStore } from '../harness/store.ts'

for (const engine of engines) {
  describe(`the audit chain on ${engine}`, () => {
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

    test('an untouched chain is whole', async () => {
      const report = await verify()
      assert.equal(report.entries, 10)
      assert.equal(report.brokenAt, undefined)
    })

    for (const column of ['action', 'detail', 'actor_kind', 'subject_id'] as const) {
      test(`a changed ${column} shows`, async () => {
        await change(async (tx) =>
          tx.query
            .updateTable('audit_entry')
            .set({ [column]: '{"n":9}' })
            .where('organization_id', '=', id)
            .where('sequence', '=', 4)
            .execute(),
        )
        assert.equal((await verify()).brokenAt, 4)
      })
    }

    test('a changed entry with a new hash of its own shows at the next', async () => {
      await change(async (tx) => {
        const [row] = await auditEntries.listFrom(tx, {
          organizationId: id,
          fromSequence: 4,
          limit: 1,
        })
        const forged = { ...row!, action: 'test.forged' }
        await tx.query
          .updateTable('audit_entry')
          .set({ action: forged.action, hash: auditHash(forged) })
          .where('organization_id', '=', id)
          .where('sequence', '=', 4)
          .execute()
      })
      assert.equal((await verify()).brokenAt, 5)
    })

    for (const [where, sequence, shown] of [
      ['first', 1, 1],
      ['middle', 6, 6],
      ['last', 10, 10],
    ] as const) {
      test(`a removed ${where} entry shows`, async () => {
        await change(async (tx) =>
          tx.query
            .deleteFrom('audit_entry')
            .where('organization_id', '=', id)
            .where('sequence', '=', sequence)
            .execute(),
        )
        assert.equal((await verify()).brokenAt, shown)
      })
    }

    test('two entries that changed places show', async () => {
      await change(async (tx) => {
        for (const [from, to] of [
          [3, 99],
          [4, 3],
          [99, 4],
        ] as const) {
          await tx.query
            .updateTable('audit_entry')
            .set({ sequence: to })
            .where('organization_id', '=', id)
            .where('sequence', '=', from)
            .execute()
        }
      })
      assert.equal((await verify()).brokenAt, 3)
    })

    test('an emptied log shows', async () => {
      await change(async (tx) =>
        tx.query.deleteFrom('audit_entry').where('organization_id', '=', id).execute(),
      )
      assert.notEqual((await verify()).brokenAt, undefined)
    })

    test('retention leaves a whole chain, and what is missing after it shows', async () => {
      const audit = createAudit({ store })
      assert.ok((await audit.forget(Date.now() + 1)) >= 10)
      assert.deepEqual(
        await auditEntries.listFrom(store, { organizationId: id, fromSequence: 1, limit: 10 }),
        [],
      )
      assert.equal((await verify()).brokenAt, undefined)
      await change(async (tx) => {
        for (const subject of ['later', 'last']) {
          record(tx, {
            organizationId: id,
            actor: { kind: 'operator' },
            action: 'target.edited',
            subject: { kind: 'test', id: subject },
            detail: {},
          })
        }
      })
      assert.equal((await verify()).entries, 2)
      await change(async (tx) =>
        tx.query
          .deleteFrom('audit_entry')
          .where('organization_id', '=', id)
          .where('sequence', '=', 11)
          .execute(),
      )
      assert.equal((await verify()).brokenAt, 11)
    })
  })
}

describe('the log as people get it', () => {
  test('a cell that a spreadsheet would take for a formula stays text', async () => {
    const entry = {
      ...{ id: 'aud_x', sequence: 1, at: 0, action: 'a.b', detail: {}, hash: '' },
      ...{ subject: { kind: 'k', id: '1' }, address: undefined, requestId: undefined },
    }
    async function* pages() {
      for (const name of ['=cmd()', '+1', '-1', '@x', '\tx', '"q",\r\n']) {
        yield [{ ...entry, actor: { kind: 'user', id: 'usr_x', name } }]
      }
    }
    let text = ''
    for await (const part of toCsv(pages())) text += part
    for (const cell of ["'=cmd()", "'+1", "'-1", "'@x", "'\tx", '"""q"",\r\n"']) {
      assert.ok(text.includes(`,${cell},`), cell)
    }
  })

  test('changes are in the log with who, what, where from and the request’s id; exports too; secrets never', async () => {
    await using product = await productForTests()
    const owner = await firstOwner(product)
    await memberOf(product, 'acme', { email: 'v@x.test', role: 'viewer' })
    const issued = await owner.call('POST /organizations/acme/keys', { name: 'k' })
    const listed = await owner.call('GET /organizations/acme/audit?action=api_key.issued')
    const [entry] = listed.json.items
    const me = await owner.call('GET /me')
    assert.equal(entry.actor.id, me.json.id)
    assert.equal(entry.subject.id, issued.json.key.id)
    assert.equal(entry.request_id, issued.headers.get('intercept-request-id'))
    assert.equal(entry.address, '127.0.0.1')
    const exported = await owner.call('POST /organizations/acme/audit/export', { format: 'ndjson' })
    assert.equal(exported.headers.get('content-type'), 'application/x-ndjson')
    const lines = exported.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { action: string })
    assert.ok(lines.length > 3)
    assert.equal(lines.at(-1)?.action, 'audit.exported')
    assert.ok(!exported.text.includes(issued.json.secret))
    assert.ok(!exported.text.includes(owner.cookie ?? '-'))
    const csv = await owner.call('POST /organizations/acme/audit/export', { format: 'csv' })
    assert.match(csv.text, /^sequence,at,actor_kind/)
    const chain = await owner.call('GET /organizations/acme/audit/chain')
    assert.equal(chain.json.intact, true, chain.text)
  })

  test('what turns out later to be an owner’s or somebody else’s is a denial too', async () => {
    await using product = await productForTests()
    const owner = await firstOwner(product)
    const admin = await memberOf(product, 'acme', { email: 'adm@x.test', role: 'admin' })
    const maker = await memberOf(product, 'acme', { email: 'dev@x.test', role: 'developer' })
    const at = '/organizations/acme'
    const { items } = (await owner.call(`GET ${at}/members`)).json
    const { id } = items.find((one: { role: string }) => one.role === 'owner')
    const { key } = (await owner.call(`POST ${at}/keys`, { name: 'k' })).json
    const refused = [
      await admin.call(`PATCH ${at}/members/${id}`, { role: 'viewer' }),
      await maker.call(`POST ${at}/keys/${key.id}/rotate`, { overlap_seconds: 0 }),
    ]
    for (const { json } of refused) assert.equal(json.code, 'permission_required')
    let denials: { actor: { name: string }; detail: object }[] = []
    await until(async () => {
      denials = (await owner.call(`GET ${at}/audit?action=permission.denied`)).json.items
      return denials.length === refused.length
    })
    const told = denials.map(({ actor, detail }) => [actor.name, detail] as const)
    assert.deepEqual(Object.fromEntries(told), {
      'adm@x.test': { permission: 'owners.manage', role: 'admin' },
      'dev@x.test': { permission: 'keys.manage', role: 'developer' },
    })
  })
})
