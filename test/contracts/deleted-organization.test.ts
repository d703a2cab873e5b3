import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { SignedIn, Sessions } from '../../src/access/index.ts'
import { systemClock } from '../../src/clock.ts'
import { createId, type OrganizationId } from '../../src/ids.ts'
import {
  Invitations,
  joinByInvitation,
  Organizations,
  People,
} from '../../src/organizations/index.ts'
import { createSealer } from '../../src/secrets/index.ts'
import { identities, users } from '../../src/store/index.ts'
import { engines, storeForTests, type TestStore } from '../harness/store.ts'

const operator = { kind: 'operator' } as const
const email = 'ada@corp.test'
const github = { provider: 'github', connectionId: '', issuer: 'https://github.test' } as const

for (const engine of engines) {
  describe(`invitations of a deleted organization on ${engine}`, () => {
    let place: TestStore
    let invitations: Invitations
    let gone: OrganizationId
    before(async () => {
      place = await storeForTests(engine)
      const mailer = { sendInvitation: async () => false }
      const { store } = place
      invitations = new Invitations({ store, clock: systemClock, baseUrl: 'x', mailer })
    })
    after(async () => await place[Symbol.asyncDispose]())

    /**
     * Invites somebody to two organizations and deletes one of them. Returns the invitation to the deleted organization,
     * and the id of the remaining one.
     */
    async function invited(slug: string) {
      const { store } = place
      const organizations = new Organizations({ store })
      gone = (await organizations.create({ slug: `${slug}-gone` }, operator)).id
      const stays = (await organizations.create({ slug }, operator)).id
      const input = { email, role: 'viewer' } as const
      const { invitation } = await invitations.invite(gone, input, operator)
      await invitations.invite(stays, input, operator)
      await organizations.remove(gone, operator)
      return { invitation, stays }
    }

    test('hide none of a person’s others, and cannot be accepted', async () => {
      const { store } = place
      const { invitation, stays } = await invited('acme')
      const userId = createId('usr')
      const user = await store.transaction(async (tx) => {
        const made = await users.insert(tx, { id: userId, name: 'Ada', email })
        const key = { ...github, subject: '1', id: createId('idn'), userId }
        await identities.insert(tx, { ...key, email, emailVerified: true, name: 'Ada' })
        return made
      })
      const ada = { kind: 'user', userId, connectionId: undefined } as unknown as SignedIn
      const open = await invitations.openFor(ada)
      assert.deepEqual(
        open.map(({ organization }) => organization.id),
        [stays],
      )
      const accepting = store.transaction(
        async (tx) => await joinByInvitation(tx, { invitation, user }, operator),
      )
      await assert.rejects(accepting, { code: 'invitation_invalid' })
    })

    test('let no stranger sign up', async () => {
      const { store } = place
      const organizations = new Organizations({ store })
      const { id } = await organizations.create({ slug: 'brief' }, operator)
      const address = 'stranger@corp.test'
      await invitations.invite(id, { email: address, role: 'viewer' }, operator)
      await organizations.remove(id, operator)
      const sealer = createSealer(['x'.repeat(32)])
      const sessions = {} as Sessions
      const people = new People({ store, clock: systemClock, sealer, sessions, signUp: 'invited' })
      const proven = { ...github, subject: '2', email: address, emailVerified: true, name: 'S' }
      const refused = people.recognize(proven, { kind: 'system' })
      await assert.rejects(refused, { code: 'sign_in_refused' })
    })
  })
}
