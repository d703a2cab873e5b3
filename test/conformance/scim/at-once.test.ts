import assert from 'node:assert/strict'
import { sql } from 'kysely'
import { after, before, describe, test } from 'node:test'
import { addMember, withStore } from '../../harness/person.ts'
import {
  directoryForTests,
  groupUrn,
  patchUrn,
  scimCall,
  userUrn,
  type ScimReply,
  type TestDirectory,
} from './directory.ts'

const many = 32
const rounds = 3

describe('changes of one directory at the same moment, through two nodes on postgres', () => {
  let directory: TestDirectory
  let bases: string[] = []
  before(async () => {
    directory = await directoryForTests('postgres')
    const { port } = await directory.product.anotherNode()
    bases = [directory.base, `http://127.0.0.1:${port}/scim/v2`]
  })
  after(async () => await directory[Symbol.asyncDispose]())

  const send = async (at: number, method: string, path: string, body?: object) =>
    await scimCall(`${bases[at % 2]}${path}`, method, { token: directory.token, body })
  const patch = async (at: number, path: string, operation: object) =>
    await send(at, 'PATCH', path, { schemas: [patchUrn], Operations: [operation] })
  const atOnce = async (ask: (at: number) => Promise<ScimReply>): Promise<ScimReply[]> =>
    await Promise.all(Array.from({ length: many }, async (_, at) => await ask(at)))
  const users = async (): Promise<string[]> =>
    (await atOnce((at) => send(at, 'POST', '/Users', newUser(directory.unique())))).map(
      ({ body }) => String(body.id),
    )

  /** Checks that one request succeeded, and that all others were told that the name is taken. */
  function assertOne(replies: readonly ScimReply[], status: number): void {
    const refused = replies.filter((reply) => reply.status !== status)
    assert.equal(replies.length - refused.length, 1, JSON.stringify(replies.map(said)))
    for (const reply of refused) assert.deepEqual(said(reply), [409, 'uniqueness'])
  }

  test('one name is given to one new user, and by one renaming, and to one new group', async () => {
    for (let round = 0; round < rounds; round++) {
      const ids = await users()
      const [made, taken, group] = [directory.unique(), directory.unique(), directory.unique()]
      assertOne(await atOnce((at) => send(at, 'POST', '/Users', newUser(made))), 201)
      const rename = { op: 'replace', path: 'userName', value: taken }
      assertOne(await atOnce((at) => patch(at, `/Users/${ids[at]}`, rename)), 200)
      const body = { schemas: [groupUrn], displayName: group }
      assertOne(await atOnce((at) => send(at, 'POST', '/Groups', body)), 201)
    }
  })

  test('one name is given to one group by renaming, whether others rename or are created', async () => {
    const groups = await Promise.all(
      Array.from({ length: many }, async () => await directory.addGroup()),
    )
    for (let round = 0; round < rounds; round++) {
      const displayName = directory.unique()
      const rename = { op: 'replace', path: 'displayName', value: displayName }
      const body = { schemas: [groupUrn], displayName }
      const replies = await atOnce((at) =>
        at % 4 < 2
          ? patch(at, `/Groups/${groups[at]?.id}`, rename)
          : send(at, 'POST', '/Groups', body),
      )
      assert.equal(replies.filter(({ status }) => status < 300).length, 1)
    }
  })

  test('an inactive user is brought back by one, as whom it was and as somebody new', async () => {
    for (const more of [{ externalId: 'comes-back' }, {}]) {
      const userName = directory.unique()
      const { body } = await send(0, 'POST', '/Users', newUser(userName, more))
      await patch(0, `/Users/${body.id}`, { op: 'replace', path: 'active', value: false })
      assertOne(await atOnce((at) => send(at, 'POST', '/Users', newUser(userName, more))), 201)
    }
  })

  test('a member of the organization is adopted by one; the others of the address are new', async () => {
    for (let round = 0; round < rounds; round++) {
      const value = directory.unique()
      await addMember(directory.product, 'acme', { email: value, role: 'developer' })
      const replies = await atOnce((at) =>
        send(at, 'POST', '/Users', newUser(`${value}-${at}`, { emails: [{ value }] })),
      )
      assert.deepEqual([...new Set(replies.map(({ status }) => status))], [201])
      assert.equal(new Set(replies.map(({ body }) => body.id)).size, many)
    }
  })

  test('who is deleted while it is put into a group is in no group', async () => {
    const ids = await users()
    const { body: group } = await send(0, 'POST', '/Groups', {
      schemas: [groupUrn],
      displayName: directory.unique(),
    })
    const [deleted, added] = await Promise.all([
      atOnce((at) => send(0, 'DELETE', `/Users/${ids[at]}`)),
      atOnce((at) =>
        patch(1, `/Groups/${group.id}`, {
          op: 'add',
          path: 'members',
          value: [{ value: ids[at] }],
        }),
      ),
    ])
    for (const { status } of deleted) assert.equal(status, 204)
    for (const { status } of added) assert.ok([204, 400].includes(status), String(status))
    assert.equal((await send(0, 'GET', `/Groups/${group.id}`)).body.members, undefined)
  })

  test('users and groups that are changed in opposite orders never wait for each other in a circle', async () => {
    const ids = await users()
    const groups = await Promise.all([directory.addGroup(ids), directory.addGroup(ids)])
    const replies = await Promise.all(
      ids.flatMap((id, at) => [
        patch(at, `/Users/${id}`, { op: 'replace', path: 'active', value: at % 3 === 0 }),
        patch(at + 1, `/Users/${ids.at(-1 - at)}`, {
          op: 'replace',
          path: 'title',
          value: `${at}`,
        }),
        send(at + 1, 'DELETE', `/Users/${ids.at(at - 10)}`),
        patch(at, `/Groups/${groups[at % 2].id}`, {
          op: 'remove',
          path: `members[value eq "${id}"]`,
        }),
      ]),
    )
    for (const { status } of replies) assert.ok([200, 204, 404].includes(status), String(status))
    assert.equal(await deadlocks(directory), 0)
  })
})

function newUser(userName: string, more: object = {}): object {
  return { schemas: [userUrn], userName, ...more }
}

function said({ status, body }: ScimReply): [number, string] {
  return [status, body?.scimType]
}

async function deadlocks({ product }: TestDirectory): Promise<number> {
  return await withStore(product, async (store) => {
    const { rows } = await sql<{ deadlocks: number }>`select deadlocks from pg_stat_database
      where datname = current_database()`.execute(store.query)
    return rows[0]?.deadlocks ?? -1
  })
}
