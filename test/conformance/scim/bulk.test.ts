import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { engines } from '../../harness/store.ts'
import {
  directoryForTests,
  errorUrn,
  groupUrn,
  patchUrn,
  toldWhile,
  userUrn,
  type ScimReply,
  type TestDirectory,
} from './directory.ts'

const bulkUrn = 'urn:ietf:params:scim:api:messages:2.0:BulkRequest'

for (const engine of engines) {
  describe(`bulk, versions, projection and hostile input on ${engine}`, () => {
    let directory: TestDirectory
    before(async () => {
      directory = await directoryForTests(engine)
    })
    after(async () => await directory[Symbol.asyncDispose]())
    const call: TestDirectory['call'] = async (...given) => await directory.call(...given)
    const bulk = async (Operations: unknown, more: object = {}): Promise<ScimReply> =>
      await call('POST', '/Bulk', { schemas: [bulkUrn], ...more, Operations })
    const newUser = (bulkId: string, more: object = {}) => ({
      method: 'POST',
      path: '/Users',
      bulkId,
      data: { schemas: [userUrn], userName: directory.unique(), ...more },
    })

    test('RFC 7644 3.7: every method by bulk, each with its status, place and version', async () => {
      const { id } = await directory.addUser()
      const gone = await directory.addUser()
      const title = [{ op: 'replace', path: 'title', value: 'x' }]
      // A method that bulk does not support makes the whole message invalid.
      const wrong = await bulk([newUser('one'), { method: 'GET', path: `/Users/${id}` }])
      assert.deepEqual([wrong.status, wrong.body.scimType], [400, 'invalidSyntax'])
      const done = await bulk([
        newUser('one'),
        { method: 'patch', path: `/Users/${id}`, data: { schemas: [patchUrn], Operations: title } },
        {
          method: 'PUT',
          path: `/Users/${id}`,
          version: 'W/"1"',
          data: { schemas: [userUrn], userName: directory.unique() },
        },
        { method: 'DELETE', path: `/Users/${gone.id}` },
        { method: 'DELETE', path: `/Users/${gone.id}` },
        { method: 'DELETE', path: '/Nothing/x' },
      ])
      const results = done.body.Operations as ScimReply['body'][]
      assert.deepEqual(
        results.map((each) => each['status']),
        ['201', '200', '412', '204', '404', '404'],
      )
      assert.deepEqual([results[0]['bulkId'], results[0]['version']], ['one', 'W/"1"'])
      assert.match(results[0]['location'], /^http.*\/scim\/v2\/Users\/mem_/)
      for (const failed of [results[2], results[4], results[5]]) {
        assert.deepEqual(failed['response'].schemas, [errorUrn])
        assert.equal(failed['response'].status, failed['status'])
      }
    })

    test('RFC 7644 3.7.1: bulkIds are resolved wherever they stand; what waits for itself is 409', async () => {
      const made = await bulk([
        {
          method: 'POST',
          path: '/Groups',
          bulkId: 'group',
          data: {
            schemas: [groupUrn],
            displayName: `Bulk ${directory.unique()}`,
            members: [{ value: 'bulkId:user' }],
          },
        },
        newUser('user'),
        {
          method: 'PATCH',
          path: '/Users/bulkId:user',
          data: {
            schemas: [patchUrn],
            Operations: [{ op: 'add', path: 'title', value: 'bulkId:group' }],
          },
        },
      ])
      const [group, user, patched] = made.body.Operations
      assert.deepEqual([group.status, user.status, patched.status], ['201', '201', '200'])
      const groupId = group.location.split('/').at(-1)
      const userId = user.location.split('/').at(-1)
      const read = (await call('GET', `/Groups/${groupId}`)).body
      assert.deepEqual(
        read.members.map((each: { value: string }) => each.value),
        [userId],
      )
      assert.equal((await call('GET', `/Users/${userId}`)).body.title, groupId)
      const circle = await bulk([
        newUser('a', { title: 'bulkId:b' }),
        newUser('b', { title: 'bulkId:a' }),
      ])
      assert.deepEqual(
        circle.body.Operations.map((each: { status: string }) => each.status),
        ['409', '409'],
      )
    })

    test('RFC 7644 3.7.3: failOnErrors stops after so many; without it all are done', async () => {
      const missing = { method: 'DELETE', path: '/Users/nobody' }
      const stopped = await bulk([missing, newUser('x'), missing, newUser('y')], {
        failOnErrors: 2,
      })
      assert.deepEqual(
        stopped.body.Operations.map((each: { status: string }) => each.status),
        ['404', '201', '404'],
      )
      const all = await bulk([missing, missing, newUser('z')])
      assert.equal(all.body.Operations.length, 3)
    })

    test('too many operations are 413, malformed messages 400, and nothing of them is done', async () => {
      const told = await toldWhile(directory, async () => {
        const many = await bulk(Array.from({ length: 1001 }, (_, at) => newUser(`m${at}`)))
        assert.deepEqual([many.status, many.body.status], [413, '413'])
        for (const operations of [
          'x',
          [7],
          [newUser('a'), { method: 'POST', path: '/Users', data: {} }],
          [newUser('a'), newUser('a')],
          [{ method: 'POST', bulkId: 'a' }],
        ]) {
          assert.equal((await bulk(operations)).status, 400, JSON.stringify(operations))
        }
        assert.equal((await bulk([newUser('a')], { failOnErrors: 'x' })).status, 400)
        assert.equal((await call('POST', '/Bulk', { Operations: [] })).status, 400)
        for (const path of ['/Bulk', '/Me', '/Schemas', '/Users/.search', '/../api/v1/me', '']) {
          const nested = await bulk([{ ...newUser('n'), path }])
          const [result] = nested.body.Operations
          assert.equal(result.response.schemas[0], errorUrn, path)
        }
      })
      assert.deepEqual(told.audit, [])
    })

    test('RFC 7644 3.14: If-Match guards every change, of groups too; If-None-Match spares a read', async () => {
      const user = await directory.addUser()
      const member = await directory.addUser()
      const group = await directory.addGroup([member.id])
      for (const [path, document] of [
        [`/Users/${user.id}`, user],
        [`/Groups/${group.id}`, group],
      ] as const) {
        const tag = document.meta.version as string
        assert.equal((await call('GET', path)).body.meta.version, tag, 'the version that POST told')
        const change = {
          schemas: [patchUrn],
          Operations: [{ op: 'replace', path: 'externalId', value: 'new' }],
        }
        for (const [method, body] of [
          ['PATCH', change],
          ['PUT', document],
          ['DELETE', undefined],
        ] as const) {
          const stale = await call(method, path, body, { 'if-match': 'W/"99"' })
          assert.deepEqual([stale.status, stale.body.status], [412, '412'], `${method} ${path}`)
        }
        const same = await call('GET', path, undefined, { 'if-none-match': `W/"7", ${tag}` })
        assert.deepEqual([same.status, same.body], [304, undefined])
        const changed = await call('PATCH', path, change, { 'if-match': tag })
        assert.ok(changed.status < 300)
        assert.notEqual(changed.headers.get('etag'), tag)
        const read = await call('GET', path, undefined, { 'if-none-match': tag })
        assert.deepEqual([read.status, read.headers.get('etag')], [200, read.body.meta.version])
        assert.equal(read.headers.get('content-location'), read.body.meta.location)
        assert.equal((await call('DELETE', path, undefined, { 'if-match': '*' })).status, 204)
      }
    })

    test('RFC 7644 3.9: attributes and excludedAttributes on POST, GET, PUT, PATCH, lists and .search', async () => {
      const input = (userName: string) => ({
        schemas: [userUrn],
        userName,
        title: 'T',
        name: { givenName: 'G', familyName: 'F' },
      })
      const made = await call('POST', '/Users?attributes=title,name.givenName', input('project'))
      const { id } = made.body
      const shown = { schemas: [userUrn], id, title: 'T', name: { givenName: 'G' } }
      assert.deepEqual(made.body, shown)
      const query = `attributes=TITLE,${userUrn}:name.givenName`
      const change = {
        schemas: [patchUrn],
        Operations: [{ op: 'replace', path: 'nickName', value: 'N' }],
      }
      assert.deepEqual((await call('PATCH', `/Users/${id}?${query}`, change)).body, shown)
      assert.deepEqual((await call('PUT', `/Users/${id}?${query}`, input('project'))).body, shown)
      assert.deepEqual((await call('GET', `/Users/${id}?${query}`)).body, shown)
      const filter = encodeURIComponent('userName eq "project"')
      const list = await call('GET', `/Users?filter=${filter}&${query}`)
      assert.deepEqual(list.body.Resources, [shown])
      const search = await call('POST', '/Users/.search', {
        schemas: ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'],
        filter: 'userName eq "project"',
        excludedAttributes: ['meta', 'name', 'id', 'userName', 'active'],
      })
      assert.deepEqual(search.body.Resources, [{ schemas: [userUrn], id, title: 'T' }])
      const group = await directory.addGroup([id])
      const body = { schemas: [patchUrn], Operations: [{ op: 'remove', path: 'externalId' }] }
      const named = await call('PATCH', `/Groups/${group.id}?attributes=displayName`, body)
      assert.deepEqual(named.body, {
        schemas: [groupUrn],
        id: group.id,
        displayName: group.displayName,
      })
    })

    test('wrong types and hostile shapes are SCIM errors, quickly, and change nothing', async () => {
      const { id } = await directory.addUser()
      const told = await toldWhile(directory, async () => {
        for (const value of [7, {}, [], true, 'x'.repeat(20_000), '\u0007', null]) {
          const input = { schemas: [userUrn], userName: value }
          const made = await call('POST', '/Users', input)
          assert.deepEqual([made.status, made.body.status], [400, '400'], JSON.stringify(value))
        }
        for (const more of [
          { emails: 'x' },
          { emails: [7] },
          { emails: [{ value: {} }] },
          {
            emails: [
              { value: 'a', primary: true },
              { value: 'b', primary: true },
            ],
          },
          { name: 'x' },
          { active: 1 },
          { active: 'yes' },
          { title: ['a', 'b'] },
          { USERNAME: 'twice' },
          { userName: ['a'] },
          { x509Certificates: [{ value: '§' }] },
        ]) {
          const input = { schemas: [userUrn], userName: 'wrong', ...more }
          const made = await call('POST', '/Users', input)
          assert.deepEqual([made.status, made.body.status], [400, '400'], JSON.stringify(more))
        }
        for (const operations of [
          [{ op: 'move', path: 'title' }],
          [{ op: 'replace', path: 'title' }],
          [{ op: 'remove' }],
          [{ op: 'add', path: 7, value: 'x' }],
          [{ op: 'add', path: 'emails[', value: 'x' }],
          [{ op: 'add', path: 'emails[type eq "work"].value.more', value: 'x' }],
          [{ op: 'add', path: `${'a.'.repeat(1500)}b`, value: 'x' }],
          [{ op: 'add', value: 'x' }],
          [
            { op: 'replace', path: 'title', value: 'y' },
            { op: 'replace', path: 'id', value: 'z' },
          ],
          [],
          {},
        ]) {
          const change = { schemas: [patchUrn], Operations: operations }
          const changed = await call('PATCH', `/Users/${id}`, change)
          const what = JSON.stringify(operations).slice(0, 100)
          assert.deepEqual([changed.status, changed.body.status], [400, '400'], what)
        }
        const filter = `${'('.repeat(500_000)}a`
        const search = await call('POST', '/Users/.search', {
          schemas: ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'],
          filter,
        })
        assert.deepEqual([search.status, search.body.scimType], [400, 'invalidFilter'])
      })
      assert.deepEqual([told.audit, told.events], [[], []])
    })
  })
}
