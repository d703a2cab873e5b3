import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { engines } from '../../harness/store.ts'
import {
  directoryForTests,
  enterpriseUrn,
  errorUrn,
  groupUrn,
  listUrn,
  patchUrn,
  scimCall,
  userUrn,
  type ScimReply,
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
    let count = 0
    const unique = (): string => `user${++count}@acme.test`
    async function addUser(more: Record<string, unknown> = {}): Promise<ScimReply['body']> {
      const made = await call('POST', '/Users', { schemas: [userUrn], userName: unique(), ...more })
      assert.equal(made.status, 201, JSON.stringify(made.body))
      return made.body
    }
    async function addGroup(members: readonly string[] = []): Promise<ScimReply['body']> {
      const displayName = `Group ${++count}`
      const made = await call('POST', '/Groups', {
        schemas: [groupUrn],
        displayName,
        members: members.map((value) => ({ value })),
      })
      assert.equal(made.status, 201, JSON.stringify(made.body))
      return made.body
    }

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

    test('D7: the same userName in any case is 409 uniqueness, and nobody is added', async () => {
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

    test('D6: Entra deactivates with "False" and capital letters; reactivation keeps the id', async () => {
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

    const filters: readonly (readonly [string, (user: ScimReply['body']) => string])[] = [
      ['userName eq', (user) => `userName eq "${user.userName.toUpperCase()}"`],
      ['userName sw', (user) => `userName sw "${user.userName.slice(0, 5)}" and title eq "needle"`],
      ['externalId eq', (user) => `externalId eq "${user.externalId}"`],
      ['id eq', (user) => `id eq "${user.id}"`],
      ['emails.value eq', (user) => `emails.value eq "${user.emails[0].value}"`],
      ['emails eq', (user) => `emails eq "${user.emails[0].value}"`],
      ['value path', (user) => `emails[type eq "work" and value eq "${user.emails[0].value}"]`],
      ['Entra’s value path', (user) => `emails[type eq "work"].value eq "${user.emails[0].value}"`],
      ['nested name', () => 'name.familyName eq "Needle" and title eq "needle"'],
      ['extension', () => `${enterpriseUrn}:department co "aystac" and title eq "needle"`],
      ['not', () => 'title eq "needle" and not (active eq false)'],
      ['or', () => 'title eq "needle" and (active eq false or nickName pr)'],
      ['time', (user) => `title eq "needle" and meta.created ge "${user.meta.created}"`],
      ['ew', () => 'title ew "eedle"'],
      ['schemas', () => `schemas eq "${enterpriseUrn}" and title eq "needle"`],
    ]

    test('RFC 7644 3.4.2.2: every kind of filter finds the one it means', async () => {
      const email = `needle${count}@Acme.test`
      const user = await addUser({
        externalId: 'needle-1',
        title: 'needle',
        nickName: 'N',
        name: { familyName: 'Needle' },
        emails: [{ value: email, type: 'work' }],
        [enterpriseUrn]: { department: 'Haystack' },
        schemas: [userUrn, enterpriseUrn],
      })
      await addUser({ title: 'hay' })
      for (const [name, filter] of filters) {
        const found = await call('GET', `/Users?filter=${encodeURIComponent(filter(user))}`)
        assert.equal(found.status, 200, `${name}: ${JSON.stringify(found.body)}`)
        assert.deepEqual(
          [found.body.schemas, found.body.totalResults, found.body.Resources[0]?.id],
          [[listUrn], 1, user.id],
          name,
        )
      }
      const random = await call('GET', '/Users?filter=userName%20eq%20%226f1c-not-there%22')
      assert.deepEqual(
        [random.status, random.body.totalResults, random.body.Resources],
        [200, 0, []],
      )
      const wrong = await call('GET', '/Users?filter=userName%20is%20x')
      assert.deepEqual([wrong.status, wrong.body.scimType], [400, 'invalidFilter'])
    })

    test('groups are found by the id and name of members and groups', async () => {
      const user = await addUser()
      const group = await addGroup([user.id])
      const byMember = await call(
        'GET',
        `/Groups?filter=${encodeURIComponent(`members.value eq "${user.id}"`)}`,
      )
      assert.deepEqual([byMember.body.totalResults, byMember.body.Resources[0].id], [1, group.id])
      const byGroup = await call(
        'GET',
        `/Users?filter=${encodeURIComponent(`groups.display eq "${group.displayName}"`)}`,
      )
      assert.deepEqual([byGroup.body.totalResults, byGroup.body.Resources[0].id], [1, user.id])
      const byName = await call(
        'GET',
        `/Groups?filter=${encodeURIComponent(`displayName eq "${group.displayName}"`)}&excludedAttributes=members`,
      )
      assert.equal(byName.body.Resources[0].members, undefined)
    })

    test('RFC 7644 3.4.2.3: sorting orders the whole list, both ways', async () => {
      const names = ['b', 'C', 'a'].map((name) => `sort-${name}-${count}@acme.test`)
      for (const userName of names) await addUser({ userName, title: 'sorted' })
      const filter = encodeURIComponent('title eq "sorted"')
      for (const [order, wanted] of [
        ['ascending', [names[2], names[0], names[1]]],
        ['descending', [names[1], names[0], names[2]]],
      ] as const) {
        const found = await call(
          'GET',
          `/Users?filter=${filter}&sortBy=userName&sortOrder=${order}`,
        )
        assert.deepEqual(
          found.body.Resources.map((user: { userName: string }) => user.userName),
          wanted,
        )
      }
    })

    test('RFC 7644 3.4.3: .search answers as the query does', async () => {
      const user = await addUser()
      const body = {
        schemas: ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'],
        filter: `userName eq "${user.userName}"`,
        attributes: ['userName'],
      }
      const found = await call('POST', '/Users/.search', body)
      assert.deepEqual(
        [found.status, found.body.Resources],
        [200, [{ schemas: [userUrn], id: user.id, userName: user.userName }]],
      )
      assert.equal((await call('POST', '/.search', body)).body.totalResults, 1)
    })

    test('RFC 7644 3.7: bulk resolves bulkIds, forward ones too, and reports each operation', async () => {
      const userName = unique()
      const done = await call('POST', '/Bulk', {
        schemas: ['urn:ietf:params:scim:api:messages:2.0:BulkRequest'],
        Operations: [
          {
            method: 'POST',
            path: '/Groups',
            bulkId: 'g',
            data: {
              schemas: [groupUrn],
              displayName: `Bulk ${count}`,
              members: [{ value: 'bulkId:u' }],
            },
          },
          { method: 'POST', path: '/Users', bulkId: 'u', data: { schemas: [userUrn], userName } },
          { method: 'DELETE', path: '/Users/nobody' },
        ],
      })
      assert.equal(done.status, 200)
      const [group, user, gone] = done.body.Operations
      assert.deepEqual([group.status, user.status, gone.status], ['201', '201', '404'])
      assert.equal(gone.response.scimType, undefined)
      const read = await call('GET', `/Groups/${group.location.split('/').at(-1)}`)
      assert.equal(`${directory.base}/Users/${read.body.members[0].value}`, user.location)
      const circle = await call('POST', '/Bulk', {
        schemas: ['urn:ietf:params:scim:api:messages:2.0:BulkRequest'],
        Operations: [
          {
            method: 'POST',
            path: '/Groups',
            bulkId: 'x',
            data: { schemas: [groupUrn], displayName: 'X', members: [{ value: 'bulkId:x' }] },
          },
        ],
      })
      assert.equal(circle.body.Operations[0].status, '409')
    })

    test('while 50 users are deleted during a walk, no remaining user is missed (index and cursor)', async () => {
      for (const way of ['index', 'cursor'] as const) {
        const filter = encodeURIComponent(`title eq "walk-${way}"`)
        const all = new Set<string>()
        for (let at = 0; at < 200; at++) all.add((await addUser({ title: `walk-${way}` })).id)
        const seen = new Set<string>()
        const gone = new Set<string>()
        let page = way === 'index' ? 'startIndex=1' : 'cursor='
        for (let pages = 0; pages < 40; pages++) {
          const { body, status } = await call('GET', `/Users?filter=${filter}&count=20&${page}`)
          assert.equal(status, 200, JSON.stringify(body))
          for (const user of body.Resources) seen.add(user.id)
          for (const id of [...seen].filter((each) => !gone.has(each)).slice(0, 5)) {
            if (gone.size >= 50) break
            gone.add(id)
            assert.equal((await call('DELETE', `/Users/${id}`)).status, 204)
          }
          if (way === 'cursor') {
            if (body.nextCursor === undefined) break
            page = `cursor=${encodeURIComponent(body.nextCursor)}`
          } else {
            if (body.startIndex + body.itemsPerPage > body.totalResults) break
            page = `startIndex=${body.startIndex + body.itemsPerPage}`
          }
        }
        for (const id of all) assert.ok(seen.has(id) || gone.has(id), `${way}: ${id} was missed`)
      }
    })

    test('RFC 7643 5 to 7: discovery tells the truth, and cannot be filtered', async () => {
      const config = await call('GET', '/ServiceProviderConfig')
      assert.deepEqual(
        [
          config.body.patch.supported,
          config.body.bulk.maxOperations,
          config.body.filter.supported,
          config.body.sort.supported,
          config.body.etag.supported,
          config.body.pagination.cursor,
        ],
        [true, 1000, true, true, true, true],
      )
      const types = await call('GET', '/ResourceTypes')
      assert.deepEqual(
        types.body.Resources.map((type: { id: string }) => type.id),
        ['User', 'Group'],
      )
      assert.equal(
        (await call('GET', '/ResourceTypes/User')).body.meta.location,
        `${directory.base}/ResourceTypes/User`,
      )
      assert.equal((await call('GET', `/Schemas/${userUrn}`)).body.id, userUrn)
      assert.equal((await call('GET', '/Schemas?filter=id%20pr')).status, 403)
      assert.equal((await call('GET', '/Me')).status, 501)
    })

    test('D1, D11: without an exact token every address is 401 in SCIM’s form', async () => {
      for (const path of [
        '/Users',
        '/Groups',
        '/Users/x',
        '/Bulk',
        '/Schemas',
        '/Me',
        '/nothing',
      ]) {
        for (const headers of [
          {},
          { authorization: 'Bearer x' },
          { authorization: `Basic ${directory.token}` },
        ]) {
          const answer = await scimCall(
            `${directory.base}${path}?token=${directory.token}`,
            'GET',
            { headers },
          )
          assert.equal(answer.status, 401, path)
          assert.deepEqual([answer.body.schemas, answer.body.status], [[errorUrn], '401'])
          assert.match(answer.headers.get('www-authenticate') ?? '', /^Bearer/)
        }
      }
    })

    test('D2: another organization’s ids are as unknown as any', async () => {
      const user = await addUser()
      const group = await addGroup([user.id])
      for (const [method, path, body] of [
        ['GET', `/Users/${user.id}`, undefined],
        ['DELETE', `/Users/${user.id}`, undefined],
        ['PUT', `/Users/${user.id}`, { schemas: [userUrn], userName: 'x' }],
        [
          'PATCH',
          `/Groups/${group.id}`,
          { schemas: [patchUrn], Operations: [{ op: 'remove', path: 'members' }] },
        ],
      ] as const) {
        const answer = await scimCall(`${directory.base}${path}`, method, {
          token: directory.otherToken,
          body,
        })
        assert.equal(answer.status, 404, `${method} ${path}`)
      }
      const made = await scimCall(`${directory.base}/Users`, 'POST', {
        token: directory.otherToken,
        body: { schemas: [userUrn], userName: user.userName },
      })
      assert.equal(made.status, 201)
      assert.notEqual(made.body.id, user.id)
      const list = await scimCall(`${directory.base}/Users`, 'GET', { token: directory.otherToken })
      assert.equal(list.body.totalResults, 1)
    })

    test('D9: hostile bodies are refused in SCIM’s form and change nothing', async () => {
      const { id } = await addUser()
      const deep = '['.repeat(100_000)
      const hostile: readonly (readonly [string, string, number])[] = [
        ['{"schemas":["x"],', 'cut', 400],
        [deep, 'nested', 400],
        [`{"schemas":["${userUrn}"],"userName":"a","__proto__":{"x":1}}`, 'prototype', 400],
        [`{"schemas":["${userUrn}"],"userName":"a\\u0000b"}`, 'NUL', 400],
        [`{"schemas":["${userUrn}"],"userName":"\\ud800"}`, 'surrogate', 400],
        [`{"schemas":["${userUrn}"],"userName":"  "}`, 'blank', 400],
        [`{"schemas":["${userUrn}"],"userName":7}`, 'number', 400],
        [`{"userName":"a"}`, 'no schemas', 400],
        ['[]', 'list', 400],
        [
          `{"schemas":["${userUrn}"],"userName":"a","title":"${'x'.repeat(1_100_000)}"}`,
          'huge',
          413,
        ],
      ]
      for (const [body, name, status] of hostile) {
        const answer = await call('POST', '/Users', body)
        assert.deepEqual([answer.status, answer.body.status], [status, String(status)], name)
      }
      for (const path of [
        '__proto__',
        '__proto__.polluted',
        'constructor.prototype',
        'emails[__proto__ eq "x"].value',
      ]) {
        const answer = await call('PATCH', `/Users/${id}`, {
          schemas: [patchUrn],
          Operations: [{ op: 'add', path, value: 'polluted' }],
        })
        assert.equal(answer.status, 400, path)
      }
      assert.equal(({} as { polluted?: unknown }).polluted, undefined)
      const text = await call('POST', '/Users', '{}', { 'content-type': 'text/plain' })
      assert.equal(text.status, 415)
    })

    test('D10: count is capped, less than nothing is nothing', async () => {
      assert.deepEqual((await call('GET', '/Users?count=-3')).body.Resources, [])
      assert.equal((await call('GET', '/Users?startIndex=-3&count=1')).body.startIndex, 1)
      assert.equal((await call('GET', '/Users?count=99999999')).status, 200)
      assert.equal((await call('GET', '/Users?count=x')).status, 400)
      assert.equal((await call('GET', '/Users?cursor=nonsense')).body.scimType, 'invalidCursor')
    })
  })
}
