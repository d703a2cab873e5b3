import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { systemClock } from '../../src/clock.ts'
import { createId, type OrganizationId, type UserId } from '../../src/ids.ts'
import { Organizations } from '../../src/organizations/index.ts'
import {
  createSso,
  readPerson,
  type CompanyPerson,
  type Connection,
  type Sso,
} from '../../src/sso/index.ts'
import { createSealer } from '../../src/secrets/index.ts'
import { identities, memberships, users, type Store, type Tx } from '../../src/store/index.ts'
import { hostileIdp, type HostileIdp } from '../harness/hostile-idp.ts'
import { localRelyingParty } from '../harness/relying-party.ts'
import { emptyPlace, engines, type Place } from './engines.ts'

const operator = { kind: 'operator' } as const
const admin = { kind: 'user', id: 'usr_admin', name: 'Admin' } as const

for (const engine of engines) {
  describe(`company sign-in on ${engine}`, () => {
    let idp: HostileIdp
    let place: Place
    let store: Store
    let sso: Sso
    let acme: OrganizationId
    let evil: OrganizationId
    let ours: Connection
    let theirs: Connection
    const directory = new Map<string, { userId: UserId; active: boolean }>()
    let directoryOf: string | undefined

    before(async () => {
      idp = await hostileIdp({})
      place = await emptyPlace(engine)
      store = await place.open()
      const organizations = new Organizations({ store })
      const create = async (slug: string) =>
        (await organizations.create({ slug, plan: 'enterprise' }, operator)).id
      acme = await create('acme')
      evil = await create('evil')
      sso = createSso({
        store,
        sealer: createSealer(['x'.repeat(32)]),
        clock: systemClock,
        relyingParty: localRelyingParty(),
        resolveTxt: async () => ({ kind: 'none' }),
        directory: {
          isOn: async (_at, organizationId) => organizationId === directoryOf,
          find: async (_at, _organizationId, { attribute, value }) =>
            directory.get(`${attribute}:${value}`),
        },
        authUrl: 'http://localhost:8080',
        baseUrl: 'http://localhost:8080',
        allowLoopback: true,
      })
      const connect = async (id: OrganizationId) =>
        await sso.connections.connect(
          id,
          {
            issuer: idp.issuerOf('honest'),
            clientId: 'intercept',
            credential: { kind: 'secret', secret: 's' },
          },
          admin,
        )
      ours = await connect(acme)
      theirs = await connect(evil)
      for (const [id, name] of [
        [acme, 'acme.test'],
        [evil, 'evil.test'],
      ] as const) {
        await sso.domains.add(id, { name }, admin)
        await sso.domains.override(id, name, operator)
      }
    })
    after(async () => {
      await store[Symbol.asyncDispose]()
      await place[Symbol.asyncDispose]()
      await idp[Symbol.asyncDispose]()
    })

    const says = (claims: Record<string, unknown>, connection = ours): CompanyPerson =>
      readPerson(
        {
          issuer: connection.issuer,
          subject: String(claims['sub']),
          claims: { email_verified: true, ...claims },
          userinfo: undefined,
        },
        connection.settings,
      )
    const admit = async (claims: Record<string, unknown>, connection = ours) =>
      await sso.signIn.admit(connection, says(claims, connection), operator)
    const refusedWith = async (code: string, work: Promise<unknown>) =>
      await assert.rejects(work, { code })
    /** Adds a user, with a GitHub identity unless `how` says otherwise. */
    async function existing(
      email: string,
      how: { identity?: boolean; memberOf?: OrganizationId; deactivated?: boolean } = {},
    ): Promise<UserId> {
      const id = createId('usr')
      await store.transaction(async (tx) => {
        await users.insert(tx, { id, name: email, email })
        if (how.identity !== false) {
          await identities.insert(tx, {
            id: createId('idn'),
            userId: id,
            provider: 'github',
            connectionId: '',
            issuer: 'https://github.com',
            subject: id,
            email,
            emailVerified: true,
            name: undefined,
          })
        }
        if (how.memberOf === undefined) return
        const member = {
          id: createId('mem'),
          organizationId: how.memberOf,
          userId: id,
          role: 'developer',
          source: 'invitation',
        } as const
        const made = await memberships.insert(tx, member)
        if (how.deactivated === true && made) {
          const change = { deactivatedAt: tx.now }
          await memberships.update(tx, { organizationId: how.memberOf, id: made.id, change })
        }
      })
      return id
    }
    const roleIn = async (organizationId: OrganizationId, userId: UserId) =>
      (await memberships.findByUser(store, organizationId, userId))?.role

    test('a verified address of a verified domain joins in the lowest role, here only', async () => {
      const admitted = await admit({ sub: 'ada', email: 'Ada@ACME.test', name: 'Ada' })
      assert.ok(admitted.kind === 'admitted' && admitted.isNew)
      assert.equal(await roleIn(acme, admitted.user.id), 'viewer')
      assert.equal(await roleIn(evil, admitted.user.id), undefined)
      const again = await admit({ sub: 'ada', email: 'changed@elsewhere.test' })
      assert.ok(again.kind === 'admitted')
      assert.equal(again.user.id, admitted.user.id)
    })

    for (const [name, claims, code] of [
      ['without email_verified', { email_verified: undefined }, 'sso_email_unverified'],
      ['with email_verified false', { email_verified: false }, 'sso_email_unverified'],
      ['with email_verified "true" as a text', { email_verified: 'true' }, 'sso_email_unverified'],
      ['with email_verified 1', { email_verified: 1 }, 'sso_email_unverified'],
      ['without an address', { email: undefined }, 'sso_email_missing'],
      ['with a list of addresses', { email: ['x@acme.test'] }, 'sso_email_missing'],
      ['with two @', { email: 'x@acme.test@evil.test' }, 'sso_email_missing'],
      ["of another organization's domain", { email: 'x@evil.test' }, 'sso_domain_mismatch'],
      ['of an unverified domain', { email: 'x@nobody.test' }, 'sso_domain_mismatch'],
      ['of a subdomain', { email: 'x@sub.acme.test' }, 'sso_domain_mismatch'],
      ['of a look-alike', { email: 'x@аcme.test' }, 'sso_domain_mismatch'],
    ] as const) {
      test(`an address ${name} lets nobody in`, async () => {
        const count = await store.query.selectFrom('user').select('id').execute()
        await refusedWith(code, admit({ sub: 'stranger', email: 'x@acme.test', ...claims }))
        assert.equal(
          (await store.query.selectFrom('user').select('id').execute()).length,
          count.length,
        )
      })
    }

    test('an account with an identity is never linked unasked, and is by its own confirmation', async () => {
      const grace = await existing('grace@acme.test', { memberOf: acme })
      const claims = { sub: 'grace', email: 'grace@acme.test' }
      const pending = await admit(claims)
      assert.ok(pending.kind === 'confirm')
      assert.deepEqual(pending.candidates, [grace])
      assert.equal((await identities.listOf(store, grace)).length, 1)

      const stranger = await existing('mallory@evil.test')
      await refusedWith(
        'sso_confirmation_required',
        sso.signIn.confirm(ours, { link: pending, userId: stranger }, operator),
      )
      const done = await sso.signIn.confirm(ours, { link: pending, userId: grace }, operator)
      assert.equal(done.user.id, grace)
      assert.equal(await roleIn(acme, grace), 'developer')
      const next = await admit(claims)
      assert.ok(next.kind === 'admitted')
    })

    test('a recycled address does not reach the account of who had it before', async () => {
      const first = await admit({ sub: 'old-bob', email: 'bob@acme.test' })
      assert.ok(first.kind === 'admitted')
      const second = await admit({ sub: 'new-bob', email: 'bob@acme.test' })
      assert.equal(second.kind, 'confirm')
      assert.equal((await identities.listOf(store, first.user.id)).length, 1)
    })

    test('a recycled address of somebody deactivated opens nothing', async () => {
      await existing('left@acme.test', { memberOf: acme, deactivated: true })
      await refusedWith('sso_membership_ended', admit({ sub: 'left', email: 'left@acme.test' }))
    })

    test('an account without identities that only this organization has is linked', async () => {
      const id = await existing('carl@acme.test', { identity: false, memberOf: acme })
      const admitted = await admit({ sub: 'carl', email: 'carl@acme.test' })
      assert.ok(admitted.kind === 'admitted')
      assert.equal(admitted.user.id, id)
    })

    test("an organization's provider never reaches an account through another organization", async () => {
      const id = await existing('dora@evil.test', { identity: false, memberOf: acme })
      const outcome = await admit({ sub: 'dora', email: 'dora@evil.test' }, theirs)
      assert.equal(outcome.kind, 'confirm')
      assert.deepEqual(await identities.listOf(store, id), [])
      // The same subject through another connection is a different identity.
      const ada = await admit({ sub: 'ada', email: 'ada@acme.test' })
      assert.ok(ada.kind === 'admitted')
      const other = await admit({ sub: 'ada', email: 'ada@evil.test' }, theirs)
      assert.ok(other.kind === 'admitted')
      assert.notEqual(other.user.id, ada.user.id)
    })

    test('a session through a connection reaches its organization alone', async () => {
      const ada = await admit({ sub: 'ada', email: 'ada@acme.test' })
      assert.ok(ada.kind === 'admitted')
      const visitor = { userId: ada.user.id, provider: 'sso', connectionId: theirs.id }
      const organization = await organizationOf(acme)
      const reach = await sso.policies.reachOf(visitor, organization, { role: 'viewer' })
      assert.equal(reach, 'elsewhere')
      const right = { ...visitor, connectionId: ours.id }
      assert.equal(await sso.policies.reachOf(right, organization, { role: 'viewer' }), 'reached')
    })

    test('what a provider calls verified outside its domains opens no invitation', async () => {
      await admit({ sub: 'eve', email: 'eve@evil.test' }, theirs)
      await admit({ sub: 'eve', email: 'ceo@acme.test' }, theirs)
      const known = await identities.find(store, {
        connectionId: theirs.id,
        issuer: theirs.issuer,
        subject: 'eve',
      })
      assert.equal(known?.emailVerified, false)
    })

    test('a connection that was disabled or moved meanwhile lets nobody in', async () => {
      await sso.connections.disable(evil, theirs.id, admin)
      const claims = { sub: 'late', email: 'late@evil.test' }
      await refusedWith('sso_connection_disabled', admit(claims, theirs))
      await sso.connections.enable(evil, theirs.id, admin)
      await refusedWith(
        'sso_connection_disabled',
        admit(claims, { ...theirs, clientId: 'another' }),
      )
    })

    test('a required group is looked for at every sign-in; groups give the role, never owner', async () => {
      const groupRoles = [
        { group: 'g-dev', role: 'developer' as const },
        { group: 'g-admin', role: 'admin' as const },
      ]
      const strict = await sso.connections.change(evil, theirs.id, {
        change: { requiredGroup: 'g-in', groupRoles },
        actor: { kind: 'operator' },
      })
      const claims = { sub: 'gil', email: 'gil@evil.test' }
      await refusedWith('sso_group_missing', admit(claims, strict))
      await refusedWith('sso_group_missing', admit({ ...claims, groups: ['x'] }, strict))
      const inside = await admit({ ...claims, groups: ['g-in', 'g-dev'] }, strict)
      assert.ok(inside.kind === 'admitted')
      assert.equal(await roleIn(evil, inside.user.id), 'developer')
      await admit({ ...claims, groups: ['g-in', 'g-admin', 'g-dev'] }, strict)
      assert.equal(await roleIn(evil, inside.user.id), 'admin')
      await admit({ ...claims, groups: 'g-in' }, strict)
      assert.equal(await roleIn(evil, inside.user.id), 'viewer')
      await refusedWith('sso_group_missing', admit({ ...claims, groups: ['g-dev'] }, strict))
    })

    test('where people join by invitation only, the domain lets nobody in', async () => {
      const admitNew = async (admitsNewPeople: boolean) =>
        await sso.connections.change(acme, ours.id, { change: { admitsNewPeople }, actor: admin })
      const closed = await admitNew(false)
      await refusedWith('sso_not_admitted', admit({ sub: 'zoe', email: 'zoe@acme.test' }, closed))
      assert.deepEqual(await users.listByEmail(store, 'zoe@acme.test'), [])
      await admitNew(true)
    })

    test('SCIM first: only who the directory has sent comes in, matched by its identifier', async () => {
      directoryOf = acme
      const id = await existing('hedy@acme.test', { identity: false, memberOf: acme })
      const claims = { sub: 'hedy', email: 'hedy@acme.test' }
      await refusedWith('sso_not_admitted', admit(claims))
      directory.set('userName:hedy@acme.test', { userId: id, active: false })
      await refusedWith('sso_membership_ended', admit(claims))
      directory.set('userName:hedy@acme.test', { userId: id, active: true })
      await refusedWith('sso_not_admitted', admit({ ...claims, email_verified: false }))
      const linked = await admit(claims)
      assert.ok(linked.kind === 'admitted')
      assert.equal(linked.user.id, id)
      // Another subject with the same address must confirm: the address may have been given to somebody else.
      assert.equal((await admit({ sub: 'hedy-2', email: 'hedy@acme.test' })).kind, 'confirm')
      directoryOf = undefined
    })

    test('SCIM first with Entra: the object id decides, the address means nothing', async () => {
      directoryOf = acme
      const { connection } = await entra()
      const id = await existing('iris@acme.test', { identity: false, memberOf: acme })
      directory.set('externalId:oid-1', { userId: id, active: true })
      const claims = { sub: 'pairwise', oid: 'oid-2', email: 'iris@acme.test' }
      await refusedWith('sso_not_admitted', admit(claims, connection))
      const linked = await admit({ ...claims, oid: 'oid-1', email: 'other@evil.test' }, connection)
      assert.ok(linked.kind === 'admitted')
      assert.equal(linked.user.id, id)
      directoryOf = undefined
    })

    test('directory and provider together sign nobody in as an owner who has a sign-in of their own', async () => {
      directoryOf = acme
      const { connection } = await entra()
      const id = await existing('olga@acme.test', { memberOf: acme })
      const place = await memberships.findByUser(store, acme, id)
      await store.transaction(async (tx) => await makeOwner(tx, acme, String(place?.id)))
      directory.set('externalId:oid-olga', { userId: id, active: true })
      const claims = { sub: 'mallory', oid: 'oid-olga', email: 'x@evil.test' }
      const pending = await admit(claims, connection)
      assert.ok(pending.kind === 'confirm')
      assert.equal((await identities.listOf(store, id)).length, 1)
      const link = { link: pending, userId: id }
      const confirmed = await sso.signIn.confirm(connection, link, operator)
      assert.equal(confirmed.user.id, id)
      assert.equal((await admit(claims, connection)).kind, 'admitted')
      directoryOf = undefined
    })

    test("Entra's address counts only with xms_edov (nOAuth)", async () => {
      const { connection } = await entra()
      const claims = { sub: 'joan', email: 'joan@acme.test', email_verified: true }
      const person = { ...claims, email_verified: undefined }
      await refusedWith('sso_email_unverified', admit(person, connection))
      const admitted = await admit({ ...person, xms_edov: '1' }, connection)
      assert.ok(admitted.kind === 'admitted')
    })

    test('a preview says what would happen and changes nothing', async () => {
      const person = says({ sub: 'kim', email: 'kim@acme.test' })
      assert.equal(await sso.signIn.preview(ours, person), 'A new member would be let in.')
      assert.deepEqual(await users.listByEmail(store, 'kim@acme.test'), [])
    })

    test('SSO required lets in nothing but the company sign-in, break-glass owners and the operator', async () => {
      const owner = await existing('owner@acme.test', { memberOf: acme })
      const other = await existing('second@acme.test', { memberOf: acme })
      await store.transaction(async (tx) => {
        const found = await memberships.findByUser(tx, acme, owner)
        if (found) await makeOwner(tx, acme, found.id)
      })
      const set = async (required: boolean, breakGlass: UserId[]) =>
        await sso.policies.set(acme, { required, breakGlass }, admin)
      await refusedWith('break_glass_missing', set(true, []))
      await refusedWith('invalid_input', set(true, [other]))
      await set(true, [owner])
      const organization = await organizationOf(acme)
      const reach = async (userId: UserId, provider: string, role: 'owner' | 'developer') =>
        await sso.policies.reachOf({ userId, provider, connectionId: undefined }, organization, {
          role,
        })
      assert.equal(await reach(other, 'github', 'developer'), 'sso_required')
      assert.equal(await reach(other, 'github', 'owner'), 'sso_required')
      assert.equal(await reach(owner, 'github', 'owner'), 'reached')
      assert.equal(await reach(owner, 'github', 'developer'), 'sso_required')
      assert.equal(await reach(other, 'sign_in_link', 'developer'), 'reached')
      await set(false, [owner])
    })

    async function organizationOf(id: OrganizationId) {
      return await new Organizations({ store }).get(id)
    }

    async function entra() {
      const connection = await sso.connections.connect(
        acme,
        {
          kind: 'entra',
          issuer: idp.issuerOf('honest'),
          clientId: `entra-${createId('req')}`,
          credential: { kind: 'secret', secret: 's' },
        },
        admin,
      )
      return { connection }
    }
  })
}

async function makeOwner(tx: Tx, organizationId: OrganizationId, id: string): Promise<void> {
  await memberships.update(tx, { organizationId, id, change: { role: 'owner' } })
}
