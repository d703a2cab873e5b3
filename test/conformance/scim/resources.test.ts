import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { engines } from '../../harness/store.ts'
import {
  directoryForTests,
  enterpriseUrn,
  errorUrn,
  groupUrn,
  patchUrn,
  userUrn,
  type TestDirectory,
} from './directory.ts'

for (const engine of engines) {
  describe(`SCIM resources on ${engine}`, () => {
    let directory: TestDirectory
    before(async () => {
      directory = await directoryForTests(engine)
    })
    after(async () => {
      await directory[Symbol.asyncDispose]()
    })
    const call: TestDirectory['call'] = async (...given) => await directory.call(...given)
    const addUser: TestDirectory['addUser'] = async (more) => await directory.addUser(more)
    const addGroup: TestDirectory['addGroup'] = async (members) => await directory.addGroup(members)
    const unique = (): string => directory.unique()

    test('RFC 7644 3.3: a created user has an id, an absolute location, meta and an entity tag', async () => {
      const userName = unique()
      const made = await call('POST', '/Users', {
        schemas: [userUrn, enterpriseUrn],
        userName,
        externalId: 'ext-1',
        name: { givenName: 'Ada', familyName: 'Lovelace' },
        emails: [{ value: userName, type: 'work', primary: true }],
        [enterpriseUrn]: { department: 'Engines', employeeNumber: '7' },
      })
      assert.equal(made.status, 201)
      assert.equal(made.headers.get('content-type'), 'application/scim+json')
      const { id, meta, schemas } = made.body
      assert.equal(meta.location, `${directory.base}/Users/${id}`)
      assert.equal(made.headers.get('location'), meta.location)
      assert.equal(made.headers.get('etag'), meta.version)
      assert.equal(meta.resourceType, 'User')
      assert.equal(made.body.active, true)
      assert.deepEqual(schemas, [userUrn, enterpriseUrn])
      const read = await call('GET', `/Users/${id}`)
      assert.deepEqual(read.body, made.body)
    })

    test('the same userName in any case is 409 uniqueness, and nobody is added', async () => {
      const user = await addUser()
      const again = await call('POST', '/Users', {
        schemas: [userUrn],
        userName: user.userName.toUpperCase(),
      })
      assert.equal(again.status, 409)
      assert.deepEqual(
        { ...again.body, detail: '' },
        { schemas: [errorUrn], scimType: 'uniqueness', detail: '', status: '409' },
      )
      const found = await call(
        'GET',
        `/Users?filter=${encodeURIComponent(`userName eq "${user.userName}"`)}`,
      )
      assert.equal(found.body.totalResults, 1)
    })

    test('a user needs no e-mail, and password is dropped', async () => {
      const user = await addUser({ password: 'hunter2', groups: [] })
      assert.equal(user.password, undefined)
      assert.equal(user.emails, undefined)
    })

    test('RFC 7644 3.4.1: an unknown id is 404, DELETE is 204 and then 404', async () => {
      assert.equal((await call('GET', '/Users/nobody')).status, 404)
      const { id } = await addUser()
      assert.equal((await call('DELETE', `/Users/${id}`)).status, 204)
      for (const method of ['GET', 'DELETE']) {
        const gone = await call(method, `/Users/${id}`)
        assert.equal(gone.status, 404)
        assert.equal(gone.body.status, '404')
      }
    })

    test('RFC 7644 3.5.1: PUT replaces what is there', async () => {
      const user = await addUser({ title: 'Countess', nickName: 'A' })
      const put = await call('PUT', `/Users/${user.id}`, {
        schemas: [userUrn],
        userName: user.userName,
        title: 'Analyst',
      })
      assert.equal(put.status, 200)
      assert.equal(put.body.title, 'Analyst')
      assert.equal(put.body.nickName, undefined)
      assert.notEqual(put.body.meta.version, user.meta.version)
    })

    test('RFC 7644 3.5.2: PATCH changes all or nothing', async () => {
      const user = await addUser({ title: 'Countess' })
      const bad = await call('PATCH', `/Users/${user.id}`, {
        schemas: [patchUrn],
        Operations: [
          { op: 'replace', path: 'title', value: 'Other' },
          { op: 'replace', path: 'nothing.here', value: 1 },
        ],
      })
      assert.equal(bad.status, 400)
      assert.equal(bad.body.scimType, 'invalidPath')
      assert.equal((await call('GET', `/Users/${user.id}`)).body.title, 'Countess')
    })

    test('Entra deactivates with "False" and capital letters; reactivation keeps the id', async () => {
      const user = await addUser()
      const off = await call('PATCH', `/Users/${user.id}`, {
        schemas: [patchUrn],
        Operations: [{ op: 'Replace', path: 'active', value: 'False' }],
      })
      assert.equal(off.status, 200)
      assert.equal(off.body.active, false)
      const back = await call('POST', '/Users', { schemas: [userUrn], userName: user.userName })
      assert.equal(back.status, 201, JSON.stringify(back.body))
      assert.equal(back.body.id, user.id)
      assert.equal(back.body.active, true)
    })

    test('Entra: dotted keys without path, an upserting value filter, a bare manager', async () => {
      const user = await addUser()
      const patched = await call('PATCH', `/Users/${user.id}`, {
        schemas: [patchUrn],
        Operations: [
          { op: 'Add', value: { 'name.givenName': 'Ada', [`${enterpriseUrn}:department`]: 'X' } },
          { op: 'Add', path: 'emails[type eq "work"].value', value: 'ada@work.test' },
          { op: 'Add', path: `${enterpriseUrn}:manager`, value: 'boss-1' },
        ],
      })
      assert.equal(patched.status, 200, JSON.stringify(patched.body))
      assert.equal(patched.body.name.givenName, 'Ada')
      assert.deepEqual(patched.body.emails, [{ type: 'work', value: 'ada@work.test' }])
      assert.equal(patched.body[enterpriseUrn].department, 'X')
      assert.equal(patched.body[enterpriseUrn].manager.value, 'boss-1')
    })

    test('RFC 7643 2.4: a (type, value) is there once, whichever way it comes twice', async () => {
      const email = { value: 'twice@x.test', type: 'work' }
      const twice = [email, { ...email, value: 'Twice@X.test', primary: true }]
      const once = [{ value: 'Twice@X.test', type: 'work', primary: true }]
      const made = await call('POST', '/Users', {
        schemas: [userUrn],
        userName: unique(),
        emails: [...twice, { ...email, type: 'home' }, { value: 'twice@x.test' }],
        addresses: [{ locality: 'Rome' }, { locality: 'Rome' }],
      })
      assert.deepEqual(made.body.emails.length, 3)
      assert.deepEqual(made.body.emails[0], once[0])
      // Addresses have no `value` to compare, so equal ones are both kept.
      assert.equal(made.body.addresses.length, 2)
      const { id, userName } = made.body
      const put = { schemas: [userUrn], userName, emails: twice }
      assert.deepEqual((await call('PUT', `/Users/${id}`, put)).body.emails, once)
      for (const operation of [
        { op: 'replace', path: 'emails', value: twice },
        { op: 'add', path: 'emails', value: [{ ...email, primary: true }] },
        { op: 'add', path: 'emails', value: [{ ...email, display: 'Again' }] },
      ]) {
        const Operations = [operation]
        const { status, body } = await call('PATCH', `/Users/${id}`, {
          schemas: [patchUrn],
          Operations,
        })
        assert.deepEqual([status, body.emails.length], [200, 1], JSON.stringify(operation))
        assert.equal(body.emails[0].primary, true)
      }
      assert.equal((await call('GET', `/Users/${id}`)).body.emails[0].display, 'Again')
    })

    test('RFC 7643 2.3.7: a $ref leads to its resource, also behind the address of the service', async () => {
      const user = await addUser()
      const { members } = await addGroup([user.id])
      const ref = members[0].$ref as string
      const direct = await fetch(ref, { headers: { authorization: `Bearer ${directory.token}` } })
      assert.deepEqual(
        [direct.status, ((await direct.json()) as { id: string }).id],
        [200, user.id],
      )
      // Some clients append the absolute URL of a $ref to their base URL.
      const behind = await call('GET', `/${ref}`)
      assert.deepEqual([behind.status, behind.body.id], [200, user.id])
      assert.equal(
        (await call('GET', `/http://elsewhere.test/scim/v2/Users/${user.id}`)).status,
        404,
      )
    })

    test('RFC 7644 3.14: If-Match guards, If-None-Match spares', async () => {
      const user = await addUser()
      const body = { schemas: [userUrn], userName: user.userName, title: 'x' }
      const stale = await call('PUT', `/Users/${user.id}`, body, { 'if-match': 'W/"99"' })
      assert.equal(stale.status, 412)
      const same = await call('GET', `/Users/${user.id}`, undefined, {
        'if-none-match': user.meta.version,
      })
      assert.equal(same.status, 304)
      const fresh = await call('PUT', `/Users/${user.id}`, body, { 'if-match': user.meta.version })
      assert.equal(fresh.status, 200)
    })

    test('RFC 7644 3.9: attributes and excludedAttributes on every verb; id is always there', async () => {
      const made = await call('POST', '/Users?attributes=userName', {
        schemas: [userUrn],
        userName: unique(),
        title: 'x',
      })
      assert.deepEqual(Object.keys(made.body).toSorted(), ['id', 'schemas', 'userName'])
      const without = await call('GET', `/Users/${made.body.id}?excludedAttributes=title,meta`)
      assert.equal(without.body.title, undefined)
      assert.equal(without.body.meta, undefined)
      assert.equal(without.body.userName, made.body.userName)
    })

    test('groups: members in and out without a body, and a user shows its groups', async () => {
      const [a, b] = [await addUser(), await addUser()]
      const group = await addGroup([a.id])
      assert.deepEqual(
        group.members.map((member: { value: string }) => member.value),
        [a.id],
      )
      const patched = await call('PATCH', `/Groups/${group.id}`, {
        schemas: [patchUrn],
        Operations: [
          { op: 'Add', path: 'members', value: [{ value: b.id }] },
          { op: 'Remove', path: `members[value eq "${a.id}"]` },
        ],
      })
      assert.equal(patched.status, 204)
      const read = await call('GET', `/Groups/${group.id}`)
      assert.deepEqual(read.body.members, [
        { value: b.id, $ref: `${directory.base}/Users/${b.id}`, type: 'User' },
      ])
      const member = await call('GET', `/Users/${b.id}`)
      assert.equal(member.body.groups[0].display, group.displayName)
      const unknown = await call('PATCH', `/Groups/${group.id}`, {
        schemas: [patchUrn],
        Operations: [{ op: 'add', path: 'members', value: [{ value: 'mem_nobody' }] }],
      })
      assert.equal(unknown.status, 400)
      const cleared = await call('PUT', `/Groups/${group.id}`, {
        schemas: [groupUrn],
        displayName: group.displayName,
        members: [],
      })
      assert.equal(cleared.status, 200)
      assert.equal(cleared.body.members, undefined)
    })
  })
}
