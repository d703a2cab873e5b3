import { sql } from 'kysely'
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { memberships } from '../../src/store/index.ts'
import type { OrganizationId } from '../../src/ids.ts'
import { firstOwner, memberOf, withStore, type Person } from '../harness/person.ts'
import { engines } from '../harness/store.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'

const at = '/organizations/acme'
const hourMs = 3_600_000
const once = { 'idempotency-key': 'the same' }

for (const engine of engines) {
  describe(`a creation whose answer cannot be kept, on ${engine}`, () => {
    // A trigger that stops the answer from being stored, as a crash right after the creation would.
    const { install, remove } = {
      sqlite: {
        install:
          "create trigger lost before update on idempotent_answer when new.answer_sealed is not null begin select raise(abort, 'gone'); end",
        remove: 'drop trigger lost',
      },
      postgres: {
        install: `create function lost() returns trigger language plpgsql as $$ begin raise exception 'gone'; end $$;
          create trigger lost before update on idempotent_answer for each row
          when (new.answer_sealed is not null) execute function lost()`,
        remove: 'drop trigger lost on idempotent_answer',
      },
    }[engine]

    test('is not done again: both are one transaction', async () => {
      await using product = await productForTests({ engine })
      const owner = await memberOf(product, 'acme', { email: 'crash@acme.test', role: 'owner' })
      const execute = async (text: string) =>
        await withStore(
          product,
          async (store) =>
            await store.transaction(async (tx) => void (await sql.raw(text).execute(tx.query))),
        )
      await execute(install)
      const key = { 'idempotency-key': 'crashed' }
      const first = await owner.call(`POST ${at}/keys`, { name: 'made once' }, key)
      await execute(remove)
      assert.equal(first.status, 500)
      const soon = await owner.call(`POST ${at}/keys`, { name: 'made once' }, key)
      assert.deepEqual([soon.status, soon.json.code], [409, 'idempotency_conflict'])
      product.clock.forward(120_000)
      const later = await owner.call(`POST ${at}/keys`, { name: 'made once' }, key)
      assert.equal(later.json.code, 'idempotency_conflict')
      assert.match(later.json.detail, /carried out/)
      const { items } = (await owner.call(`GET ${at}/keys`)).json
      const made = items.filter((one: { name: string }) => one.name === 'made once')
      assert.equal(made.length, 1)
    })
  })
}

describe('an answer kept for an Idempotency-Key', () => {
  let product: TestProduct
  before(async () => {
    product = await productForTests({ settings: { SIGN_UP: 'open' } })
    await firstOwner(product)
  })
  after(async () => await product[Symbol.asyncDispose]())

  /** Changes a role directly in the database, so that the session survives. */
  async function changeRole(person: Person, role: 'admin' | 'developer'): Promise<void> {
    const { id } = (await person.call('GET /me')).json
    const organization = (await person.call(`GET ${at}`)).json.id as OrganizationId
    await withStore(product, async (store) => {
      const own = await memberships.findByUser(store, organization, id)
      assert.ok(own)
      await store.transaction(async (tx) => {
        await memberships.update(tx, { organizationId: organization, id: own.id, change: { role } })
        tx.changed({ kind: 'membership', organizationId: organization, subjectId: id })
      })
    })
  }

  test('the link of an owner’s invitation is given again only to a sign-in of the last hour', async () => {
    const owner = await memberOf(product, 'acme', { email: 'late@acme.test', role: 'owner' })
    const invitation = { email: 'new@acme.test', role: 'owner' }
    const first = await owner.call(`POST ${at}/invitations`, invitation, once)
    assert.equal(first.status, 201)
    const again = await owner.call(`POST ${at}/invitations`, invitation, once)
    assert.equal(again.json.link, first.json.link)
    product.clock.forward(hourMs + 1000)
    const late = await owner.call(`POST ${at}/invitations`, invitation, once)
    assert.equal(late.json.code, 'sign_in_too_old')
  })

  test('and to nobody who is an owner no more', async () => {
    const owner = await memberOf(product, 'acme', { email: 'then@acme.test', role: 'owner' })
    const invitation = { email: 'other@acme.test', role: 'owner' }
    assert.equal((await owner.call(`POST ${at}/invitations`, invitation, once)).status, 201)
    await changeRole(owner, 'admin')
    const later = await owner.call(`POST ${at}/invitations`, invitation, once)
    assert.equal(later.json.code, 'permission_required')
  })

  test('the secret of somebody else’s key is given again only to who may still rotate it', async () => {
    const maker = await memberOf(product, 'acme', { email: 'maker@acme.test', role: 'developer' })
    const { id } = (await maker.call(`POST ${at}/keys`, { name: 'k' })).json.key
    const admin = await memberOf(product, 'acme', { email: 'adm@acme.test', role: 'admin' })
    const rotate = async () =>
      await admin.call(`POST ${at}/keys/${id}/rotate`, { overlap_seconds: 0 }, once)
    const { secret } = (await rotate()).json
    assert.equal((await rotate()).json.secret, secret)
    await changeRole(admin, 'developer')
    assert.equal((await rotate()).json.code, 'permission_required')
  })
})
