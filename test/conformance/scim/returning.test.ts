import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { identities, memberships, organizations } from '../../../src/store/index.ts'
import { createId } from '../../../src/ids.ts'
import { addMember, memberOf, signedInByLink, withStore } from '../../harness/person.ts'
import { engines } from '../../harness/store.ts'
import { directoryForTests, patchUrn, toldWhile, userUrn, type TestDirectory } from './directory.ts'

for (const engine of engines) {
  describe(`names that are given again, on ${engine}`, () => {
    let directory: TestDirectory
    before(async () => {
      directory = await directoryForTests(engine)
    })
    after(async () => await directory[Symbol.asyncDispose]())

    /** Adds a member with a personal key, whom the directory then takes over. */
    async function employee(more: Record<string, unknown> = {}) {
      const email = directory.unique()
      const person = await memberOf(directory.product, 'acme', { email, role: 'admin' })
      const input = { name: 'mine', scheme: 'bearer', personal: true }
      const issued = await person.call('POST /organizations/acme/keys', input)
      assert.equal(issued.status, 201, issued.text)
      const user = await directory.addUser({ userName: email, ...more })
      return { email, user, key: issued.json.secret as string }
    }

    async function keyState(key: string): Promise<string> {
      const answer = await fetch(`${directory.product.baseUrl}/api/v1/intercept`, {
        headers: { authorization: `Bearer ${key}` },
      })
      const body = (await answer.json()) as { code?: string }
      return answer.status === 200 ? 'works' : (body.code ?? String(answer.status))
    }

    const setActive = async (id: string, active: boolean) =>
      await directory.call('PATCH', `/Users/${id}`, {
        schemas: [patchUrn],
        Operations: [{ op: 'replace', path: 'active', value: active }],
      })

    const create = async (userName: string, more: Record<string, unknown> = {}) =>
      await directory.call('POST', '/Users', { schemas: [userUrn], userName, ...more })

    async function membershipOf(id: string) {
      return await withStore(directory.product, async (store) => {
        const organization = await organizations.findBySlug(store, 'acme')
        return await memberships.find(store, organization!.id, id)
      })
    }

    test('a user created again under the same external id has its id, role and keys again', async () => {
      const { email, user, key } = await employee({ externalId: 'hr-1' })
      await setActive(user.id, false)
      const again = await create(email.toUpperCase(), { externalId: 'hr-1' })
      assert.deepEqual([again.status, again.body.id], [201, user.id])
      assert.equal(await keyState(key), 'works')
      assert.equal((await membershipOf(user.id))?.role, 'admin')
    })

    test('a newcomer under a name that was given again gets nothing of whom it belonged to', async () => {
      const { email, user, key } = await employee()
      const group = await directory.addGroup([user.id])
      await setActive(user.id, false)
      const newcomer = await create(email)
      assert.deepEqual([newcomer.status, newcomer.body.id], [201, user.id])
      assert.equal(newcomer.body.active, true)
      assert.equal(newcomer.body.groups, undefined)
      assert.equal((await directory.call('GET', `/Groups/${group.id}`)).body.members, undefined)
      const membership = await membershipOf(user.id)
      assert.deepEqual([membership?.role, membership?.deactivatedAt], ['viewer', undefined])
      assert.equal(await keyState(key), 'credential_revoked')
      // The key stays revoked when the newcomer leaves and comes back.
      await setActive(user.id, false)
      await setActive(user.id, true)
      assert.equal(await keyState(key), 'credential_revoked')
    })

    test('whom a newcomer replaces is removed as anybody is, and the newcomer has another account', async () => {
      const { email, user } = await employee()
      const old = (await membershipOf(user.id))!
      await setActive(user.id, false)
      const told = await toldWhile(directory, async () => {
        assert.equal((await create(email)).status, 201)
      })
      const now = (await membershipOf(user.id))!
      assert.notEqual(now.userId, old.userId)
      const ofMembers = (list: typeof told.audit) =>
        list
          .filter(({ name }) => name.startsWith('member.'))
          .map(({ name, data }) => [name, data.user_id, data.keys])
      const expected = [
        ['member.removed', old.userId, 1],
        ['member.joined', now.userId, undefined],
      ]
      assert.deepEqual(ofMembers(told.audit), expected)
      assert.deepEqual(ofMembers(told.events), expected)
    })

    test('an account that opens other doors stays with the person whose it is', async () => {
      const { email, user } = await employee()
      const old = (await membershipOf(user.id))!
      await withStore(directory.product, async (store) => {
        await store.transaction(async (tx) => {
          const github = { connectionId: '', issuer: 'https://github.com', subject: user.id }
          const rest = { email, emailVerified: true, name: undefined, provider: 'github' }
          const id = createId('idn')
          await identities.insert(tx, { id, userId: old.userId, ...github, ...rest })
        })
      })
      await setActive(user.id, false)
      assert.equal((await create(email)).body.id, user.id)
      assert.notEqual((await membershipOf(user.id))?.userId, old.userId)
      const back = await setActive(user.id, true)
      assert.equal(back.body.active, true)
    })

    test('an inactive user whom the directory knows by another external id keeps its name', async () => {
      const { email, user } = await employee({ externalId: 'hr-2' })
      await setActive(user.id, false)
      const other = await create(email, { externalId: 'hr-3' })
      assert.deepEqual([other.status, other.body.scimType], [409, 'uniqueness'])
    })

    test('DELETE of an inactive user does not announce the deactivation again', async () => {
      const { user } = await employee()
      const leaving = await toldWhile(directory, async () => await setActive(user.id, false))
      assert.deepEqual(
        leaving.events.map(({ name }) => name),
        ['session.revoked', 'member.deactivated', 'scim.user_deprovisioned'],
      )
      const deleted = await toldWhile(directory, async () => {
        assert.equal((await directory.call('DELETE', `/Users/${user.id}`)).status, 204)
      })
      assert.deepEqual(
        deleted.audit.map(({ name, data }) => [name, data.how]),
        [['directory_user.deprovisioned', 'deleted']],
      )
      assert.deepEqual(
        deleted.events.map(({ name }) => name),
        ['scim.user_deprovisioned'],
      )
    })
  })

  describe(`the last owner on ${engine}`, () => {
    let directory: TestDirectory
    before(async () => {
      directory = await directoryForTests(engine)
    })
    after(async () => await directory[Symbol.asyncDispose]())

    test('is adopted and deactivated without ever being lost: access ends, the membership stays', async () => {
      const email = directory.unique()
      const owner = await memberOf(directory.product, 'acme', { email, role: 'owner' })
      const made = await directory.addUser({ userName: email })
      const told = await toldWhile(directory, async () => {
        const off = await patchActive(made.id, false)
        assert.deepEqual([off.status, off.body.active], [200, false])
      })
      assert.deepEqual(
        told.audit.map(({ name }) => name),
        ['member.last_owner_kept', 'directory_user.deprovisioned'],
      )
      assert.equal(told.audit[0]?.data.sessions, 1)
      assert.equal((await owner.call('GET /me')).status, 401)
      assert.equal((await membershipOf(made.id))?.deactivatedAt, undefined)
      const again = await signedInByLink(directory.product, email)
      const page = await again.call('GET /organizations/acme/directory')
      assert.deepEqual(page.json.kept_owner, { id: made.id, name: email })

      // Repeating the request changes nothing while there is no other owner; once there is one, it ends the membership.
      assert.deepEqual(
        (await toldWhile(directory, async () => await patchActive(made.id, false))).audit,
        [],
      )
      const heir = directory.unique()
      await addMember(directory.product, 'acme', { email: heir, role: 'owner' })
      const ended = await toldWhile(directory, async () => await patchActive(made.id, false))
      assert.deepEqual(
        ended.audit.map(({ name }) => name),
        ['member.deactivated'],
      )
      assert.notEqual((await membershipOf(made.id))?.deactivatedAt, undefined)
      assert.equal((await again.call('GET /me')).status, 401)
      const back = await patchActive(made.id, true)
      assert.equal(back.body.active, true)
      assert.equal((await membershipOf(made.id))?.deactivatedAt, undefined)
    })

    test('is deleted by the directory and stays; an adoption as inactive ends access only', async () => {
      await withStore(directory.product, async (store) => {
        await store.transaction(async (tx) => {
          await tx.query.updateTable('membership').set({ role: 'viewer' }).execute()
        })
      })
      const email = directory.unique()
      await addMember(directory.product, 'acme', { email, role: 'owner' })
      const made = await directory.addUser({ userName: email, active: false })
      assert.equal(made.active, false)
      assert.equal((await membershipOf(made.id))?.deactivatedAt, undefined)
      assert.equal((await directory.call('DELETE', `/Users/${made.id}`)).status, 204)
      const left = await membershipOf(made.id)
      assert.deepEqual([left?.role, left?.deactivatedAt], ['owner', undefined])
    })

    const patchActive = async (id: string, active: boolean) =>
      await directory.call('PATCH', `/Users/${id}`, {
        schemas: [patchUrn],
        Operations: [{ op: 'replace', path: 'active', value: active }],
      })

    async function membershipOf(id: string) {
      return await withStore(directory.product, async (store) => {
        const organization = await organizations.findBySlug(store, 'acme')
        return await memberships.find(store, organization!.id, id)
      })
    }
  })
}
