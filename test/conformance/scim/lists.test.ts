import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { engines } from '../../harness/store.ts'
import {
  directoryForTests,
  enterpriseUrn,
  groupUrn,
  listUrn,
  userUrn,
  type ScimReply,
  type TestDirectory,
} from './directory.ts'

for (const engine of engines) {
  describe(`SCIM lists on ${engine}`, () => {
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
      const email = `needle-${unique()}Acme.test`
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
      const names = ['b', 'C', 'a'].map((name) => `sort-${name}-${unique()}`)
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
              displayName: `Bulk ${unique()}`,
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
  })
}
