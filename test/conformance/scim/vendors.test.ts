// Sequences of requests that Okta and Microsoft Entra document.
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
  describe(`what identity providers send, on ${engine}`, () => {
    let directory: TestDirectory
    before(async () => {
      directory = await directoryForTests(engine)
    })
    after(async () => await directory[Symbol.asyncDispose]())

    describe('Okta', () => {
      const headers = {
        'content-type': 'application/scim+json; charset=utf-8',
        accept: 'application/scim+json',
        'accept-charset': 'utf-8',
        'user-agent': 'Okta SCIM Client 1.0.0',
      }
      const okta = async (method: string, path: string, body?: unknown): Promise<ScimReply> =>
        await directory.call(method, path, body, headers)
      const filtered = async (filter: string, rest = ''): Promise<ScimReply> =>
        await okta('GET', `/Users?filter=${encodeURIComponent(filter)}${rest}`)

      function newUser(userName: string) {
        return {
          schemas: [userUrn],
          userName,
          name: { givenName: 'Test', familyName: 'User' },
          emails: [{ primary: true, value: userName, type: 'work' }],
          displayName: 'Test User',
          locale: 'en-US',
          externalId: `00u${userName}`,
          groups: [],
          password: '1mz050nq',
          active: true,
        }
      }

      test('the specification test: list, read, unknown, create, conflict, case, groups, 401, 404', async () => {
        const seeded = await okta('POST', '/Users', newUser(directory.unique()))
        assert.equal(seeded.status, 201)
        const list = await okta('GET', '/Users?count=1&startIndex=1')
        assert.deepEqual([list.status, list.body.schemas], [200, [listUrn]])
        for (const name of ['itemsPerPage', 'startIndex', 'totalResults']) {
          assert.equal(typeof list.body[name], 'number', name)
        }
        const [first] = list.body.Resources
        for (const value of [
          first.id,
          first.name.familyName,
          first.name.givenName,
          first.userName,
        ]) {
          assert.ok(value)
        }
        assert.deepEqual([first.active, typeof first.emails[0].value], [true, 'string'])
        assert.equal((await okta('GET', `/Users/${first.id}`)).body.id, first.id)

        const nobody = await filtered('userName eq "abcdefgh@atko.com"', '&startIndex=1&count=100')
        assert.deepEqual(
          [nobody.status, nobody.body.totalResults, nobody.body.schemas],
          [200, 0, [listUrn]],
        )
        const unknown = await okta('GET', '/Users/010101001010101011001010101011')
        assert.deepEqual([unknown.status, unknown.body.schemas], [404, [errorUrn]])
        assert.deepEqual([unknown.body.status, unknown.body.detail.length > 0], ['404', true])

        const userName = directory.unique()
        const made = await okta('POST', '/Users', newUser(userName))
        assert.deepEqual([made.status, made.body.active, made.body.userName], [201, true, userName])
        assert.deepEqual(made.body.name, { givenName: 'Test', familyName: 'User' })
        assert.deepEqual([made.body.password, made.body.groups], [undefined, undefined])
        assert.equal(made.headers.get('content-type'), 'application/scim+json')
        const again = await okta('POST', '/Users', newUser(userName))
        assert.deepEqual([again.status, again.body.scimType], [409, 'uniqueness'])
        const capital = await filtered(`userName eq "${userName.toUpperCase()}"`)
        assert.deepEqual(
          [capital.body.totalResults, capital.body.Resources[0].id],
          [1, made.body.id],
        )
        assert.equal((await okta('GET', '/Groups')).status, 200)
        const stranger = await scimCall(`${directory.base}/Users`, 'GET', {
          headers: { ...headers, authorization: 'non-token' },
        })
        assert.deepEqual([stranger.status, stranger.body.status], [401, '401'])
        assert.deepEqual(stranger.body.schemas, [errorUrn])
      })

      test('the life of a user: found by name, made, PUT back whole, suspended, back under the same id', async () => {
        const userName = directory.unique()
        assert.equal((await filtered(`userName eq "${userName}"`)).body.totalResults, 0)
        const { body: made } = await okta('POST', '/Users', newUser(userName))
        const read = (await okta('GET', `/Users/${made.id}`)).body
        const put = await okta('PUT', `/Users/${made.id}`, {
          ...read,
          name: { ...read.name, familyName: 'Changed' },
        })
        assert.deepEqual([put.status, put.body.name.familyName], [200, 'Changed'])
        const off = await okta('PATCH', `/Users/${made.id}`, {
          schemas: [patchUrn],
          Operations: [{ op: 'replace', value: { active: false } }],
        })
        assert.deepEqual([off.status, off.body.active], [200, false])
        const found = await filtered(`userName eq "${userName}"`)
        assert.deepEqual([found.body.totalResults, found.body.Resources[0].active], [1, false])
        const on = await okta('PUT', `/Users/${made.id}`, { ...put.body, active: true })
        assert.deepEqual([on.status, on.body.active, on.body.id], [200, true, made.id])
        await okta('PATCH', `/Users/${made.id}`, {
          schemas: [patchUrn],
          Operations: [{ op: 'replace', value: { active: false } }],
        })
        const remade = await okta('POST', '/Users', newUser(userName))
        assert.deepEqual([remade.status, remade.body.id, remade.body.active], [201, made.id, true])
      })

      test('roles as mappings send them: texts in a list, one text, none again', async () => {
        const userName = directory.unique()
        const base = { schemas: [userUrn], userName }
        const { id } = (await okta('POST', '/Users', base)).body
        for (const [roles, kept] of [
          [['viewer'], [{ value: 'viewer' }]],
          [
            ['viewer', 'editor'],
            [{ value: 'viewer' }, { value: 'editor' }],
          ],
          ['viewer,editor', [{ value: 'viewer,editor' }]],
          [[], undefined],
        ] as const) {
          const put = await okta('PUT', `/Users/${id}`, { ...base, roles })
          assert.deepEqual([put.status, put.body.roles], [200, kept])
        }
        const refused = await okta('PUT', `/Users/${id}`, { ...base, emails: ['bare@x.test'] })
        assert.deepEqual([refused.status, refused.body.scimType], [400, 'invalidValue'])
      })

      test('group push: made, renamed with its id repeated, members in, out and exchanged, deleted', async () => {
        const [a, b] = [await directory.addUser(), await directory.addUser()]
        const made = await okta('POST', '/Groups', {
          schemas: [groupUrn],
          displayName: `Pushed ${directory.unique()}`,
          members: [{ value: a.id, display: a.userName }],
        })
        assert.deepEqual([made.status, made.body.members.length], [201, 1])
        const { id } = made.body
        const patch = async (...Operations: unknown[]): Promise<number> =>
          (await okta('PATCH', `/Groups/${id}`, { schemas: [patchUrn], Operations })).status
        assert.equal(await patch({ op: 'replace', value: { id, displayName: `New ${id}` } }), 204)
        assert.equal(
          await patch(
            { op: 'remove', path: `members[value eq "${a.id}"]` },
            { op: 'add', path: 'members', value: [{ value: b.id, display: b.userName }] },
          ),
          204,
        )
        const members = async (): Promise<string[]> =>
          ((await okta('GET', `/Groups/${id}`)).body.members ?? []).map(
            (each: { value: string }) => each.value,
          )
        assert.deepEqual(await members(), [b.id])
        assert.equal(await patch({ op: 'replace', path: 'members', value: [{ value: a.id }] }), 204)
        assert.deepEqual(await members(), [a.id])
        const put = await okta('PUT', `/Groups/${id}`, {
          schemas: [groupUrn],
          id,
          displayName: `Put ${id}`,
          members: [{ value: a.id }, { value: b.id }],
        })
        assert.deepEqual([put.status, put.body.members.length], [200, 2])
        assert.equal((await okta('DELETE', `/Groups/${id}`)).status, 204)
        assert.equal((await okta('GET', `/Groups/${id}`)).status, 404)
      })
    })

    describe('Microsoft Entra', () => {
      const call = async (method: string, path: string, body?: unknown): Promise<ScimReply> =>
        await directory.call(method, path, body)
      const found = async (kind: 'Users' | 'Groups', filter: string): Promise<ScimReply['body']> =>
        (await call('GET', `/${kind}?${new URLSearchParams({ filter }).toString()}`)).body
      const patch = async (path: string, ...Operations: unknown[]): Promise<ScimReply> =>
        await call('PATCH', path, { schemas: [patchUrn], Operations })

      async function newUser(): Promise<ScimReply['body']> {
        const userName = directory.unique()
        const made = await call('POST', '/Users', {
          schemas: [userUrn, enterpriseUrn, 'urn:microsoft:entra:extension:2.0:User'],
          externalId: `entra-${userName}`,
          userName,
          active: true,
          displayName: 'Andrew Ryan',
          addresses: null,
          emails: [
            { Primary: true, type: 'work', value: userName },
            { Primary: false, type: 'home', value: `home-${userName}` },
          ],
          meta: { resourceType: 'User' },
          name: { formatted: 'Andrew Ryan', familyName: 'Ryan', givenName: 'Andrew' },
          roles: [],
          [enterpriseUrn]: { Department: 'bob', Manager: { Value: 'SuzzyQ' } },
        })
        assert.equal(made.status, 201, JSON.stringify(made.body))
        return made.body
      }

      test('the connection test, matching by any case, a duplicate, and the shapes of a first cycle', async () => {
        const probe = await found('Users', 'userName eq "5f2d2d42-2c5b-4a9d-9d6c-5f1d3a0f6a1b"')
        assert.deepEqual([probe.totalResults, probe.Resources], [0, []])
        const user = await newUser()
        assert.deepEqual(user[enterpriseUrn], { department: 'bob', manager: { value: 'SuzzyQ' } })
        assert.equal(user.emails[0].primary, true)
        const same = await found('Users', `externalId eq "${user.externalId}"`)
        assert.equal(same.Resources[0].id, user.id)
        const capital = await found('Users', `userName eq "${user.userName.toUpperCase()}"`)
        assert.equal(capital.Resources[0].id, user.id)
        const duplicate = await call('POST', '/Users', {
          schemas: [userUrn],
          userName: user.userName,
          externalId: user.externalId,
        })
        assert.deepEqual([duplicate.status, duplicate.body.scimType], [409, 'uniqueness'])
        const picked = await call(
          'GET',
          `/Users/${user.id}?attributes=${encodeURIComponent('emails[type eq "work"]')}`,
        )
        assert.ok(picked.body.emails.length > 0)
      })

      test('changes of a user: capital verbs, dotted names, value filters, manager in every shape', async () => {
        const { id } = await newUser()
        const manager = (await newUser()).id as string
        const changed = await patch(
          `/Users/${id}`,
          { op: 'Replace', path: 'displayName', value: 'pvlo' },
          { op: 'Add', path: 'emails[type eq "work"].value', value: 'new@work.test' },
          { op: 'Add', path: 'phoneNumbers[type eq "mobile"].Value', value: '+1 555' },
          { op: 'Replace', path: 'addresses[type eq "work"].country', value: 'NO' },
          { op: 'Add', path: 'roles[primary eq "True"].value', value: 'reader' },
          {
            op: 'Add',
            value: {
              'name.givenName': 'Lin',
              'name.familyName': 'Lee',
              [`${enterpriseUrn}:employeeNumber`]: '7',
              'emails[type eq "other"].value': 'other@x.test',
            },
          },
        )
        assert.equal(changed.status, 200, JSON.stringify(changed.body))
        const { body } = changed
        assert.deepEqual(
          [body.displayName, body.name.givenName, body.name.familyName],
          ['pvlo', 'Lin', 'Lee'],
        )
        const mailOf = (type: string): string =>
          body.emails.find((email: { type: string }) => email.type === type).value
        assert.deepEqual([mailOf('work'), mailOf('other')], ['new@work.test', 'other@x.test'])
        assert.deepEqual(body.phoneNumbers, [{ type: 'mobile', value: '+1 555' }])
        assert.equal(body.addresses[0].country, 'NO')
        assert.deepEqual(body.roles, [{ primary: true, value: 'reader' }])
        assert.equal(body[enterpriseUrn].employeeNumber, '7')
        for (const operation of [
          { op: 'Add', path: `${enterpriseUrn}:manager`, value: manager },
          { op: 'Replace', path: `${enterpriseUrn}.manager`, value: manager },
          { op: 'Replace', path: `${enterpriseUrn}:manager`, value: [{ value: manager }] },
          { op: 'Add', value: { [`${enterpriseUrn}:manager`]: { value: manager } } },
        ]) {
          const led = await patch(`/Users/${id}`, operation)
          assert.equal(led.body[enterpriseUrn].manager.value, manager, JSON.stringify(operation))
          const none = await patch(`/Users/${id}`, {
            op: 'Replace',
            path: `${enterpriseUrn}:manager`,
            value: '',
          })
          assert.equal(none.body[enterpriseUrn].manager, undefined)
        }
        const unmade = await patch(`/Users/${id}`, {
          op: 'Replace',
          path: 'emails[type eq "secret"].value',
          value: 'x',
        })
        assert.deepEqual([unmade.status, unmade.body.scimType], [400, 'noTarget'])
      })

      test('soft delete and restore by "False" and "True", hard delete, 404 after', async () => {
        const { id } = await newUser()
        const off = await patch(`/Users/${id}`, { op: 'Replace', path: 'active', value: 'False' })
        assert.deepEqual([off.status, off.body.active], [200, false])
        const on = await patch(`/Users/${id}`, { op: 'Replace', path: 'active', value: 'True' })
        assert.deepEqual([on.status, on.body.active, on.body.id], [200, true, id])
        assert.equal((await call('DELETE', `/Users/${id}`)).status, 204)
        assert.equal((await call('GET', `/Users/${id}`)).status, 404)
        assert.equal((await call('DELETE', `/Users/${id}`)).status, 404)
      })

      test('groups: matched without members, names that repeat under other ids, members by list', async () => {
        const [a, b] = [await newUser(), await newUser()]
        const displayName = `Group ${directory.unique()}`
        const input = (externalId: string) => ({
          schemas: [
            groupUrn,
            'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group',
          ],
          externalId,
          displayName,
          meta: { resourceType: 'Group' },
        })
        const made = await call('POST', '/Groups', input('g-1'))
        assert.equal(made.status, 201)
        assert.equal((await call('POST', '/Groups', input('g-1'))).status, 409)
        assert.equal((await call('POST', '/Groups', input('g-2'))).status, 201)
        const query = { filter: `displayName eq "${displayName.toUpperCase()}"` }
        const search = new URLSearchParams({ ...query, excludedAttributes: 'members' })
        assert.equal((await call('GET', `/Groups?${search.toString()}`)).body.totalResults, 2)
        const { id } = made.body
        const members = (...ids: string[]) => ids.map((value) => ({ $ref: null, value }))
        const added = await patch(`/Groups/${id}`, {
          op: 'Add',
          path: 'members',
          value: members(a.id, b.id),
        })
        assert.deepEqual([added.status, added.body], [204, undefined])
        const removed = await patch(`/Groups/${id}`, {
          op: 'Remove',
          path: 'members',
          value: members(a.id),
        })
        assert.equal(removed.status, 204)
        const read = (await call('GET', `/Groups/${id}`)).body
        assert.deepEqual(
          read.members.map((each: { value: string }) => each.value),
          [b.id],
        )
        const renamed = await patch(`/Groups/${id}`, {
          op: 'Replace',
          path: 'displayName',
          value: `${displayName} 2`,
        })
        assert.equal(renamed.status, 204)
        assert.equal((await call('DELETE', `/Groups/${id}`)).status, 204)
      })

      test('the reference collection: full and delta cycles by time, names in any case, odd parameters', async () => {
        const user = await newUser()
        for (const filter of [
          'active eq true and (meta.lastModified ge "0001-01-03T00:00:00.0000000Z" and meta.lastModified le "2999-01-01T00:00:00Z")',
          '(ActiVe eq true) and meta.lastmodified ge "2021-09-23T19:35:41.8420572Z"',
          `name.FamilyName eq "Ryan" and (emails.Value co "acme.test" or emails.Value co "example.org")`,
          `DisplayName eq "Andrew Ryan"`,
        ]) {
          const search = new URLSearchParams({ filter, count: '100', startindex: '0' })
          const listed = await call('GET', `/Users/?${search.toString()}`)
          assert.equal(listed.status, 200, filter)
          const ids = listed.body.Resources.map((each: { id: string }) => each.id)
          assert.ok(ids.includes(user.id), filter)
        }
      })
    })
  })
}
