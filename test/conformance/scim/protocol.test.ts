import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { engines } from '../../harness/store.ts'
import {
  directoryForTests,
  errorUrn,
  groupUrn,
  patchUrn,
  scimCall,
  userUrn,
  type TestDirectory,
} from './directory.ts'

for (const engine of engines) {
  describe(`SCIM as a protocol on ${engine}`, () => {
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

    test('RFC 7643 5 to 7: discovery tells the truth, and cannot be filtered', async () => {
      const config = await call('GET', '/ServiceProviderConfig')
      assert.deepEqual(
        [
          config.body.patch.supported,
          config.body.bulk.maxOperations,
          config.body.filter.supported,
          config.body.sort.supported,
          config.body.etag.supported,
        ],
        [true, 1000, true, true, true],
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
      const me = await call('GET', '/Me')
      assert.deepEqual([me.status, me.headers.get('intercept-refused')], [501, 'not_supported'])
    })

    test('RFC 7643 5: a client that knows no more than that section can read the configuration', async () => {
      const { body } = await call('GET', '/ServiceProviderConfig')
      assert.deepEqual(Object.keys(body).sort(), [
        'authenticationSchemes',
        'bulk',
        'changePassword',
        'documentationUri',
        'etag',
        'filter',
        'meta',
        'patch',
        'schemas',
        'sort',
      ])
    })

    test('RFC 9865 4, RFC 7643 7: pagination is told to who asks for it, as /Schemas declares', async () => {
      const plain = (await call('GET', '/ServiceProviderConfig')).body
      const urn = plain.schemas[0] as string
      for (const query of [
        'attributes=pagination',
        'attributes=patch,%20Pagination',
        'ATTRIBUTES=pagination.cursor',
        `attributes=patch&attributes=${urn}:pagination`,
        'attributes=pagination&excludedAttributes=patch&sortBy=patch&startIndex=x&count=0',
      ]) {
        const asked = await call('GET', `/ServiceProviderConfig?${query}`)
        assert.equal(asked.status, 200, query)
        const { pagination, ...rest } = asked.body
        // Query parameters can add `pagination` but change nothing else (RFC 7644 section 4), so the rest of the
        // document is complete.
        assert.deepEqual(rest, plain, query)
        assert.deepEqual(pagination, {
          cursor: true,
          index: true,
          defaultPaginationMethod: 'index',
          defaultPageSize: 100,
          maxPageSize: 1000,
          cursorTimeout: 86_400,
        })
      }
      for (const query of [
        'attributes=patch',
        'attributes=paginations',
        'excludedAttributes=bulk',
      ]) {
        assert.deepEqual((await call('GET', `/ServiceProviderConfig?${query}`)).body, plain, query)
      }
      const schema = (await call('GET', `/Schemas/${urn}`)).body
      type Declared = { name: string; required: boolean; returned: string }
      const declared = schema.attributes as Declared[]
      for (const { name, required, returned } of declared) {
        const expected = name === 'pagination' ? 'request' : 'default'
        assert.equal(returned, expected, name)
        if (returned === 'default') assert.ok(name in plain, name)
        else assert.ok(!required && !(name in plain), name)
      }
    })

    test('RFC 7644 4: a query on a list of discovery is passed over, but for a filter', async () => {
      for (const path of ['/Schemas', '/ResourceTypes', '/ResourceTypes/User']) {
        const plain = (await call('GET', path)).body
        const query = 'attributes=id&sortBy=name&sortOrder=x&startIndex=2&count=1'
        const asked = await call('GET', `${path}?${query}`)
        assert.deepEqual([asked.status, asked.body], [200, plain], path)
      }
      for (const path of ['/Schemas', '/ResourceTypes']) {
        const refused = await call('GET', `${path}?attributes=id&filter=id%20pr`)
        assert.deepEqual([refused.status, refused.body.status], [403, '403'], path)
        assert.equal(refused.headers.get('intercept-refused'), 'filter_refused')
      }
      // A filter on a single document is ignored, because there is no list to filter.
      const plain = (await call('GET', '/ServiceProviderConfig')).body
      const config = await call(
        'GET',
        '/ServiceProviderConfig?filter=invalid&sortBy=id&startIndex=999',
      )
      assert.deepEqual([config.status, config.body], [200, plain])
      // Microsoft's collection of test requests uses this path instead.
      assert.deepEqual((await call('GET', '/serviceConfiguration')).body, plain)
    })

    test('without an exact token every address is 401 in SCIM’s form', async () => {
      for (const path of ['/Users', '/Groups', '/Users/x', '/Bulk', '/Me', '/nothing']) {
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

    test('another organization’s ids are as unknown as any', async () => {
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

    test('hostile bodies are refused in SCIM’s form and change nothing', async () => {
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

    test('an id that no database has is one that is not there', async () => {
      const given: readonly (readonly [string, unknown?])[] = [
        ['GET'],
        ['DELETE'],
        ['PUT', { schemas: [userUrn, groupUrn], userName: 'a', displayName: 'a' }],
        ['PATCH', { schemas: [patchUrn], Operations: [{ op: 'add', path: 'title', value: 'a' }] }],
      ]
      for (const kind of ['Users', 'Groups']) {
        for (const id of ['%00', 'a%00b', '__proto__']) {
          for (const [method, body] of given.slice(0, kind === 'Users' ? 4 : 3)) {
            assert.equal(
              (await call(method, `/${kind}/${id}`, body)).status,
              404,
              `${method} ${id}`,
            )
          }
        }
      }
    })

    test('count is capped, less than nothing is nothing', async () => {
      assert.deepEqual((await call('GET', '/Users?count=-3')).body.Resources, [])
      assert.equal((await call('GET', '/Users?startIndex=-3&count=1')).body.startIndex, 1)
      assert.equal((await call('GET', '/Users?count=99999999')).status, 200)
      assert.equal((await call('GET', '/Users?count=x')).status, 400)
      assert.equal((await call('GET', '/Users?cursor=nonsense')).body.scimType, 'invalidCursor')
    })
  })
}
