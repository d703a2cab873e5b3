// Requests as JumpCloud, OneLogin, PingOne and Google document them, and those of Entra and Okta that vendors.test.ts
// lacks.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { engines } from '../../harness/store.ts'
import {
  directoryForTests,
  enterpriseUrn,
  groupUrn,
  patchUrn,
  userUrn,
  type ScimReply,
  type TestDirectory,
} from './directory.ts'

for (const engine of engines) {
  describe(`what further identity providers send, on ${engine}`, () => {
    let directory: TestDirectory
    before(async () => {
      directory = await directoryForTests(engine)
    })
    after(async () => await directory[Symbol.asyncDispose]())

    const call: TestDirectory['call'] = async (...given) => await directory.call(...given)
    const found = async (kind: 'Users' | 'Groups', filter: string): Promise<ScimReply['body']> =>
      (await call('GET', `/${kind}?${new URLSearchParams({ filter }).toString()}`)).body
    const patch = async (path: string, ...Operations: unknown[]): Promise<ScimReply> =>
      await call('PATCH', path, { schemas: [patchUrn], Operations })
    const membersOf = async (id: string): Promise<string[]> =>
      ((await call('GET', `/Groups/${id}`)).body.members ?? []).map(
        (each: { value: string }) => each.value,
      )

    test('JumpCloud: its test user and test group are made, changed and deleted, then people come and go', async () => {
      const userName = directory.unique()
      assert.equal((await found('Users', `userName eq "${userName}"`)).totalResults, 0)
      const user = {
        schemas: [userUrn, enterpriseUrn],
        userName,
        externalId: `jc-${userName}`,
        displayName: 'Test User',
        name: { givenName: 'Test', familyName: 'User', formatted: 'Test User' },
        emails: [{ type: 'work', value: userName, primary: true }],
        active: true,
        [enterpriseUrn]: { employeeNumber: '1', department: 'IT', costCenter: '', manager: null },
      }
      const made = await call('POST', '/Users', user)
      assert.equal(made.status, 201, JSON.stringify(made.body))
      const { id } = made.body
      const put = await call('PUT', `/Users/${id}`, {
        ...made.body,
        name: { ...user.name, familyName: 'Changed' },
      })
      assert.deepEqual([put.status, put.body.name.familyName], [200, 'Changed'])

      const displayName = `JumpCloud ${userName}`
      assert.equal((await found('Groups', `displayName eq "${displayName}"`)).totalResults, 0)
      const group = await call('POST', '/Groups', { schemas: [groupUrn], displayName, members: [] })
      assert.equal(group.status, 201)
      const groupPath = `/Groups/${group.body.id}`
      // Members are given as a list of ids, without a filter in the path.
      const added = await patch(groupPath, { op: 'add', path: 'members', value: [{ value: id }] })
      assert.equal(added.status, 204)
      assert.deepEqual(await membersOf(group.body.id), [id])
      const removed = await patch(groupPath, {
        op: 'remove',
        path: 'members',
        value: [{ value: id }],
      })
      assert.equal(removed.status, 204)
      assert.deepEqual(await membersOf(group.body.id), [])
      assert.equal((await call('DELETE', groupPath)).status, 204)

      const off = await call('PUT', `/Users/${id}`, { ...put.body, active: false })
      assert.deepEqual([off.status, off.body.active], [200, false])
      const on = await patch(`/Users/${id}`, { op: 'replace', value: { active: true } })
      assert.deepEqual([on.status, on.body.active], [200, true])
      assert.equal((await call('DELETE', `/Users/${id}`)).status, 204)
    })

    test('OneLogin: its template with empty parameters, "active" as a text, null as id, groups by PATCH', async () => {
      assert.equal((await call('GET', '/Users?count=1&startIndex=1')).status, 200)
      const userName = directory.unique()
      const template = {
        schemas: [userUrn, enterpriseUrn],
        id: null,
        userName,
        externalId: '',
        active: 'true',
        meta: { resourceType: 'User' },
        name: { familyName: 'Login', givenName: 'One', formatted: 'One Login' },
        title: '',
        userType: '',
        timezone: '',
        emails: [{ value: userName, type: 'work', primary: true }],
        addresses: [{ locality: '', region: '', country: 'DE' }],
        [enterpriseUrn]: {
          organization: 'Acme',
          division: '',
          department: 'Sales',
          manager: { managerId: '', value: '', displayName: ' ' },
        },
      }
      const made = await call('POST', '/Users', template)
      assert.equal(made.status, 201, JSON.stringify(made.body))
      const { id } = made.body
      assert.deepEqual([made.body.active, made.body.externalId], [true, undefined])
      assert.equal(made.body[enterpriseUrn].manager, undefined)
      assert.equal(made.body[enterpriseUrn].department, 'Sales')
      assert.equal((await found('Users', `userName eq "${userName}"`)).Resources[0].id, id)
      const again = await call('PUT', `/Users/${id}`, { ...template, active: 'false' })
      assert.deepEqual([again.status, again.body.active], [200, false])
      const back = await patch(`/Users/${id}`, { op: 'replace', path: 'active', value: 'true' })
      assert.deepEqual([back.status, back.body.active], [200, true])

      const made2 = await call('POST', '/Groups', {
        schemas: [groupUrn],
        displayName: `OneLogin ${userName}`,
      })
      const path = `/Groups/${made2.body.id}`
      assert.equal((await call('GET', '/Groups')).status, 200)
      assert.equal(
        (await patch(path, { op: 'add', path: 'members', value: [{ value: id }] })).status,
        204,
      )
      assert.equal(
        (await patch(path, { op: 'remove', path: `members[value eq "${id}"]` })).status,
        204,
      )
      assert.deepEqual(await membersOf(made2.body.id), [])
      // The template for SCIM 1.1 is refused with a message that names the schema it lacks.
      const old = await call('POST', '/Users', {
        ...template,
        schemas: ['urn:scim:schemas:core:1.0'],
      })
      assert.deepEqual([old.status, old.body.scimType], [400, 'invalidSyntax'])
      assert.match(old.body.detail, /core:2\.0:User/)
    })

    test('PingOne: its filter expression, PUT of whole users, groups read whole, members merged and overwritten', async () => {
      const userName = directory.unique()
      // PingOne replaces `%s` in its filter with the unescaped value, and capitalizes the operator.
      assert.equal((await found('Users', `userName Eq "${userName}"`)).totalResults, 0)
      assert.equal((await found('Users', `emails.value Eq "${userName}"`)).totalResults, 0)
      const user = {
        schemas: [userUrn],
        userName,
        externalId: `p1-${userName}`,
        name: { given: 'unused', givenName: 'Pat', familyName: 'Ping' },
        emails: [{ value: userName, type: 'work' }],
        active: true,
      }
      const { id } = (await call('POST', '/Users', user)).body
      const put = await call('PUT', `/Users/${id}`, { ...user, title: 'Engineer' })
      assert.deepEqual([put.status, put.body.title], [200, 'Engineer'])
      const { active: _, ...silent } = user
      assert.equal((await call('PUT', `/Users/${id}`, silent)).body.active, true)

      const others = [await directory.addUser(), await directory.addUser()].map((each) => each.id)
      const displayName = `Ping ${userName}`
      const group = await call('POST', '/Groups', {
        schemas: [groupUrn],
        displayName,
        members: [{ value: others[0] }],
      })
      const listed = await call('GET', '/Groups?startIndex=1&count=100')
      const names = listed.body.Resources.map((each: ScimReply['body']) => each.displayName)
      assert.ok(names.includes(displayName))
      const path = `/Groups/${group.body.id}`
      await patch(path, { op: 'add', path: 'members', value: [{ value: id }] })
      assert.deepEqual(new Set(await membersOf(group.body.id)), new Set([id, others[0]]))
      await patch(path, { op: 'replace', path: 'members', value: [{ value: others[1] }] })
      assert.deepEqual(await membersOf(group.body.id), [others[1]])
      // A person who was disabled is sent again with another address: the external id identifies them.
      await call('PUT', `/Users/${id}`, { ...user, active: false })
      const moved = await call('POST', '/Users', { ...user, userName: directory.unique() })
      assert.deepEqual([moved.status, moved.body.id, moved.body.active], [201, id, true])
    })

    test('Google: found by address, made, changed by PATCH, suspended, deleted; no groups', async () => {
      const userName = directory.unique()
      assert.equal((await call('GET', '/Users?count=1')).status, 200)
      assert.equal((await found('Users', `userName eq "${userName}"`)).totalResults, 0)
      const made = await call('POST', '/Users', {
        schemas: [userUrn],
        userName,
        name: { givenName: 'Gil', familyName: 'Google' },
        displayName: 'Gil Google',
        emails: [{ value: userName, type: 'work', primary: true }],
        active: true,
      })
      assert.equal(made.status, 201)
      const { id } = made.body
      const renamed = await patch(`/Users/${id}`, {
        op: 'replace',
        value: { name: { familyName: 'Alphabet' } },
      })
      assert.deepEqual(renamed.body.name, { givenName: 'Gil', familyName: 'Alphabet' })
      const off = await patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false })
      assert.deepEqual([off.status, off.body.active], [200, false])
      assert.equal((await call('DELETE', `/Users/${id}`)).status, 204)
      assert.equal((await call('GET', `/Users/${id}`)).status, 404)
    })

    test('Entra: bare enterprise names everywhere, old lists, an extension of its own; nothing is lost', async () => {
      const userName = directory.unique()
      const manager = (await directory.addUser()).id as string
      const made = await call('POST', '/Users', {
        schemas: [userUrn, enterpriseUrn, 'urn:ietf:params:scim:schemas:extension:acme:2.0:User'],
        userName,
        active: [{ value: 'True' }],
        department: 'Research',
        manager: { $ref: `../Users/${manager}` },
        'urn:ietf:params:scim:schemas:extension:acme:2.0:User': { badge: '7' },
      })
      assert.equal(made.status, 201, JSON.stringify(made.body))
      const { id } = made.body
      const kept = {
        department: 'Research',
        manager: { value: manager, $ref: `../Users/${manager}` },
      }
      assert.deepEqual(made.body[enterpriseUrn], kept)
      for (const filter of [
        'department eq "research"',
        `manager eq "${manager}"`,
        `manager.value eq "${manager}" and active eq "True"`,
        `userName eq ${userName}`,
      ]) {
        const { Resources } = await found('Users', filter)
        assert.deepEqual(
          Resources.map((each: ScimReply['body']) => each.id),
          [id],
          filter,
        )
      }
      const picked = (await call('GET', `/Users/${id}?attributes=department`)).body
      assert.deepEqual(picked[enterpriseUrn], { department: 'Research' })
      const changed = await patch(
        `/Users/${id}`,
        { op: 'Add', path: 'costCenter', value: '42' },
        { op: 'Replace', value: { employeeNumber: '9', title: 'Lead' } },
        {
          op: 'Add',
          path: 'urn:ietf:params:scim:schemas:extension:acme:2.0:User:badge',
          value: '8',
        },
        { op: 'Replace', path: 'name', value: { givenName: 'Erin', familyName: 'Entra' } },
        { op: 'Replace', path: 'name', value: { familyName: 'Azure' } },
      )
      assert.equal(changed.status, 200, JSON.stringify(changed.body))
      assert.deepEqual(changed.body[enterpriseUrn], {
        ...kept,
        costCenter: '42',
        employeeNumber: '9',
      })
      assert.deepEqual(changed.body.name, { givenName: 'Erin', familyName: 'Azure' })
      const off = await patch(`/Users/${id}`, {
        op: 'Replace',
        path: 'active',
        value: [{ $ref: null, value: 'False' }],
      })
      assert.deepEqual([off.status, off.body.active], [200, false])
    })

    test('Okta: its entitlements probe of /ResourceTypes, and a profile with attributes of its own', async () => {
      assert.equal((await call('GET', '/ResourceTypes')).status, 200)
      const made = await call('POST', '/Users', {
        schemas: [userUrn, 'urn:okta:custom:1.0:user:custom'],
        userName: directory.unique(),
        name: { givenName: 'Ola', familyName: 'Okta' },
        groups: [],
        active: true,
        'urn:okta:custom:1.0:user:custom': { shoeSize: 44 },
      })
      assert.equal(made.status, 201)
      assert.deepEqual(made.body.schemas, [userUrn])
    })
  })
}
