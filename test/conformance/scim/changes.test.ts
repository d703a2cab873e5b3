import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { addMember, memberOf, type Person } from '../../harness/person.ts'
import { engines } from '../../harness/store.ts'
import {
  directoryForTests,
  groupUrn,
  patchUrn,
  scimCall,
  toldWhile,
  userUrn,
  type ScimReply,
  type TestDirectory,
  type Told,
} from './directory.ts'

for (const engine of engines) {
  describe(`what the directory changes, on ${engine}`, () => {
    let directory: TestDirectory
    let admin: Person
    before(async () => {
      directory = await directoryForTests(engine)
      admin = await memberOf(directory.product, 'acme', { email: 'boss@acme.test', role: 'owner' })
    })
    after(async () => await directory[Symbol.asyncDispose]())

    const call: TestDirectory['call'] = async (...given) => await directory.call(...given)
    const patch = async (path: string, ...Operations: unknown[]): Promise<ScimReply> =>
      await call('PATCH', path, { schemas: [patchUrn], Operations })
    const names = (rows: readonly Told[]): string[] => rows.map(({ name }) => name)
    const roleOf = async (id: string): Promise<string> =>
      (await admin.call(`GET /organizations/acme/members/${id}`)).json.role
    const mapRole = async (groupId: string, role: string | null) =>
      await admin.call(`PUT /organizations/acme/directory/groups/${groupId}/role`, { role })

    test('every change of a user is one audit entry of the directory and one event, beside those of the membership', async () => {
      const userName = directory.unique()
      let id = ''
      const made = await toldWhile(directory, async () => {
        id = (await call('POST', '/Users', { schemas: [userUrn], userName })).body.id
      })
      assert.deepEqual(names(made.audit), ['member.joined', 'directory_user.created'])
      assert.deepEqual(names(made.events).toSorted(), ['member.joined', 'scim.user_created'])
      const created = made.events.find(({ name }) => name === 'scim.user_created')
      assert.deepEqual([created?.data.id, created?.data.user_name], [id, userName])
      const title = { op: 'replace', path: 'title', value: 'Captain' }
      const changed = await toldWhile(directory, async () => await patch(`/Users/${id}`, title))
      assert.deepEqual(names(changed.audit), ['directory_user.updated'])
      assert.deepEqual(names(changed.events), ['scim.user_updated'])
      const again = await toldWhile(directory, async () => {
        const { headers } = await patch(`/Users/${id}`, title)
        assert.equal(headers.get('etag'), 'W/"2"')
      })
      assert.deepEqual([again.audit, again.events], [[], []], 'the same again is no change')
      const off = await toldWhile(directory, async () => {
        await patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false })
      })
      assert.deepEqual(names(off.audit), ['member.deactivated', 'directory_user.deprovisioned'])
      const on = await toldWhile(directory, async () => {
        await patch(`/Users/${id}`, { op: 'replace', path: 'active', value: true })
      })
      assert.deepEqual(names(on.audit), ['member.reactivated', 'directory_user.updated'])
      const refused = await toldWhile(directory, async () => {
        const wrong = { op: 'replace', path: 'active', value: 'perhaps' }
        assert.equal((await patch(`/Users/${id}`, title, wrong)).status, 400)
        const taken = { schemas: [userUrn], userName }
        assert.equal((await call('POST', '/Users', taken)).status, 409)
      })
      assert.deepEqual([refused.audit, refused.events], [[], []], 'a refusal is no change')
    })

    test('every change of a group is one audit entry and one event', async () => {
      const user = await directory.addUser()
      let id = ''
      const told = await toldWhile(directory, async () => {
        id = (await directory.addGroup([user.id])).id
        await patch(`/Groups/${id}`, { op: 'remove', path: 'members' })
        await patch(`/Groups/${id}`, { op: 'remove', path: 'members' })
        await call('DELETE', `/Groups/${id}`)
      })
      assert.deepEqual(names(told.audit), [
        'directory_group.created',
        'directory_group.updated',
        'directory_group.deleted',
      ])
      assert.deepEqual(
        told.events.map(({ name, data }) => [
          name,
          data.change,
          data.members_added,
          data.members_removed,
        ]),
        [
          ['scim.group_changed', 'created', 1, 0],
          ['scim.group_changed', 'updated', 0, 1],
          ['scim.group_changed', 'deleted', 0, 0],
        ],
      )
    })

    test('groups give roles, the highest wins, never owner; the preview says whose would change', async () => {
      const [user, owner] = [await directory.addUser(), directory.unique()]
      await addMember(directory.product, 'acme', { email: owner, role: 'owner' })
      const ownerId = (await directory.addUser({ userName: owner })).id
      const developers = (await directory.addGroup([user.id, ownerId])).id
      const admins = (await directory.addGroup([user.id])).id
      assert.equal(await roleOf(user.id), 'viewer')
      const preview = await admin.call(
        `POST /organizations/acme/directory/groups/${developers}/role/preview`,
        { role: 'developer' },
      )
      assert.deepEqual(
        preview.json.items.map((each: Record<string, string>) => [
          each['membership_id'],
          each['before'],
          each['after'],
        ]),
        [[user.id, 'viewer', 'developer']],
      )
      assert.equal(await roleOf(user.id), 'viewer', 'a preview changes nothing')
      const mapped = await toldWhile(directory, async () => {
        assert.equal((await mapRole(developers, 'developer')).json.changed, 1)
      })
      assert.deepEqual(names(mapped.audit), ['member.role_changed', 'directory_group.role_mapped'])
      assert.equal(await roleOf(user.id), 'developer')
      assert.equal(await roleOf(ownerId), 'owner')
      await mapRole(admins, 'admin')
      assert.equal(await roleOf(user.id), 'admin')
      // Once the user has left one group, the role that the other group gives remains.
      await patch(`/Groups/${admins}`, { op: 'remove', path: `members[value eq "${user.id}"]` })
      assert.equal(await roleOf(user.id), 'developer')
      await patch(`/Groups/${admins}`, { op: 'add', path: 'members', value: [{ value: user.id }] })
      assert.equal(await roleOf(user.id), 'admin')
      assert.equal((await call('DELETE', `/Groups/${admins}`)).status, 204)
      assert.equal(await roleOf(user.id), 'developer')
      assert.equal((await mapRole(developers, 'owner')).status, 400)
      await mapRole(developers, null)
      assert.equal(await roleOf(user.id), 'viewer')
    })

    test('the directory sets no role, no organization and no account by attributes', async () => {
      const userName = directory.unique()
      const made = await call('POST', '/Users', {
        schemas: [userUrn],
        userName,
        id: 'mem_mine',
        role: 'owner',
        roles: [{ value: 'owner', primary: true }],
        entitlements: [{ value: 'admin' }],
        organizationId: 'org_other',
        userId: 'usr_other',
        emailVerified: true,
      })
      assert.equal(made.status, 201)
      assert.equal(await roleOf(made.body.id), 'viewer')
      for (const name of ['role', 'organizationId', 'userId', 'emailVerified']) {
        assert.equal(made.body[name], undefined, name)
      }
    })

    test('a member with the address is adopted by the rule of the conflict check: same id, role kept, then 409', async () => {
      const email = directory.unique()
      const person = await memberOf(directory.product, 'acme', { email, role: 'developer' })
      const me = await person.call('GET /me')
      const adopted = await call('POST', '/Users', {
        schemas: [userUrn],
        userName: email.toUpperCase(),
      })
      assert.equal(adopted.status, 201)
      assert.equal(await roleOf(adopted.body.id), 'developer')
      const member = await admin.call(`GET /organizations/acme/members/${adopted.body.id}`)
      assert.equal(member.json.user_id, me.json.id)
      const filter = encodeURIComponent(`userName eq "${email}"`)
      assert.equal((await call('GET', `/Users?filter=${filter}`)).body.totalResults, 1)
      assert.equal(
        (await call('POST', '/Users', { schemas: [userUrn], userName: email })).status,
        409,
      )
      // Another organization's directory finds no user with this name, and creates one.
      const other = await scimCall(`${directory.base}/Users`, 'POST', {
        token: directory.otherToken,
        body: { schemas: [userUrn], userName: email },
      })
      assert.equal(other.status, 201)
      assert.notEqual(other.body.id, adopted.body.id)
    })

    test('ids of another organization are nobody, as members and as addresses', async () => {
      const other = async (method: string, path: string, body?: unknown): Promise<ScimReply> =>
        await scimCall(`${directory.base}${path}`, method, { token: directory.otherToken, body })
      const user = await directory.addUser()
      const group = await directory.addGroup([user.id])
      const told = await toldWhile(directory, async () => {
        const made = await other('POST', '/Groups', {
          schemas: [groupUrn],
          displayName: 'Theirs',
          members: [{ value: user.id }],
        })
        assert.deepEqual([made.status, made.body.scimType], [400, 'invalidValue'])
        for (const path of [`/Users/${user.id}`, `/Groups/${group.id}`]) {
          const change = { schemas: [patchUrn], Operations: [{ op: 'remove', path: 'externalId' }] }
          for (const [method, body] of [
            ['GET', undefined],
            ['DELETE', undefined],
            ['PATCH', change],
            ['PUT', { schemas: [userUrn, groupUrn], userName: 'x', displayName: 'x' }],
          ] as const) {
            assert.equal((await other(method, path, body)).status, 404, `${method} ${path}`)
          }
        }
      })
      assert.deepEqual([told.audit, told.events], [[], []])
    })
  })
}
