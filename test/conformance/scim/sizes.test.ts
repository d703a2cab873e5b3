import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { withStore } from '../../harness/person.ts'
import { engines } from '../../harness/store.ts'
import { directoryForTests, groupUrn, patchUrn, userUrn, type TestDirectory } from './directory.ts'

// The text is random, so that PostgreSQL cannot compress it to a size that fits into an index entry.
const long = randomBytes(3000).toString('hex')

for (const engine of engines) {
  describe(`the size of users, on ${engine}`, () => {
    let directory: TestDirectory
    before(async () => {
      directory = await directoryForTests(engine)
    })
    after(async () => await directory[Symbol.asyncDispose]())

    const patch = async (id: string, ...Operations: unknown[]) =>
      await directory.call('PATCH', `/Users/${id}`, { schemas: [patchUrn], Operations })

    test('an identifier too long for an index is refused', async () => {
      const { id } = await directory.addUser()
      for (const more of [
        { userName: long },
        { userName: `${long}@acme.test` },
        { externalId: long },
        { emails: [{ value: `${long}@acme.test`, type: 'work' }] },
      ]) {
        const user = { schemas: [userUrn], userName: directory.unique(), ...more }
        const made = await directory.call('POST', '/Users', user)
        const changed = await patch(id, { op: 'add', value: more })
        for (const { status, body } of [made, changed]) {
          assert.deepEqual([status, body.scimType], [400, 'invalidValue'], JSON.stringify(body))
        }
      }
      const group = { schemas: [groupUrn], displayName: long }
      assert.equal((await directory.call('POST', '/Groups', group)).status, 400)
      const usual = { userName: 'é'.repeat(400), externalId: 'x'.repeat(1000) }
      assert.equal((await patch(id, { op: 'replace', value: usual })).status, 200)
    })

    const entitlements = (turn: number, length: number) =>
      Array.from({ length }, (_, at) => ({ value: `${turn} ${at} ${'x'.repeat(200)}` }))

    test('a user grows to a bound, request by request, and can then still be deactivated', async () => {
      const { id } = await directory.addUser()
      const statuses: number[] = []
      for (let turn = 0; turn < 5; turn++) {
        const value = { entitlements: entitlements(turn, 80) }
        statuses.push((await patch(id, { op: 'add', value })).status)
      }
      assert.deepEqual(statuses, [200, 200, 200, 400, 400])
      const off = await patch(id, { op: 'replace', path: 'active', value: false })
      assert.deepEqual([off.status, off.body.active], [200, false])
    })

    test('a user that was larger before the bound can be deactivated', async () => {
      const { id } = await directory.addUser()
      await withStore(directory.product, async (store) => {
        const large = JSON.stringify({ userName: 'large', entitlements: entitlements(0, 400) })
        await store.transaction(async (tx) => {
          const row = { attributes: large, user_name_key: 'large' }
          await tx.query.updateTable('directory_user').set(row).where('id', '=', id).execute()
        })
      })
      const off = await patch(id, { op: 'replace', path: 'active', value: false })
      assert.deepEqual([off.status, off.body.active], [200, false])
      const more = await patch(id, { op: 'add', value: { entitlements: entitlements(1, 1) } })
      assert.equal(more.status, 400)
    })

    test('only a deactivation takes a user past the bound, however often it is changed', async () => {
      const { id } = await directory.addUser({ entitlements: entitlements(0, 240) })
      const title = async (length: number) =>
        (await patch(id, { op: 'replace', path: 'title', value: 'x'.repeat(length) })).status
      // Finds the longest title within the bound.
      let [longest, tooLong] = [1, 16 * 1024]
      while (tooLong - longest > 1) {
        const length = Math.floor((longest + tooLong) / 2)
        // Each try starts from the same small user.
        assert.equal(await title(1), 200)
        if ((await title(length)) === 200) longest = length
        else tooLong = length
      }
      assert.equal(await title(longest), 200)
      assert.equal(await title(longest + 1), 400)
      for (let turn = 0; turn < 3; turn++) {
        for (const value of [false, true]) {
          const { status, body } = await patch(id, { op: 'replace', path: 'active', value })
          assert.deepEqual([status, body.active], [200, value])
          assert.equal(await title(longest + 1), 400)
        }
      }
    })

    test('a page of large users is sent while it is read, whole and counted', async () => {
      for (let made = 0; made < 30; made++) {
        await directory.addUser({ title: 'large', entitlements: entitlements(0, 250) })
      }
      const { status, headers, body } = await directory.call(
        'GET',
        '/Users?filter=title%20eq%20%22large%22&count=1000',
      )
      assert.equal(status, 200)
      assert.equal(headers.get('content-length'), null)
      assert.deepEqual([body.Resources.length, body.itemsPerPage, body.totalResults], [30, 30, 30])
      const few = await directory.call('GET', '/Users?count=2')
      assert.ok(Number(few.headers.get('content-length')) > 0)
      assert.equal(few.body.itemsPerPage, 2)
    })
  })
}
