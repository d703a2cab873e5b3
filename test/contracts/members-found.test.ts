import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { OrganizationId } from '../../src/ids.ts'
import { Members, Organizations } from '../../src/organizations/index.ts'
import type { Actor, MemberRecord } from '../../src/store/index.ts'
import { engines, steadyClock, storeForTests, type TestStore } from '../harness/store.ts'

const operator: Actor = { kind: 'operator' }

for (const engine of engines) {
  describe(`members on ${engine}`, () => {
    const clock = steadyClock()
    let opened: TestStore
    let members: Members
    let acme: OrganizationId
    before(async () => {
      opened = await storeForTests(engine, clock)
      const { store } = opened
      members = new Members({ store, clock, sessions: {} as never, policies: {} as never })
      acme = (await new Organizations({ store }).create({ slug: 'acme' }, operator)).id
    })
    after(async () => await opened[Symbol.asyncDispose]())

    async function join(name: string, email: string): Promise<MemberRecord> {
      return await members.add(acme, { name, email, role: 'developer' }, operator)
    }

    test('a name is found as it is written, whatever letters it begins with', async () => {
      for (const [at, name] of ['Özgür Ünal', 'Łucja', 'Жанна', 'Ada'].entries()) {
        const { id } = await join(name, `m${at}@acme.test`)
        for (const search of [name, name.slice(0, 3)]) {
          const found = await members.list(acme, { search, limit: 10 })
          assert.deepEqual(
            found.map((member) => member.id),
            [id],
            search,
          )
        }
      }
      const [ada] = await members.list(acme, { search: 'ADA', limit: 10 })
      assert.equal(ada?.name, 'Ada')
    })

    // Which letters PostgreSQL can fold depends on the locale that its operator chose.
    if (engine === 'sqlite') {
      test('case makes no difference beyond ASCII either', async () => {
        for (const search of ['özgür', 'ÜNAL', 'ЖАННА', 'łUCJA']) {
          assert.equal((await members.list(acme, { search, limit: 10 })).length, 1, search)
        }
      })
    }

    test('an edit, a deactivation and a removal of another version than the one read change nothing', async () => {
      const { id, version } = await join('Vera', 'vera@acme.test')
      const change = { organizationId: acme, id, actor: operator, expectedVersion: version }
      await members.setRole({ ...change, role: 'viewer' })
      const conflict = { code: 'version_conflict' }
      await assert.rejects(members.setRole({ ...change, role: 'admin' }), conflict)
      await assert.rejects(members.deactivate(change), conflict)
      await assert.rejects(members.reactivate(change), conflict)
      await assert.rejects(members.remove(change), conflict)
      const { role, deactivatedAt, version: now } = await members.get(acme, id)
      assert.deepEqual([role, deactivatedAt], ['viewer', undefined])
      await members.deactivate({ ...change, expectedVersion: now })
    })
  })
}
