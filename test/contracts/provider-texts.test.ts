// Providers let people choose almost any name, even one that a database can't store unchanged.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Sessions } from '../../src/access/index.ts'
import { createAudit, record } from '../../src/audit/index.ts'
import { systemClock } from '../../src/clock.ts'
import type { OrganizationId } from '../../src/ids.ts'
import { Invitations, Organizations, People } from '../../src/organizations/index.ts'
import { createSealer } from '../../src/secrets/index.ts'
import { readPerson, settingsFor, TestLines } from '../../src/sso/index.ts'
import { memberships, users } from '../../src/store/index.ts'
import { engines, storeForTests, type TestStore } from '../harness/store.ts'

const operator = { kind: 'operator' } as const
const cut = `${'a'.repeat(99)}\u{1f600}`
const half = '\ud83d'

for (const engine of engines) {
  describe(`texts of providers on ${engine}`, () => {
    let place: TestStore
    let people: People
    let acme: OrganizationId
    before(async () => {
      place = await storeForTests(engine)
      const { store } = place
      const sealer = createSealer(['x'.repeat(32)])
      const sessions = {} as Sessions
      people = new People({ store, clock: systemClock, sealer, sessions, signUp: 'invited' })
      acme = (await new Organizations({ store }).create({ slug: 'acme' }, operator)).id
    })
    after(async () => await place[Symbol.asyncDispose]())

    const chain = async () => await createAudit({ store: place.store }).verify(acme)
    let count = 0

    /** Signs in for the first time as an invited person whose provider sends this name. */
    async function arriveAs(name: string | undefined) {
      const { store } = place
      const email = `person${++count}@acme.test`
      const mailer = { sendInvitation: async () => false }
      const deps = { store, clock: systemClock, baseUrl: 'https://x.test', mailer }
      await new Invitations(deps).invite(acme, { email, role: 'viewer' }, operator)
      const issuer = 'https://idp.test'
      const key = { provider: 'google', connectionId: '', issuer, subject: String(count) }
      const proven = { ...key, email, emailVerified: true, name }
      return { proven, user: (await people.recognize(proven, { kind: 'system' })).user }
    }

    for (const [what, name, kept] of [
      ['a name whose hundredth character takes two code units', cut, cut],
      ['half a surrogate pair', `Ada ${half}`, 'Ada \ufffd'],
      ['U+0000', 'Ada\u0000Byron', 'Ada Byron'],
      ['more than a hundred characters', 'é'.repeat(300), 'é'.repeat(100)],
    ] as const) {
      test(`${what} in a name fails no first sign-in and leaves the audit log whole`, async () => {
        assert.equal((await arriveAs(name)).user.name, kept)
        assert.equal((await chain()).reason, undefined)
      })
    }

    for (const name of ['', ' \u0000\t', undefined]) {
      test(`a person with the name ${JSON.stringify(name)} is named by their address`, async () => {
        const { user } = await arriveAs(name)
        assert.equal(user.name, user.email)
      })
    }

    test('a refused sign-in under such a name leaves the audit log whole', async () => {
      const { proven, user } = await arriveAs('Ada')
      const membership = await memberships.findByUser(place.store, acme, user.id)
      await place.store.transaction(async (tx) => {
        const change = { deactivatedAt: tx.now }
        await memberships.update(tx, { organizationId: acme, id: membership!.id, change })
      })
      const now = { ...proven, name: `\u0000${half}` }
      await assert.rejects(people.recognize(now, { kind: 'system' }), { code: 'sign_in_refused' })
      assert.equal((await chain()).reason, undefined)
    })

    test('an address that is none proves nothing', async () => {
      const { proven } = await arriveAs('Ada')
      for (const email of ['a\u0000@acme.test', `${half}@acme.test`, 'a b@acme.test', '']) {
        const other = { ...proven, subject: `other ${email.length}`, email }
        const refused = { code: 'email_not_verified' }
        await assert.rejects(people.recognize(other, { kind: 'system' }), refused)
      }
    })

    test('whatever text reaches the audit log, the log stays whole', async () => {
      const odd = `x${half}\u0000`
      await place.store.transaction(async (tx) =>
        record(tx, {
          organizationId: acme,
          actor: { kind: 'system', id: odd, name: odd, address: odd, requestId: odd },
          action: 'target.edited',
          subject: { kind: 'test', id: odd },
          detail: { odd },
        }),
      )
      assert.equal((await chain()).reason, undefined)
    })

    test('a name cut to its length is a person’s own choice too', async () => {
      const { user } = await arriveAs('Ada')
      const own = { userId: user.id, connectionId: undefined, provider: 'google' }
      const change = { name: cut, expectedVersion: undefined }
      await people.rename(own, change, { kind: 'user', id: user.id, name: 'Ada' })
      assert.equal((await users.find(place.store, user.id))?.name, cut)
      assert.equal((await chain()).reason, undefined)
    })
  })
}

describe('the claims of a company’s provider', () => {
  const claims = { email: 'ada@acme.test', email_verified: true, sub: 's', name: 'Ada\u0000 B' }
  const read = (more: Record<string, unknown>) =>
    readPerson(
      {
        issuer: 'https://idp.test',
        subject: 's',
        claims: { ...claims, ...more },
        userinfo: undefined,
        idToken: 'header.payload.signature',
      },
      settingsFor('okta', {}),
    )

  for (const odd of ['a\u0000', half]) {
    test(`${JSON.stringify(odd)}, which no database stores, counts as missing`, () => {
      const person = read({ sid: odd, hd: odd, sub: odd, groups: ['one', odd] })
      assert.equal(person.providerSession, undefined)
      assert.equal(person.hostedDomain, undefined)
      assert.equal(person.directoryValue, undefined)
      assert.deepEqual(person.groups, ['one'])
    })
  }

  test('a name stays readable, and is cut between characters', () => {
    assert.equal(read({}).name, 'Ada B')
    assert.equal(read({ name: cut }).name, cut)
  })

  test('the result of a test, which is kept unsealed, holds no id_token', () => {
    const lines = new TestLines()
    lines.read(read({}))
    assert.doesNotMatch(JSON.stringify(lines.result()), /header\.payload/)
  })
})
