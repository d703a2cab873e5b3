import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { memberOf, withStore, type Person } from '../../harness/person.ts'
import { engines } from '../../harness/store.ts'
import {
  commandLine,
  directoryForTests,
  patchUrn,
  scimCall,
  userUrn,
  type TestDirectory,
} from './directory.ts'

const hourMs = 3_600_000

for (const engine of engines) {
  describe(`the directory as people see it, on ${engine}`, () => {
    let directory: TestDirectory
    let admin: Person
    before(async () => {
      directory = await directoryForTests(engine)
      admin = await memberOf(directory.product, 'acme', { email: 'ann@acme.test', role: 'admin' })
    })
    after(async () => await directory[Symbol.asyncDispose]())

    const base = '/organizations/acme/directory'
    async function requests(query = ''): Promise<Record<string, unknown>[]> {
      const answer = await admin.call(`GET ${base}/requests${query}`)
      assert.equal(answer.status, 200, answer.text)
      return answer.json.items
    }

    test('a request tells its body, its refusal in SCIM’s word, and what was passed over', async () => {
      const body = {
        schemas: [userUrn],
        userName: directory.unique(),
        password: 'hunter2',
        shoeSize: 44,
        'urn:example:ext:2.0:User': { badge: 7 },
      }
      const made = await directory.call('POST', '/Users', body)
      assert.equal(made.status, 201)
      const [created] = await requests('?limit=1')
      assert.deepEqual(created?.['ignored'], ['password', 'shoeSize', 'urn:example:ext:2.0:User'])
      assert.equal(created?.['resource_id'], made.body.id)
      const sent = JSON.parse(String(created?.['sent']))
      assert.deepEqual([sent.shoeSize, sent.password], [44, '(dropped)'])

      assert.equal((await directory.call('POST', '/Users', body)).status, 409)
      assert.equal((await directory.call('PUT', '/Users', body)).status, 405)
      const failed = await requests('?failed=true')
      assert.deepEqual(
        failed.map((each) => [each['status'], each['scim_type'], each['ignored']]),
        [
          [405, null, []],
          [409, 'uniqueness', []],
        ],
      )
      assert.equal((await requests('?failed=false')).length > failed.length, true)
      assert.equal((await admin.call(`GET ${base}/requests?failed=perhaps`)).status, 400)
    })

    test('a request with what no database can store is among them, and hides no other', async () => {
      const [before] = await requests('?limit=1')
      await Promise.all([
        directory.call('GET', '/Users?filter=%00&attributes=one'),
        scimCall(`${directory.base}/Users?count=1`, 'GET', { token: directory.otherToken }),
        directory.call('GET', '/Users?count=3'),
      ])
      const listed = await requests()
      const added = listed.slice(
        0,
        listed.findIndex(({ id }) => id === before?.['id']),
      )
      assert.deepEqual(
        new Set(added.map(({ path }) => path)),
        new Set(['/Users?count=3', '/Users?filter=\ufffd&attributes=one']),
      )
    })

    test('a revoked token of this organization is among the requests once a minute; a stranger’s is not', async () => {
      const words = ['scim', 'token', 'issue', 'acme', '--name', 'old']
      const { id, secret } = await commandLine(words, directory.product)
      await commandLine(['scim', 'token', 'revoke', 'acme', String(id)], directory.product)
      const refused = async (): Promise<unknown[]> =>
        (await requests('?failed=true')).filter(({ status }) => status === 401)
      const call = async (token: string): Promise<void> => {
        assert.equal((await scimCall(`${directory.base}/Users`, 'GET', { token })).status, 401)
      }
      await call('svc_scim_wrong')
      assert.equal((await refused()).length, 0)
      for (let time = 0; time < 3; time++) await call(String(secret))
      const found = (await refused()) as { token_id: string; path: string }[]
      assert.deepEqual(
        found.map(({ token_id, path }) => [token_id, path]),
        [[id, '/Users']],
      )
      directory.product.clock.forward(61_000)
      await call(String(secret))
      assert.equal((await refused()).length, 2)
    })

    test('one person’s view has every stored attribute, the requests about them, and their history', async () => {
      const user = await directory.addUser({
        externalId: 'view-1',
        name: { givenName: 'Vera', familyName: 'View' },
        department: 'Optics',
      })
      await directory.call('PATCH', `/Users/${user.id}`, {
        schemas: [patchUrn],
        Operations: [{ op: 'replace', path: 'title', value: 'Lens' }],
      })
      await directory.call('GET', `/Users/${user.id}`)
      const { status, json } = await admin.call(`GET ${base}/users/${user.id}`)
      assert.equal(status, 200)
      const {
        schemas: _,
        id: __,
        meta,
        ...stored
      } = (await directory.call('GET', `/Users/${user.id}`)).body
      assert.deepEqual(json.attributes, stored)
      assert.equal(`W/"${json.version}"`, meta.version)
      assert.equal(json.created_at, meta.created)
      const about = await requests(`?resource_id=${user.id}`)
      assert.deepEqual(
        about.map(({ method }) => method),
        ['GET', 'GET', 'PATCH', 'POST'],
      )
      const history = await admin.call(`GET /organizations/acme/audit?subject_id=${user.id}`)
      assert.deepEqual(
        history.json.items.map(({ action }: { action: string }) => action),
        ['directory_user.updated', 'directory_user.created', 'member.joined'],
      )
      assert.equal((await admin.call(`GET ${base}/users/mem_nobody`)).status, 404)
    })

    test('people of other organizations and without the permission see none of it', async () => {
      const user = await directory.addUser()
      const viewer = await memberOf(directory.product, 'acme', {
        email: 'vi@acme.test',
        role: 'viewer',
      })
      const stranger = await memberOf(directory.product, 'other', {
        email: 'o@o.test',
        role: 'owner',
      })
      for (const path of ['requests', `users/${user.id}`, 'duplicates']) {
        assert.equal((await viewer.call(`GET ${base}/${path}`)).status, 403, path)
        assert.equal((await stranger.call(`GET ${base}/${path}`)).status, 404, path)
      }
      const own = await stranger.call(`GET /organizations/other/directory/users/${user.id}`)
      assert.equal(own.status, 404)
    })

    test('a silent directory tells for how many hours nothing has come', async () => {
      await directory.call('GET', '/Users?count=0')
      const silence = async (): Promise<unknown> =>
        (await admin.call(`GET ${base}`)).json.nothing_for_hours
      assert.equal(await silence(), 0)
      directory.product.clock.forward(3 * hourMs)
      assert.equal(await silence(), 3)
    })

    test('identifiers that several users have are named with those users', async () => {
      assert.deepEqual((await admin.call(`GET ${base}/duplicates`)).json.items, [])
      const shared = { emails: [{ value: 'Shared@acme.test' }] }
      const [a, b] = [await directory.addUser(shared), await directory.addUser(shared)]
      await withStore(directory.product, async (store) => {
        await store.transaction(async (tx) => {
          await sql`update directory_user set external_id = 'twice', shared_external_id = id
            where id in (${a.id}, ${b.id})`.execute(tx.query)
        })
      })
      const { items } = (await admin.call(`GET ${base}/duplicates`)).json
      const names = [a.userName, b.userName]
      assert.deepEqual(
        items.map((each: { kind: string; value: string; users: { user_name: string }[] }) => [
          each.kind,
          each.value,
          each.users.map(({ user_name }) => user_name),
        ]),
        [
          ['external_id', 'twice', names],
          ['address', 'shared@acme.test', names],
        ],
      )
    })
  })
}
