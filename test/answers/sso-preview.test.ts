import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createId, type UserId } from '../../src/ids.ts'
import { sessions } from '../../src/store/index.ts'
import { engines } from '../harness/store.ts'
import { firstOwner, memberOf, withStore, type Person } from '../harness/person.ts'
import { command } from '../harness/sso.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'

const at = '/organizations/acme'
const hourMs = 3_600_000

for (const engine of engines) {
  describe(`who "SSO required" would sign out, on ${engine}`, () => {
    let product: TestProduct
    let owner: Person
    let dora: UserId
    let olga: UserId
    before(async () => {
      product = await productForTests({ engine })
      owner = await firstOwner(product)
      await command(product, 'org set-plan acme enterprise')
      olga = (await owner.call('GET /me')).json.id
      const person = await memberOf(product, 'acme', { email: 'dora@acme.test', role: 'developer' })
      dora = (await person.call('GET /me')).json.id
      const stranger = await memberOf(product, 'rival', { email: 'x@rival.test', role: 'owner' })
      await signIn((await stranger.call('GET /me')).json.id, 'github')
      await signIn(dora, 'github')
      await signIn(dora, 'google')
      await signIn(olga, 'google')
    })
    after(async () => await product[Symbol.asyncDispose]())

    /** Creates an active session, as a sign-in through this provider would. */
    async function signIn(userId: UserId, provider: string): Promise<void> {
      const id = createId('ses', product.clock.now())
      const expiresAt = product.clock.now() + hourMs
      const none = { identityId: undefined, connectionId: undefined, address: undefined }
      await withStore(product, async (store) => {
        await store.transaction(async (tx) => {
          const session = { id, userId, provider, expiresAt, digest: id, agent: undefined, ...none }
          await sessions.insert(tx, session)
        })
      })
    }

    async function preview(breakGlass: readonly string[]) {
      const answer = await owner.call(`POST ${at}/sso/preview`, { break_glass: breakGlass })
      assert.equal(answer.status, 200, answer.text)
      const { people, ...rest } = answer.json
      const sessionsOf = people.map((one: { user_id: string; sessions: number }) => [
        one.user_id,
        one.sessions,
      ])
      return { people: Object.fromEntries(sessionsOf), ...rest }
    }

    test('sessions of other ways in, by person; links of the operator and other organizations stay', async () => {
      assert.deepEqual(await preview([]), {
        people: { [dora]: 2, [olga]: 1 },
        sessions: 3,
        more: false,
      })
    })

    test('an owner for emergencies stays; a developer named as one does not', async () => {
      assert.deepEqual((await preview([olga, dora])).people, { [dora]: 2 })
    })

    test('it says so beforehand and changes nothing', async () => {
      await preview([olga])
      assert.equal((await owner.call(`GET ${at}/sso`)).json.required, false)
    })
  })
}
