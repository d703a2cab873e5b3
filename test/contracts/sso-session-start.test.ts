import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import { after, before, describe, test } from 'node:test'
import { Sessions, openSigningKeys } from '../../src/access/index.ts'
import { systemClock } from '../../src/clock.ts'
import { createId, type OrganizationId, type UserId } from '../../src/ids.ts'
import { Members, Organizations, People } from '../../src/organizations/index.ts'
import { createSealer } from '../../src/secrets/index.ts'
import { SsoFinishes } from '../../src/signin/sso-finish.ts'
import { createSso, readPerson, type Connection, type Sso } from '../../src/sso/index.ts'
import { identities, memberships, providerSessions, type Store } from '../../src/store/index.ts'
import { hostileIdp, type HostileIdp } from '../harness/hostile-idp.ts'
import { localRelyingParty } from '../harness/relying-party.ts'
import { emptyPlace, engines, type Place } from './engines.ts'

const operator = { kind: 'operator' } as const
const visitor = { address: '127.0.0.1', agent: undefined, requestId: 'req_1' }

for (const engine of engines) {
  describe(`the session of a company sign-in on ${engine}`, () => {
    let idp: HostileIdp
    let successor: HostileIdp
    let place: Place
    let store: Store
    let sso: Sso
    let sessions: Sessions
    let members: Members
    let people: People
    let acme: OrganizationId
    let count = 0

    before(async () => {
      idp = await hostileIdp({})
      successor = await hostileIdp({})
      place = await emptyPlace(engine)
      store = await place.open()
      const clock = systemClock
      const sealer = createSealer(['x'.repeat(32)])
      const baseUrl = 'http://localhost:8080'
      sso = createSso({
        ...{ store, sealer, clock, baseUrl, authUrl: baseUrl, allowLoopback: true },
        relyingParty: localRelyingParty(),
        resolveTxt: async () => ({ kind: 'none' }),
        directory: { isOn: async () => false, find: async () => undefined },
      })
      sessions = new Sessions({
        ...{ store, clock, format: 'opaque', issuer: baseUrl, audience: baseUrl },
        signingKeys: await openSigningKeys({ store, sealer, clock }),
        ...{ lifetimeMs: 60_000, idleMs: 60_000 },
      })
      members = new Members({ store, clock, sessions, policies: sso.policies })
      people = new People({ store, clock, sealer, sessions, signUp: 'invited' })
      const organizations = new Organizations({ store })
      acme = (await organizations.create({ slug: 'acme', plan: 'enterprise' }, operator)).id
      await sso.domains.add(acme, { name: 'acme.test' }, operator)
      await sso.domains.override(acme, 'acme.test', operator)
    })
    after(async () => {
      await store[Symbol.asyncDispose]()
      await place[Symbol.asyncDispose]()
      await idp[Symbol.asyncDispose]()
      await successor[Symbol.asyncDispose]()
    })

    /** Admits a new person through a new connection, but starts no session yet. */
    async function admitted() {
      const connection = await sso.connections.connect(
        acme,
        {
          issuer: idp.issuerOf('honest'),
          clientId: `client ${++count}`,
          credential: { kind: 'secret', secret: 's' },
        },
        operator,
      )
      const sub = `person${count}`
      const claims = { sub, email: `${sub}@acme.test`, email_verified: true }
      const proven = { issuer: connection.issuer, subject: sub, claims, userinfo: undefined }
      const person = readPerson(proven, connection.settings)
      const end = await sso.signIn.admit(connection, person, operator)
      assert.ok(end.kind === 'admitted')
      const member = await memberships.findByUser(store, acme, end.user.id)
      return { connection, admitted: end, person, memberId: member!.id, userId: end.user.id }
    }

    const finishes = (from: Sessions): SsoFinishes =>
      new SsoFinishes({ sso, sessions: from, relyingParty: undefined!, logins: undefined! })

    const living = async (userId: UserId): Promise<number> => (await sessions.list(userId)).length

    type Entry = Awaited<ReturnType<typeof admitted>>
    const acts: Readonly<
      Record<string, { act: (entry: Entry) => Promise<unknown>; code: string }>
    > = {
      'is deactivated': {
        act: async ({ memberId }) =>
          await members.deactivate({ organizationId: acme, id: memberId, actor: operator }),
        code: 'sso_membership_ended',
      },
      'is removed': {
        act: async ({ memberId }) =>
          await members.remove({ organizationId: acme, id: memberId, actor: operator }),
        code: 'sso_membership_ended',
      },
      'comes by a connection that is switched off': {
        act: async ({ connection }) => await sso.connections.disable(acme, connection.id, operator),
        code: 'sso_connection_disabled',
      },
      'comes by a connection that is deleted': {
        act: async ({ connection }) => await sso.connections.remove(acme, connection.id, operator),
        code: 'sso_connection_disabled',
      },
      'comes by a connection that gets another provider': {
        act: async ({ connection }: { connection: Connection }) =>
          await sso.connections.change(acme, connection.id, {
            change: {
              issuer: successor.issuerOf('honest'),
              credential: { kind: 'secret', secret: 's' },
            },
            actor: operator,
          }),
        code: 'sso_connection_disabled',
      },
      'removes the identity': {
        act: async ({ userId, admitted: { identityId } }) => {
          const other = { userId, provider: 'github', connectionId: '', issuer: 'https://git.test' }
          const texts = { email: undefined, emailVerified: false, name: undefined }
          await store.transaction(async (tx) => {
            const id = createId('idn')
            await identities.insert(tx, { ...other, ...texts, id, subject: userId })
          })
          await people.removeIdentity(userId, identityId, { kind: 'user', id: userId })
        },
        code: 'sign_in_refused',
      },
    }

    for (const [who, { act, code }] of Object.entries(acts)) {
      test(`does not begin for somebody who ${who} after the admission`, async () => {
        const entry = await admitted()
        await act(entry)
        await assert.rejects(finishes(sessions).startSession(entry, visitor), { code })
        assert.equal(await living(entry.userId), 0)
      })

      test(`ends for somebody who ${who} while it begins`, async () => {
        const entry = await admitted()
        let done: Promise<unknown> = Promise.resolve()
        const slow: Sessions = Object.assign(Object.create(sessions), {
          start: async (...[input, within]: Parameters<Sessions['start']>) =>
            await sessions.start(input, async (tx, session) => {
              await within?.(tx, session)
              done = act(entry)
              // Give the action time to start before this transaction commits.
              for (let turn = 0; turn < 50; turn++) await setImmediate()
            }),
        })
        await finishes(slow).startSession(entry, visitor)
        await done
        assert.equal(await living(entry.userId), 0)
      })
    }

    test('does not begin by an identity that was removed after the admission', async () => {
      const entry = await admitted()
      const { userId } = entry
      const { identityId } = entry.admitted
      await store.transaction(async (tx) => await identities.remove(tx, userId, identityId))
      const code = 'sign_in_refused'
      await assert.rejects(finishes(sessions).startSession(entry, visitor), { code })
    })

    test('begins together with what its provider must know to end it', async () => {
      const entry = await admitted()
      const cookies = await finishes(sessions).startSession(entry, visitor)
      assert.ok(cookies.length > 0)
      const known = await providerSessions.listOfConnection(store, entry.connection.id, 0)
      assert.deepEqual(
        known.map(({ userId }) => userId),
        [entry.userId],
      )
    })
  })
}
