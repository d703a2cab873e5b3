import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { OrganizationId } from '../../src/ids.ts'
import { auditEntries, events, organizations, type Store } from '../../src/store/index.ts'
import { groupUrn, patchUrn, scimCall, userUrn } from '../conformance/scim/directory.ts'
import { eventsThatFit } from '../harness/events.ts'
import { hostileIdp, type HostileIdp } from '../harness/hostile-idp.ts'
import {
  addMember,
  firstOwner,
  memberOf,
  signedInByLink,
  withStore,
  type Person,
} from '../harness/person.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'
import { Jar } from '../harness/sign-in.ts'
import { command, walk } from '../harness/sso.ts'
import { engines } from '../harness/store.ts'

interface Subject {
  readonly slug: string
  readonly email: string
  readonly membershipId: string
  readonly userId: string
}

/** The visible effects of a change, without the ids of the person concerned. */
type Seen = Record<string, unknown>

for (const engine of engines) {
  describe(`what becomes of a membership is the same through every way in, on ${engine}`, () => {
    let product: TestProduct
    let idp: HostileIdp
    let owner: Person
    let ssoOwner: Person
    let token: string
    let ssoStart: string
    let count = 0

    before(async () => {
      idp = await hostileIdp({})
      product = await productForTests({ engine })
      owner = await firstOwner(product)
      await command(product, 'org set-plan acme enterprise')
      const issued = await owner.call('POST /organizations/acme/directory/tokens', { name: 'x' })
      token = issued.json.secret as string
      ssoOwner = await memberOf(product, 'solo', { email: 'olga@solo.test', role: 'owner' })
      const made = await ssoOwner.call('POST /organizations/solo/connections', {
        issuer: idp.issuerOf('honest'),
        client_id: 'intercept',
        client_secret: 's',
        group_roles: [
          { group: 'developers', role: 'developer' },
          { group: 'administrators', role: 'admin' },
        ],
      })
      assert.equal(made.status, 201, made.text)
      ssoStart = made.json.initiate_login_uri as string
      await ssoOwner.call('POST /organizations/solo/domains', { name: 'solo.test' })
      await command(product, 'sso verify-domain solo solo.test --override')
    })
    after(async () => {
      await product[Symbol.asyncDispose]()
      await idp[Symbol.asyncDispose]()
    })

    const unique = (domain = 'acme.test'): string => `person${++count}@${domain}`
    const scim = async (method: string, path: string, body?: unknown) =>
      await scimCall(`${product.baseUrl}/scim/v2${path}`, method, { token, body })

    async function subjectOf(slug: string, email: string): Promise<Subject> {
      return await withStore(product, async (store) => {
        const row = await store.query
          .selectFrom('membership')
          .innerJoin('user', 'user.id', 'membership.user_id')
          .innerJoin('organization', 'organization.id', 'membership.organization_id')
          .select(['membership.id', 'membership.user_id'])
          .where('user.email', '=', email)
          .where('organization.slug', '=', slug)
          .executeTakeFirstOrThrow()
        return { slug, email, membershipId: row.id, userId: row.user_id }
      })
    }

    async function signInByProvider(email: string, groups: readonly string[]): Promise<void> {
      idp.person = { sub: email, email, email_verified: true, name: email, groups }
      const answer = await walk(new Jar(), ssoStart)
      assert.equal(answer.status, 200, await answer.text())
    }

    /** Signs a person in several times; with the first session, the person issues two personal keys. */
    async function equip(slug: string, email: string, sessions = 2): Promise<void> {
      for (let at = 0; at < sessions; at++) {
        const person = await signedInByLink(product, email)
        if (at > 0) continue
        for (const name of ['one', 'two']) {
          const key = { name, scheme: 'bearer', personal: true }
          const issued = await person.call(`POST /organizations/${slug}/keys`, key)
          assert.equal(issued.status, 201, issued.text)
        }
      }
    }

    /** Adds a developer who has sessions and keys and is not managed by a directory. */
    async function developer(): Promise<Subject> {
      const email = unique()
      await addMember(product, 'acme', { email, role: 'developer' })
      await equip('acme', email)
      return await subjectOf('acme', email)
    }

    /** Adds another developer, whom the directory then takes over. */
    async function directoryDeveloper(): Promise<Subject> {
      const subject = await developer()
      const sent = await scim('POST', '/Users', {
        schemas: [userUrn],
        userName: subject.email,
        active: true,
      })
      assert.equal(sent.body.id, subject.membershipId, JSON.stringify(sent.body))
      return subject
    }

    async function seenWhile(find: () => Promise<Subject>, work: () => Promise<unknown>) {
      const mark = await withStore(product, async (store) => {
        const row = await store.query
          .selectFrom('change')
          .select((eb) => eb.fn.max('sequence').as('last'))
          .executeTakeFirst()
        const told: Record<string, { audit: number; events: number }> = {}
        for (const slug of ['acme', 'solo']) {
          const { id } = (await organizations.findBySlug(store, slug))!
          told[slug] = {
            audit: (await auditOf(store, id)).length,
            events: (await events.listAfter(store, id, { after: 0, limit: 10_000 })).length,
          }
        }
        return { change: row?.last ?? 0, told }
      })
      await work()
      const subject = await find()
      return await withStore(product, async (store): Promise<Seen> => {
        const { id } = (await organizations.findBySlug(store, subject.slug))!
        const from = mark.told[subject.slug]!
        await eventsThatFit(store, id)
        const audit = (await auditOf(store, id)).slice(from.audit)
        const told = await events.listAfter(store, id, { after: 0, limit: 10_000 })
        const sessions = await store.query
          .selectFrom('session')
          .select(['ended_at', 'end_reason', 'signed_in_at'])
          .where('user_id', '=', subject.userId)
          .orderBy('id')
          .execute()
        const keys = await store.query
          .selectFrom('api_key')
          .select(['suspended_at', 'revoked_at'])
          .where('personal_user_id', '=', subject.userId)
          .execute()
        const changes = await store.query
          .selectFrom('change')
          .select(['kind', 'subject_id'])
          .where('sequence', '>', mark.change)
          .where('kind', 'in', ['membership', 'session', 'key'])
          .orderBy('sequence')
          .execute()
        const plain = (value: unknown): unknown =>
          JSON.parse(
            JSON.stringify(value)
              .replaceAll(subject.membershipId, 'MEMBERSHIP')
              .replaceAll(subject.userId, 'PERSON')
              .replaceAll(subject.email, 'ADDRESS')
              .replaceAll(/ses_[a-z0-9]+/g, 'SESSION')
              .replaceAll(/key_[a-z0-9]+/g, 'KEY'),
          )
        return {
          audit: plain(
            audit
              .filter(({ action }) => action.startsWith('member.'))
              .map((row) => [row.action, row.subject_kind, row.subject_id, JSON.parse(row.detail)]),
          ),
          events: plain(
            told
              .slice(from.events)
              .filter(({ type }) => /^(member|session)\./.test(type))
              .map(({ type, body }) => [type, (JSON.parse(body.toString()) as Seen)['data']]),
          ),
          // Leave out sessions that have not ended: one entry point is a sign-in, which starts another session.
          sessions: sessions
            .filter(({ ended_at: at, end_reason: reason }) => at !== null || reason !== null)
            .map(({ end_reason: reason }) => reason),
          keys: keys.map((key) =>
            key.revoked_at !== null ? 'revoked' : key.suspended_at !== null ? 'suspended' : 'works',
          ),
          changes: plain(
            changes
              .map(({ kind, subject_id: whose }) => `${kind} ${whose}`)
              .map((line) => line.replace(/^session .*/, 'session SESSION')),
          ),
        }
      })
    }

    async function same(ways: Record<string, () => Promise<Seen>>): Promise<Seen> {
      const seen: [string, Seen][] = []
      for (const [way, look] of Object.entries(ways)) seen.push([way, await look()])
      const [first] = seen
      for (const [way, found] of seen)
        assert.deepEqual(found, first?.[1], `${way} and ${first?.[0]}`)
      return first?.[1] ?? {}
    }

    test('joined: by the operator, by the directory, by the company sign-in', async () => {
      const joined =
        (slug: string, domain: string, work: (email: string) => Promise<unknown>) =>
        async (): Promise<Seen> => {
          const email = unique(domain)
          const seen = await seenWhile(
            async () => await subjectOf(slug, email),
            async () => await work(email),
          )
          const { audit, events: told, changes } = seen as Record<string, unknown[]>
          const entries = JSON.parse(
            JSON.stringify(audit).replaceAll(/"source":"[a-z]+"/g, '"source":"…"'),
          ) as unknown
          return {
            entries,
            told,
            changes: changes?.filter((line) => String(line).startsWith('membership')),
          }
        }
      const seen = await same({
        'command line': joined('acme', 'acme.test', async (email) => {
          await command(product, `member add acme ${email} --role viewer`)
        }),
        SCIM: joined('acme', 'acme.test', async (email) => {
          const sent = await scim('POST', '/Users', {
            schemas: [userUrn],
            userName: email,
            emails: [{ value: email, primary: true }],
            active: true,
          })
          assert.equal(sent.status, 201)
        }),
        'company sign-in': joined('solo', 'solo.test', async (email) => {
          await signInByProvider(email, [])
        }),
      })
      assert.deepEqual(seen['entries'], [
        [
          'member.joined',
          'membership',
          'MEMBERSHIP',
          { user_id: 'PERSON', name: 'ADDRESS', role: 'viewer', source: '…' },
        ],
      ])
    })

    test('role changed: on the page, by a group of the directory, by a group of the provider', async () => {
      const seen = await same({
        dashboard: async () => {
          const subject = await developer()
          const path = `PATCH /organizations/acme/members/${subject.membershipId}`
          return await seenWhile(
            async () => subject,
            async () => assert.equal((await owner.call(path, { role: 'admin' })).status, 200),
          )
        },
        SCIM: async () => {
          const subject = await directoryDeveloper()
          const group = await scim('POST', '/Groups', {
            schemas: [groupUrn],
            displayName: `group ${++count}`,
            members: [],
          })
          const id = String(group.body.id)
          const role = `PUT /organizations/acme/directory/groups/${id}/role`
          assert.equal((await owner.call(role, { role: 'admin' })).status, 200)
          return await seenWhile(
            async () => subject,
            async () => {
              const value = [{ value: subject.membershipId }]
              const changed = await scim('PATCH', `/Groups/${id}`, {
                schemas: [patchUrn],
                Operations: [{ op: 'add', path: 'members', value }],
              })
              assert.equal(changed.status, 204)
            },
          )
        },
        'company sign-in': async () => {
          const email = unique('solo.test')
          await signInByProvider(email, ['developers'])
          await equip('solo', email, 1)
          const subject = await subjectOf('solo', email)
          return await seenWhile(
            async () => subject,
            async () => await signInByProvider(email, ['administrators']),
          )
        },
      })
      assert.deepEqual(seen['sessions'], ['role_changed', 'role_changed'])
      assert.deepEqual(seen['keys'], ['works', 'works'])
      assert.deepEqual(seen['audit'], [
        [
          'member.role_changed',
          'membership',
          'MEMBERSHIP',
          { user_id: 'PERSON', name: 'ADDRESS', before: 'developer', after: 'admin' },
        ],
      ])
    })

    const setActive = async (id: string, active: boolean): Promise<void> => {
      const changed = await scim('PATCH', `/Users/${id}`, {
        schemas: [patchUrn],
        Operations: [{ op: 'replace', path: 'active', value: active }],
      })
      assert.equal(changed.status, 200, JSON.stringify(changed.body))
    }

    test('deactivated: on the page, by the directory, by deletion in the directory', async () => {
      const seen = await same({
        dashboard: async () => {
          const subject = await developer()
          const path = `PATCH /organizations/acme/members/${subject.membershipId}`
          return await seenWhile(
            async () => subject,
            async () => assert.equal((await owner.call(path, { active: false })).status, 200),
          )
        },
        'SCIM active: false': async () => {
          const subject = await directoryDeveloper()
          return await seenWhile(
            async () => subject,
            async () => await setActive(subject.membershipId, false),
          )
        },
        'SCIM DELETE': async () => {
          const subject = await directoryDeveloper()
          return await seenWhile(
            async () => subject,
            async () => {
              const gone = await scim('DELETE', `/Users/${subject.membershipId}`)
              assert.equal(gone.status, 204)
            },
          )
        },
      })
      assert.deepEqual(seen['sessions'], ['deactivated', 'deactivated'])
      assert.deepEqual(seen['keys'], ['suspended', 'suspended'])
    })

    test('reactivated: on the page, by the directory', async () => {
      const seen = await same({
        dashboard: async () => {
          const subject = await developer()
          const path = `PATCH /organizations/acme/members/${subject.membershipId}`
          await owner.call(path, { active: false })
          return await seenWhile(
            async () => subject,
            async () => assert.equal((await owner.call(path, { active: true })).status, 200),
          )
        },
        SCIM: async () => {
          const subject = await directoryDeveloper()
          await setActive(subject.membershipId, false)
          return await seenWhile(
            async () => subject,
            async () => await setActive(subject.membershipId, true),
          )
        },
      })
      assert.deepEqual(seen['keys'], ['works', 'works'])
    })

    test('removed: sessions end and personal keys are revoked, with one entry and one event', async () => {
      const subject = await developer()
      const path = `DELETE /organizations/acme/members/${subject.membershipId}`
      const seen = await seenWhile(
        async () => subject,
        async () => assert.equal((await owner.call(path)).status, 200),
      )
      assert.deepEqual(seen['sessions'], ['removed', 'removed'])
      assert.deepEqual(seen['keys'], ['revoked', 'revoked'])
      assert.deepEqual(seen['audit'], [
        [
          'member.removed',
          'membership',
          'MEMBERSHIP',
          { user_id: 'PERSON', name: 'ADDRESS', sessions: 2, keys: 2, access_tokens: 0 },
        ],
      ])
    })
  })
}

const auditOf = async (store: Store, organizationId: OrganizationId) =>
  await auditEntries.listFrom(store, { organizationId, fromSequence: 0, limit: 10_000 })
