import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { systemClock } from '../../src/clock.ts'
import { createId, type OrganizationId, type UserId } from '../../src/ids.ts'
import { Links, Organizations } from '../../src/organizations/index.ts'
import { SsoPolicies } from '../../src/sso/policy.ts'
import {
  domains,
  idempotentAnswers,
  identities,
  invitations,
  memberships,
  organizations,
  sessions,
  signInLinks,
  usedOnce,
  users,
  type Store,
} from '../../src/store/index.ts'
import { engines, storeForTests, type TestStore } from '../harness/store.ts'

for (const engine of engines) {
  describe(`people on ${engine}`, () => {
    let opened: TestStore
    let store: Store
    before(async () => {
      opened = await storeForTests(engine)
      store = opened.store
    })
    after(async () => await opened[Symbol.asyncDispose]())

    async function makeUser(email?: string): Promise<UserId> {
      const id = createId('usr')
      await store.transaction(async (tx) => await users.insert(tx, { id, name: 'Ada', email }))
      return id
    }

    async function makeOrganization(slug: string): Promise<OrganizationId> {
      const id = createId('org')
      await store.transaction(
        async (tx) => await organizations.insert(tx, { id, slug, name: slug, plan: 'standard' }),
      )
      return id
    }

    async function join(
      organizationId: OrganizationId,
      userId: UserId,
      role: 'owner' | 'viewer',
    ): Promise<string> {
      const id = createId('mem')
      const row = await store.transaction(
        async (tx) =>
          await memberships.insert(tx, { id, organizationId, userId, role, source: 'operator' }),
      )
      assert.ok(row)
      return id
    }

    test('members are found by part of a name or address in any case, by id, and by role besides', async () => {
      const organizationId = await makeOrganization('found')
      const others = await makeOrganization('found-elsewhere')
      const grace = await makeUser('grace@found.test')
      const owner = await join(organizationId, grace, 'owner')
      const nameless = await join(organizationId, await makeUser(), 'viewer')
      await join(others, grace, 'viewer')
      const found = async (search: string, role?: 'owner' | 'viewer') => {
        const page = { search, role, limit: 10 }
        return (await memberships.list(store, organizationId, page)).map(({ id }) => id)
      }
      assert.deepEqual(await found('GRACE@'), [owner])
      assert.deepEqual(await found('ada'), [owner, nameless])
      assert.deepEqual(await found('ada', 'viewer'), [nameless])
      assert.deepEqual(await found(nameless), [nameless])
      assert.deepEqual(await found('%'), [])
    })

    test('members are found by address with the same queries however many people have it', async () => {
      const organizationId = await makeOrganization('alike')
      const other = await makeOrganization('alike-elsewhere')
      const address = 'noreply@alike.test'
      const proven = await makeUser(address)
      await join(organizationId, proven, 'viewer')
      for (let made = 0; made < 30; made++) {
        const id = createId('usr')
        const person = { id, name: 'Ada', email: address, emailFrom: other }
        await store.transaction(async (tx) => await users.insert(tx, person))
        await join(organizationId, id, 'viewer')
      }
      let queries = 0
      const query = new Proxy(store.query, {
        get(target, name) {
          if (name === 'selectFrom') queries++
          const value = Reflect.get(target, name) as unknown
          return typeof value === 'function' ? value.bind(target) : value
        },
      })
      const keys = [address, 'ada@elsewhere.test', 'without an at']
      const find = async () => {
        const found = await memberships.listByEmailKeys({ ...store, query }, organizationId, keys)
        return found.map(({ userId }) => userId)
      }
      assert.deepEqual(await find(), [proven])
      assert.ok(queries <= 3, String(queries))
      // These people have their addresses from the other organization. The addresses count once that organization has
      // verified their domain.
      await store.transaction(async (tx) => {
        const domain = { id: createId('dom'), organizationId: other, name: 'alike.test' }
        const more = { challenge: 'x', connectionId: undefined, nextCheckAt: tx.now }
        assert.ok(await domains.hold(tx, (await domains.insert(tx, { ...domain, ...more }))!))
      })
      assert.equal((await find()).length, 10)
    })

    test('what several change of an organization at the same time is all kept', async () => {
      const deps = { store, clock: systemClock, directory: { isOn: async () => false } }
      const [changes, policies] = [new Organizations(deps), new SsoPolicies(deps)]
      const operator = { kind: 'operator' } as const
      const { id } = await changes.create({ slug: 'busy', plan: 'enterprise' }, operator)
      const userId = await makeUser()
      await join(id, userId, 'owner')
      for (let days = 1; days <= 20; days++) {
        const keyDefaults = { scheme: 'x-api-key', expiresAfterMs: days * 86_400_000 } as const
        const sso = { required: false, breakGlass: days % 2 === 1 ? [userId] : [] }
        await Promise.all([
          policies.set(id, sso, operator),
          changes.change(id, { keyDefaults }, operator),
        ])
        const { settings } = await changes.get(id)
        assert.deepEqual(settings, { sso, keyDefaults })
      }
    })

    test('an e-mail address is found whatever its case, and may be several people’s', async () => {
      const one = await makeUser('Ünal@X.test')
      const two = await makeUser('ünal@x.TEST')
      const found = await users.listByEmail(store, 'ÜNAL@x.test')
      assert.deepEqual(found.map((user) => user.id).sort(), [one, two].sort())
    })

    test('connection, issuer and subject name one person once, and the same subject elsewhere is somebody else', async () => {
      const one = await makeUser()
      const two = await makeUser()
      const insert = async (userId: UserId, connectionId: string) =>
        await store.transaction(
          async (tx) =>
            await identities.insert(tx, {
              id: createId('idn'),
              userId,
              provider: 'google',
              connectionId,
              issuer: 'https://idp.test',
              subject: 'same',
              email: 'a@b.test',
              emailVerified: true,
              name: undefined,
            }),
        )
      assert.ok(await insert(one, ''))
      assert.equal(await insert(two, ''), undefined)
      assert.ok(await insert(two, 'con_x'))
      const key = { issuer: 'https://idp.test', subject: 'same' }
      assert.equal((await identities.find(store, { ...key, connectionId: '' }))?.userId, one)
      assert.equal((await identities.find(store, { ...key, connectionId: 'con_x' }))?.userId, two)
      assert.equal(await identities.find(store, { ...key, connectionId: 'con_y' }), undefined)
    })

    test('a membership of another organization is not found, changed or removed', async () => {
      const [mine, other] = [await makeOrganization('mine'), await makeOrganization('other')]
      const id = await join(mine, await makeUser('m@x.test'), 'viewer')
      assert.ok(await memberships.find(store, mine, id))
      assert.equal(await memberships.find(store, other, id), undefined)
      await store.transaction(async (tx) => {
        assert.equal(
          await memberships.update(tx, { organizationId: other, id, change: { role: 'owner' } }),
          undefined,
        )
        assert.equal(await memberships.remove(tx, other, id), false)
        assert.ok(
          await memberships.update(tx, {
            organizationId: mine,
            id,
            change: { role: 'owner', expectedVersion: 1 },
          }),
        )
        assert.equal(
          await memberships.update(tx, {
            organizationId: mine,
            id,
            change: { role: 'viewer', expectedVersion: 1 },
          }),
          undefined,
        )
      })
    })

    test('two transactions that each take an owner away cannot both find another owner left', async () => {
      const organization = await makeOrganization('owners')
      const people = [await makeUser(), await makeUser()]
      const ids = [
        await join(organization, people[0]!, 'owner'),
        await join(organization, people[1]!, 'owner'),
      ]
      const outcomes = await Promise.allSettled(
        ids.map(
          async (id) =>
            await store.transaction(async (tx) => {
              if ((await memberships.countOwners(tx, organization)) < 2) throw new Error('last')
              await memberships.update(tx, {
                organizationId: organization,
                id,
                change: { role: 'viewer' },
              })
            }),
        ),
      )
      assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
    })

    test('an invitation is accepted once, not when withdrawn, not when too old', async () => {
      const organizationId = await makeOrganization('inviting')
      const userId = await makeUser()
      const invite = async (digest: string, expiresAt: number) =>
        await store.transaction(
          async (tx) =>
            await invitations.insert(tx, {
              id: createId('inv'),
              organizationId,
              email: 'New@x.test',
              role: 'viewer',
              createdBy: undefined,
              expiresAt,
              digest,
            }),
        )
      const accept = async (id: string) =>
        await store.transaction(
          async (tx) => await invitations.accept(tx, { organizationId, id }, userId),
        )
      const open = await invite('d1', Date.now() + 60_000)
      const old = await invite('d2', Date.now() - 1)
      assert.equal((await invitations.listOpenFor(store, 'new@X.test', Date.now())).length, 1)
      assert.ok(await accept(open.id))
      assert.equal(await accept(open.id), undefined)
      assert.equal(await accept(old.id), undefined)
      const withdrawn = await invite('d3', Date.now() + 60_000)
      await store.transaction(
        async (tx) => await invitations.revoke(tx, organizationId, withdrawn.id),
      )
      assert.equal(await accept(withdrawn.id), undefined)
    })

    test('sessions end one by one, all but one, or all, and stay ended', async () => {
      const userId = await makeUser('s@x.test')
      const start = async (digest: string) =>
        await store.transaction(
          async (tx) =>
            await sessions.insert(tx, {
              id: createId('ses'),
              userId,
              digest,
              provider: 'github',
              identityId: undefined,
              connectionId: undefined,
              expiresAt: Date.now() + 60_000,
              address: '127.0.0.1',
              agent: undefined,
            }),
        )
      const [one, two, three] = [await start('s1'), await start('s2'), await start('s3')]
      const why = { by: userId, reason: 'test' }
      const end = async (which: { id?: string; except?: string }) =>
        await store.transaction(async (tx) => await sessions.end(tx, { userId, which, why }))
      assert.deepEqual(
        (await end({ id: one.id })).map(({ id }) => id),
        [one.id],
      )
      assert.deepEqual(await end({ id: one.id }), [])
      assert.deepEqual(
        (await end({ except: three.id })).map(({ id }) => id),
        [two.id],
      )
      const living = await sessions.listLiving(store, userId, { nowMs: Date.now() })
      assert.deepEqual(
        living.map(({ id }) => id),
        [three.id],
      )
      assert.equal((await sessions.findByDigest(store, 's2'))?.endReason, 'test')
    })

    test('a link is used once, in its kind only, and a setup link can end the older ones', async () => {
      const expiresAt = Date.now() + 60_000
      const add = async (digest: string, kind: 'setup' | 'sign_in') =>
        await store.transaction(
          async (tx) =>
            await signInLinks.insert(tx, { digest, kind, userId: undefined, expiresAt }),
        )
      const use = async (digest: string, kind: 'setup' | 'sign_in') =>
        await store.transaction(async (tx) => await signInLinks.use(tx, digest, kind))
      const remove = async (endingBeforeMs: number) =>
        await store.transaction(async (tx) => await signInLinks.removeSetUp(tx, endingBeforeMs))
      await add('l1', 'setup')
      await remove(expiresAt)
      assert.ok(await signInLinks.findOpen(store, 'l1', Date.now()))
      await remove(Infinity)
      await add('l2', 'setup')
      assert.equal(await use('l1', 'setup'), undefined)
      assert.equal(await use('l2', 'sign_in'), undefined)
      assert.ok(await use('l2', 'setup'))
      assert.equal(await use('l2', 'setup'), undefined)
    })

    test('the setup links that several nodes print all work, until the operator asks for a new one', async () => {
      await using fresh = await storeForTests(engine)
      const links = new Links({
        store: fresh.store,
        clock: systemClock,
        baseUrl: 'http://localhost',
      })
      const tokenOf = (url: string | undefined) => url?.split('token=')[1] ?? ''
      const first = tokenOf(await links.setupLink({ keepOlder: true }))
      const second = tokenOf(await links.setupLink({ keepOlder: true }))
      assert.deepEqual(
        [await links.isSetupOpen(first), await links.isSetupOpen(second)],
        [true, true],
      )
      const third = tokenOf(await links.setupLink())
      assert.deepEqual(
        [
          await links.isSetupOpen(first),
          await links.isSetupOpen(second),
          await links.isSetupOpen(third),
        ],
        [false, false, true],
      )
    })

    test('what may happen once happens once, also when two ask at the same time', async () => {
      const outcomes = await Promise.all(
        [1, 2, 3].map(
          async () =>
            await store.transaction(async (tx) => await usedOnce.use(tx, 'u1', Date.now() + 1000)),
        ),
      )
      assert.equal(outcomes.filter(Boolean).length, 1)
    })

    test('an Idempotency-Key is taken once a person and keeps its answer', async () => {
      const [one, two] = [await makeUser(), await makeUser()]
      const take = async (userId: UserId) =>
        await store.transaction(
          async (tx) =>
            await idempotentAnswers.take(tx, {
              userId,
              keyDigest: 'k',
              route: 'POST /x',
              requestDigest: 'r',
            }),
        )
      assert.equal(await take(one), true)
      assert.equal(await take(one), false)
      assert.equal(await take(two), true)
      await store.transaction(
        async (tx) =>
          await idempotentAnswers.keep(tx, {
            userId: one,
            keyDigest: 'k',
            answer: { status: 201, answerSealed: 'sealed' },
          }),
      )
      const kept = await idempotentAnswers.find(store, one, 'k')
      assert.equal(kept?.answerSealed, 'sealed')
      await store.transaction(async (tx) => await idempotentAnswers.release(tx, two, 'k'))
      assert.equal(await take(two), true)
    })
  })
}
