import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { withStore } from '../../harness/person.ts'
import { engines } from '../../harness/store.ts'
import {
  directoryForTests,
  groupUrn,
  patchUrn,
  userUrn,
  type ScimReply,
  type TestDirectory,
} from './directory.ts'

for (const engine of engines) {
  describe(`external ids, on ${engine}`, () => {
    let directory: TestDirectory
    before(async () => {
      directory = await directoryForTests(engine)
    })
    after(async () => await directory[Symbol.asyncDispose]())

    let count = 0
    const newId = (): string => `hr-${++count}`
    const create = async (more: Record<string, unknown>): Promise<ScimReply> =>
      await directory.call('POST', '/Users', {
        schemas: [userUrn],
        userName: directory.unique(),
        ...more,
      })
    const patch = async (id: string, value: Record<string, unknown>): Promise<ScimReply> =>
      await directory.call('PATCH', `/Users/${id}`, {
        schemas: [patchUrn],
        Operations: [{ op: 'replace', value }],
      })
    const found = async (externalId: string): Promise<string[]> => {
      const query = new URLSearchParams({ filter: `externalId eq "${externalId}"` })
      const { body } = await directory.call('GET', `/Users?${query.toString()}`)
      return body.Resources.map(({ id }: { id: string }) => id)
    }
    const assertTaken = (reply: ScimReply): void => {
      assert.deepEqual([reply.status, reply.body.scimType], [409, 'uniqueness'])
      assert.match(reply.body.detail, /externalId/)
    }

    test('an active user keeps its externalId against POST, PUT, PATCH and Bulk', async () => {
      const externalId = newId()
      const owner = await directory.addUser({ externalId })
      const other = await directory.addUser({ externalId: newId() })
      assertTaken(await create({ externalId }))
      assertTaken(await create({ externalId, active: false }))
      assertTaken(await patch(other.id, { externalId }))
      assertTaken(
        await directory.call('PUT', `/Users/${other.id}`, {
          schemas: [userUrn],
          userName: other.userName,
          externalId,
        }),
      )
      const data = { schemas: [userUrn], userName: directory.unique(), externalId }
      const bulk = await directory.call('POST', '/Bulk', {
        schemas: ['urn:ietf:params:scim:api:messages:2.0:BulkRequest'],
        Operations: [
          { method: 'POST', bulkId: 'a', path: '/Users', data },
          {
            method: 'PUT',
            path: `/Users/${other.id}`,
            data: { schemas: [userUrn], userName: other.userName, externalId },
          },
        ],
      })
      for (const { status, response } of bulk.body.Operations) {
        assert.deepEqual([status, response.scimType], ['409', 'uniqueness'])
      }
      assert.deepEqual(await found(externalId), [owner.id])
      const read = (await directory.call('GET', `/Users/${other.id}`)).body
      assert.deepEqual(read, other)
    })

    test('groups of one name differ in their externalIds, whichever of the two is changed', async () => {
      const displayName = directory.unique()
      const [ours, theirs] = [newId(), newId()]
      const make = async (externalId: string): Promise<ScimReply> =>
        await directory.call('POST', '/Groups', { schemas: [groupUrn], displayName, externalId })
      const [one, other] = [await make(ours), await make(theirs)]
      const change = async (operation: object): Promise<number> => {
        const body = { schemas: [patchUrn], Operations: [operation] }
        return (await directory.call('PATCH', `/Groups/${other.body.id}`, body)).status
      }
      assert.deepEqual([one.status, other.status], [201, 201])
      assert.equal(await change({ op: 'replace', path: 'externalId', value: ours }), 409)
      assert.equal(await change({ op: 'remove', path: 'externalId' }), 409)
      assert.ok((await change({ op: 'replace', path: 'externalId', value: newId() })) < 300)
    })

    test('a group alone of its name gets and loses its externalId', async () => {
      const { id } = await directory.addGroup()
      for (const operation of [
        { op: 'add', path: 'externalId', value: newId() },
        { op: 'replace', path: 'externalId', value: newId() },
        { op: 'remove', path: 'externalId' },
      ]) {
        const body = { schemas: [patchUrn], Operations: [operation] }
        assert.ok((await directory.call('PATCH', `/Groups/${id}`, body)).status < 300)
      }
    })

    test('the same user says its externalId again without a conflict', async () => {
      const externalId = newId()
      const { id, userName } = await directory.addUser({ externalId })
      assert.equal((await patch(id, { externalId, title: 'x' })).status, 200)
      const put = { schemas: [userUrn], userName, externalId }
      assert.equal((await directory.call('PUT', `/Users/${id}`, put)).status, 200)
    })

    test("POST with an inactive user's externalId restores that user with the new userName", async () => {
      const externalId = newId()
      const before = await directory.addUser({ externalId })
      await patch(before.id, { active: false })
      const userName = directory.unique()
      const again = await create({ externalId, userName, title: 'Returned' })
      assert.deepEqual([again.status, again.body.id], [201, before.id])
      assert.deepEqual([again.body.userName, again.body.active], [userName, true])
      assert.deepEqual(await found(externalId), [before.id])
      // The user's previous name can be given to somebody else.
      const newcomer = await create({ userName: before.userName })
      assert.equal(newcomer.status, 201)
      assert.notEqual(newcomer.body.id, before.id)
    })

    test('an externalId and a userName that are two different users restore neither', async () => {
      const externalId = newId()
      const left = await directory.addUser({ externalId })
      const [active, inactive] = [await directory.addUser(), await directory.addUser()]
      await patch(left.id, { active: false })
      await patch(inactive.id, { active: false })
      for (const { userName } of [active, inactive]) {
        const reply = await create({ externalId, userName })
        assert.deepEqual([reply.status, reply.body.scimType], [409, 'uniqueness'])
      }
      assert.equal((await directory.call('GET', `/Users/${left.id}`)).body.active, false)
    })

    test("an inactive user's externalId is given to nobody else by PUT and PATCH", async () => {
      const externalId = newId()
      const left = await directory.addUser({ externalId })
      await patch(left.id, { active: false })
      const other = await directory.addUser()
      assertTaken(await patch(other.id, { externalId }))
      assertTaken(await create({ externalId, active: false }))
    })

    test('who left is no longer expected back under an externalId that another user took', async () => {
      const externalId = newId()
      const left = await directory.addUser({ externalId })
      assert.equal((await directory.call('DELETE', `/Users/${left.id}`)).status, 204)
      const heir = await directory.addUser()
      assert.equal((await patch(heir.id, { externalId })).status, 200)
      assert.equal((await patch(heir.id, { externalId: newId() })).status, 200)
      const newcomer = await create({ externalId })
      assert.equal(newcomer.status, 201)
      assert.notEqual(newcomer.body.id, left.id)
    })

    test('one of many that are created with one externalId at once is made', async () => {
      const externalId = newId()
      const replies = await Promise.all(
        Array.from({ length: 16 }, async () => await create({ externalId })),
      )
      assert.equal(replies.filter(({ status }) => status === 201).length, 1)
      assert.equal(replies.filter(({ status }) => status === 409).length, 15)
      assert.equal((await found(externalId)).length, 1)
    })

    test('users that shared an externalId before it was unique can be changed, and get no third', async () => {
      const externalId = newId()
      const [a, b] = [await directory.addUser(), await directory.addUser()]
      await withStore(directory.product, async (store) => {
        await store.transaction(async (tx) => {
          for (const { id } of [a, b]) {
            const resource = JSON.stringify({ schemas: [userUrn], userName: id, externalId })
            await sql`update directory_user set external_id = ${externalId}, shared_external_id = id,
              attributes = ${resource} where id = ${id}`.execute(tx.query)
          }
        })
      })
      assert.equal((await patch(a.id, { title: 'still here' })).status, 200)
      assertTaken(await create({ externalId }))
      assert.equal((await patch(a.id, { externalId: newId() })).status, 200)
      assertTaken(await patch(a.id, { externalId }))
    })
  })
}
