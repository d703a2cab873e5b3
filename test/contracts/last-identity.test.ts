import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { systemClock } from '../../src/clock.ts'
import type { Sessions } from '../../src/access/index.ts'
import { Problem } from '../../src/errors.ts'
import { createId, type UserId } from '../../src/ids.ts'
import { People } from '../../src/organizations/index.ts'
import { createSealer } from '../../src/secrets/index.ts'
import { identities, users } from '../../src/store/index.ts'
import { engines, storeForTests, type TestStore } from '../harness/store.ts'

const persons = 20

for (const engine of engines) {
  describe(`the last way to sign in, on ${engine}`, () => {
    let opened: TestStore
    let people: People
    before(async () => {
      opened = await storeForTests(engine)
      const sessions = { endIn: async () => [] } as unknown as Sessions
      const sealer = createSealer(['x'.repeat(32)])
      const { store } = opened
      people = new People({ store, clock: systemClock, sealer, sessions, signUp: 'invited' })
    })
    after(async () => await opened[Symbol.asyncDispose]())

    async function personWithTwo(): Promise<{ userId: UserId; ids: readonly string[] }> {
      const userId = createId('usr')
      const ids = [createId('idn'), createId('idn')]
      await opened.store.transaction(async (tx) => {
        await users.insert(tx, { id: userId, name: 'Ada', email: undefined })
        for (const id of ids) {
          const key = { connectionId: '', issuer: 'https://idp.test', subject: id }
          const facts = { email: undefined, emailVerified: false, name: undefined }
          await identities.insert(tx, { id, userId, provider: 'google', ...key, ...facts })
        }
      })
      return { userId, ids }
    }

    test('is kept when both are removed at once', async () => {
      await Promise.all(
        Array.from({ length: persons }, async () => {
          const { userId, ids } = await personWithTwo()
          const actor = { kind: 'user', id: userId } as const
          const ends = await Promise.allSettled(
            ids.map(async (id) => await people.removeIdentity(userId, id, actor)),
          )
          const refused = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []))
          assert.equal((await identities.listOf(opened.store, userId)).length, 1)
          assert.ok(refused.length === 1 && refused[0] instanceof Problem)
          assert.equal(refused[0].code, 'conflict')
        }),
      )
    })
  })
}
