import assert from 'node:assert/strict'
import { CompiledQuery, type KyselyPlugin, type RootOperationNode } from 'kysely'
import { after, before, describe, test } from 'node:test'
import type { OrganizationId } from '../../src/ids.ts'
import {
  directoryGroups,
  directoryLists,
  directoryMembers,
  directoryUsers,
  memberships,
  type Db,
  type DirectoryCondition,
} from '../../src/store/index.ts'
import { storeForTests, type TestStore } from '../harness/store.ts'

const organization = 'org_1' as OrganizationId
const ids = Array.from({ length: 100 }, (_, n) => `mem_${n}`)

const writingNothing = {
  now: 0,
  audit: () => assert.fail(),
  event: () => assert.fail(),
  changed: () => assert.fail(),
}

/** Queries that are frequent and must stay fast with a million users: each must find its rows by an index. */
const questions: Record<string, (db: Db) => Promise<unknown>> = {
  'the users of a page': (at) => directoryUsers.findAll(at, organization, ids),
  'the groups of a page': (at) => directoryGroups.findAll(at, organization, ids),
  'the groups of users': (at) => directoryMembers.listGroups(at, organization, ids),
  // None of these users exists, so nothing is written.
  'which of these users there are': (at) =>
    directoryMembers.add(
      { ...at, ...writingNothing },
      { organizationId: organization, groupId: 'grp_1', ids },
    ),
  'memberships by id': (at) => memberships.listByIds(at, organization, ids),
  'members by address': (at) => memberships.listByEmailKeys(at, organization, ['a@b.test']),
  'a user by userName': (at) => list(at, equal('user_name_key')),
  'a user by externalId': (at) => list(at, equal('external_id')),
  'a user by id': (at) => list(at, equal('id')),
  'a user by e-mail': (at) => list(at, { kind: 'email', value: 'a@b.test' }),
  'a user by one name or another': (at) =>
    list(at, { kind: 'or', terms: [equal('user_name_key'), equal('user_name_key')] }),
  'an active user by userName': (at) =>
    list(at, {
      kind: 'and',
      terms: [
        { kind: 'compare', field: { column: 'active' }, operator: 'eq', value: 1 },
        equal('user_name_key'),
      ],
    }),
}

describe('the plans of a directory', () => {
  let place: TestStore

  before(async () => {
    place = await storeForTests('sqlite')
  })
  after(async () => await place[Symbol.asyncDispose]())

  for (const [what, ask] of Object.entries(questions)) {
    test(`SQLite finds ${what} by an index that holds only these rows`, async () => {
      const plan = await planOf(place, ask)
      assert.notEqual(plan.length, 0)
      for (const step of plan) {
        assert.doesNotMatch(step, /^SCAN (directory|membership|user)/, plan.join('\n'))
        // An index search by organization alone would read every row of that organization.
        assert.doesNotMatch(step, /\(organization_id=\?\)/, plan.join('\n'))
      }
    })
  }
})

function equal(column: 'id' | 'user_name_key' | 'external_id'): DirectoryCondition {
  return { kind: 'compare', field: { column }, operator: 'eq', value: 'a' }
}

async function list(db: Db, condition: DirectoryCondition): Promise<void> {
  const query = { condition, sort: undefined }
  const page = { after: undefined, offset: 0, limit: 101 }
  await directoryLists.listPlaces(db, {
    table: 'directory_user',
    organizationId: organization,
    query,
    page,
  })
  await directoryLists.countPlaces(db, {
    table: 'directory_user',
    organizationId: organization,
    query,
    after: undefined,
  })
}

/** Returns the steps of SQLite's plan for every statement that a question sends. */
async function planOf({ store }: TestStore, ask: (db: Db) => Promise<unknown>): Promise<string[]> {
  const sent: Parameters<KyselyPlugin['transformQuery']>[0][] = []
  const listener: KyselyPlugin = {
    transformQuery(given): RootOperationNode {
      sent.push(given)
      return given.node
    },
    transformResult: async ({ result }) => result,
  }
  await ask({ ...store, query: store.query.withPlugin(listener) })
  const steps: string[] = []
  for (const { node, queryId } of sent) {
    const { sql, parameters } = store.query.getExecutor().compileQuery(node, queryId)
    const { rows } = await store.query.executeQuery<{ detail: string }>(
      CompiledQuery.raw(`explain query plan ${sql}`, [...parameters]),
    )
    steps.push(...rows.map((row) => row.detail))
  }
  return steps
}
