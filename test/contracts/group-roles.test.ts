import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from 'kysely'
import { createId, type UserId } from '../../src/ids.ts'
import { directoryRoles } from '../../src/directory/roles.ts'
import {
  auditEntries,
  memberships,
  organizations,
  sessions,
  users,
  type Store,
} from '../../src/store/index.ts'
import { emptyPlace, engines } from './engines.ts'

const people = 20

for (const engine of engines) {
  describe(`a role by a group on ${engine}`, () => {
    test('is given to all its members at once; only who is signed in is signed out', async () => {
      await using place = await emptyPlace(engine)
      await using store = await place.open()
      const { organizationId, members, signedIn } = await furnish(store)
      const changed = await store.transaction(
        async (tx) =>
          await directoryRoles.apply({ tx, organizationId, actor: { kind: 'operator' } }, members),
      )
      assert.equal(changed, people)
      assert.deepEqual(await sessions.listLiving(store, signedIn, { nowMs: Date.now() }), [])
      const all = await memberships.list(store, organizationId, { limit: 100 })
      assert.deepEqual(
        all.map(({ role, version, name }) => [role, version, name]),
        Array.from({ length: people }, (_, at) => ['admin', 2, `Person ${at}`]),
      )
      const entries = await auditEntries.list(store, organizationId, {
        limit: 100,
        action: 'member.role_changed',
      })
      assert.equal(entries.length, people)
    })
  })
}

async function furnish(store: Store) {
  const organizationId = createId('org')
  const group = createId('grp')
  const members: string[] = []
  const userIds: UserId[] = []
  await store.transaction(async (tx) => {
    await organizations.insert(tx, { id: organizationId, slug: 'a', name: 'A', plan: 'standard' })
    await sql`insert into directory_group (id, organization_id, position, display_name_key, attributes,
      folded, role, members, created_at, modified_at)
      values (${group}, ${organizationId}, 1, 'g', '{}', '{}', 'admin', ${people}, 1, 1)`.execute(
      tx.query,
    )
    for (let at = 0; at < people; at++) {
      const userId = createId('usr', tx.now + at)
      const id = createId('mem', tx.now + at)
      await users.insert(tx, { id: userId, name: `Person ${at}`, email: `${at}@acme.example` })
      const role = 'viewer'
      await memberships.insert(tx, { id, organizationId, userId, role, source: 'directory' })
      await sql`insert into directory_member (group_id, directory_user_id, organization_id)
        values (${group}, ${id}, ${organizationId})`.execute(tx.query)
      members.push(id)
      userIds.push(userId)
    }
  })
  const signedIn = userIds[7] ?? assert.fail()
  await store.transaction(async (tx) => {
    await sessions.insert(tx, {
      id: createId('ses'),
      digest: 'digest',
      userId: signedIn,
      provider: 'email',
      expiresAt: tx.now + 60_000,
    } as Parameters<typeof sessions.insert>[1])
  })
  return { organizationId, members, signedIn }
}
