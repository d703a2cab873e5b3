import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { withStore } from '../../harness/person.ts'
import { engines } from '../../harness/store.ts'
import { directoryForTests, patchUrn, type ScimReply, type TestDirectory } from './directory.ts'

const many = 12_345

for (const engine of engines) {
  describe(`a group of ${many} members, on ${engine}`, () => {
    let directory: TestDirectory
    let id: string
    const ids = Array.from({ length: many }, (_, at) => `mem_${String(at).padStart(8, '0')}`)
    before(async () => {
      directory = await directoryForTests(engine)
      await directory.addGroup()
      id = (await directory.addGroup()).id
      await directory.addGroup([(await directory.addUser()).id])
      await withStore(directory.product, async (store) => {
        await store.transaction(async (tx) => {
          const { rows } = await sql<{ organization_id: string }>`update directory_group
            set members = ${many} where id = ${id} returning organization_id`.execute(tx.query)
          for (let at = 0; at < many; at += 500) {
            const values = ids
              .slice(at, at + 500)
              .map((each) => sql`(${id}, ${each}, ${rows[0]!.organization_id})`)
            await sql`insert into directory_member (group_id, directory_user_id, organization_id)
              values ${sql.join(values)}`.execute(tx.query)
          }
        })
      })
    })
    after(async () => await directory[Symbol.asyncDispose]())

    const valuesOf = (group: ScimReply['body']): string[] =>
      (group.members ?? []).map((member: { value: string }) => member.value)
    const isStreamed = ({ headers }: ScimReply): boolean =>
      headers.get('transfer-encoding') === 'chunked' && headers.get('content-length') === null

    test('is read with every member once, in a stream', async () => {
      const read = await directory.call('GET', `/Groups/${id}`)
      assert.equal(read.status, 200)
      assert.ok(isStreamed(read))
      assert.deepEqual(valuesOf(read.body), ids)
      const [first] = read.body.members
      assert.deepEqual(first, {
        value: ids[0],
        $ref: `${directory.base}/Users/${ids[0]}`,
        type: 'User',
      })
      assert.equal(read.headers.get('etag'), read.body.meta.version)
    })

    test('is listed among small ones with every member once, by GET and by .search', async () => {
      for (const listed of [
        await directory.call('GET', '/Groups'),
        await directory.call('GET', '/'),
        await directory.call('POST', '/Groups/.search', {
          schemas: ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'],
        }),
      ]) {
        assert.ok(isStreamed(listed))
        const groups = listed.body.Resources.filter(
          ({ displayName }: { displayName: string }) => displayName,
        )
        assert.deepEqual(
          groups.map((group: ScimReply['body']) => valuesOf(group).length),
          [0, many, 1],
        )
        assert.equal(listed.body.itemsPerPage, listed.body.Resources.length)
      }
    })

    test('shows the parts of its members that are asked for, and none when they are not', async () => {
      const some = await directory.call('GET', `/Groups/${id}?attributes=members.value`)
      assert.equal(some.body.members.length, many)
      assert.deepEqual(some.body.members.at(-1), { value: ids.at(-1) })
      for (const query of ['excludedAttributes=members', 'attributes=displayName']) {
        const none = await directory.call('GET', `/Groups/${id}?${query}`)
        assert.equal(none.body.members, undefined)
        assert.ok(none.headers.has('content-length'))
      }
    })

    test('answers HEAD and If-None-Match without reading its members', async () => {
      const head = await directory.call('HEAD', `/Groups/${id}`)
      assert.deepEqual([head.status, head.body], [200, undefined])
      const known = { 'if-none-match': head.headers.get('etag')! }
      assert.equal((await directory.call('GET', `/Groups/${id}`, undefined, known)).status, 304)
    })

    test('a PATCH that asks for the members sees them all', async () => {
      const patched = await directory.call('PATCH', `/Groups/${id}?attributes=members`, {
        schemas: [patchUrn],
        Operations: [{ op: 'remove', path: `members[value eq "${ids[0]}"]` }],
      })
      assert.equal(patched.body.members.length, many - 1)
    })
  })
}
