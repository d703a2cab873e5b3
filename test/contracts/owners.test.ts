import assert from 'node:assert/strict'
import { CompiledQuery } from 'kysely'
import { after, before, describe, test } from 'node:test'
import type { Sessions } from '../../src/access/index.ts'
import { systemClock } from '../../src/clock.ts'
import { createId, type OrganizationId, type UserId } from '../../src/ids.ts'
import { Invitations, Members, Organizations } from '../../src/organizations/index.ts'
import { SsoPolicies } from '../../src/sso/policy.ts'
import { memberships, users, type Actor, type Store } from '../../src/store/index.ts'
import { engines, storeForTests, type TestStore } from '../harness/store.ts'

type Role = 'owner' | 'admin' | 'viewer'
interface Member {
  readonly id: string
  readonly actor: Actor
}
interface Staff {
  readonly organizationId: OrganizationId
  readonly ada: Member
  readonly bob: Member
}

for (const engine of engines) {
  describe(`what only owners do on ${engine}`, () => {
    let opened: TestStore
    let rules: ReturnType<typeof openDomain>
    before(async () => {
      opened = await storeForTests(engine)
      rules = openDomain(opened)
    })
    after(async () => await opened[Symbol.asyncDispose]())

    async function makeMember(organizationId: OrganizationId, role: Role) {
      const userId: UserId = createId('usr')
      const id = createId('mem')
      await opened.store.transaction(async (tx) => {
        await users.insert(tx, { id: userId, name: role, email: undefined })
        const member = { id, organizationId, userId, role, source: 'operator' } as const
        await memberships.insert(tx, member)
      })
      return { id, actor: { kind: 'user', id: userId } as const }
    }

    /** Creates an organization with two people in these roles, and one more owner. */
    async function makeStaff(ada: Role, bob: Role): Promise<Staff> {
      const slug = `staff-${createId('org').slice(-8).toLowerCase().replaceAll('_', '-')}`
      const { id } = await rules.organizations.create({ slug }, { kind: 'operator' })
      await makeMember(id, 'owner')
      return {
        organizationId: id,
        ada: await makeMember(id, ada),
        bob: await makeMember(id, bob),
      }
    }

    /** Performs an action while somebody's role is being changed; returns the action's outcome. */
    async function actWhile(
      staff: Staff,
      change: { readonly whose: Member; readonly role: Role },
      act: () => Promise<unknown>,
    ): Promise<string> {
      let acting: Promise<string> | undefined
      await opened.store.transaction(async (tx) => {
        const { role } = change
        await memberships.update(tx, {
          organizationId: staff.organizationId,
          id: change.whose.id,
          change: { role },
        })
        acting ??= outcomeOf(act)
        // SQLite has one writer, so the action waits for this transaction in any case.
        if (engine === 'postgres') await waitsOrEnds(opened.store, acting)
      })
      return (await acting) ?? 'never begun'
    }

    const acts: Record<string, (staff: Staff) => Promise<unknown>> = {
      'demote an owner': async ({ organizationId, ada: { actor }, bob }) =>
        await rules.members.setRole({ organizationId, id: bob.id, role: 'viewer', actor }),
      'deactivate an owner': async ({ organizationId, ada: { actor }, bob }) =>
        await rules.members.deactivate({ organizationId, id: bob.id, actor }),
      'remove an owner': async ({ organizationId, ada: { actor }, bob }) =>
        await rules.members.remove({ organizationId, id: bob.id, actor }),
      'invite an owner': async ({ organizationId, ada: { actor } }) =>
        await rules.invitations.invite(organizationId, { email: 'n@x.test', role: 'owner' }, actor),
      'delete the organization': async ({ organizationId, ada: { actor } }) =>
        await rules.organizations.remove(organizationId, actor),
    }
    for (const [what, act] of Object.entries(acts)) {
      test(`an owner may ${what}, and no more from the moment of being demoted`, async () => {
        const staff = await makeStaff('owner', 'owner')
        const demoted = { whose: staff.ada, role: 'admin' } as const
        assert.equal(await actWhile(staff, demoted, () => act(staff)), 'permission_required')
        const stays = await memberships.find(opened.store, staff.organizationId, staff.bob.id)
        assert.equal(stays?.role, 'owner')
        assert.equal(
          await outcomeOf(() => act({ ...staff, ada: staff.bob, bob: staff.ada })),
          'done',
        )
      })
    }

    test('somebody who becomes an owner this moment is no administrator’s to remove', async () => {
      const staff = await makeStaff('admin', 'viewer')
      const promoted = { whose: staff.bob, role: 'owner' } as const
      const remove = async () =>
        await rules.members.remove({
          organizationId: staff.organizationId,
          id: staff.bob.id,
          actor: staff.ada.actor,
        })
      assert.equal(await actWhile(staff, promoted, remove), 'permission_required')
    })

    test('the step-up is asked for exactly where the act turns out to concern an owner', async () => {
      const { organizationId, ada, bob } = await makeStaff('owner', 'viewer')
      let asked = 0
      const stepUp = (): void => void asked++
      const change = { organizationId, id: bob.id, actor: ada.actor, stepUp }
      await rules.members.setRole({ ...change, role: 'developer' })
      assert.equal(asked, 0)
      await rules.members.setRole({ ...change, role: 'owner' })
      await rules.members.deactivate(change)
      await rules.members.reactivate(change)
      await rules.members.remove(change)
      assert.equal(asked, 4)
    })
  })
}

function openDomain({ store }: TestStore) {
  const clock = systemClock
  const policies = new SsoPolicies({ store, directory: { isOn: async () => false } })
  const nobodyIsIn: Partial<Sessions> = { endIn: async () => [] }
  const sessions = nobodyIsIn as Sessions
  const mailer = { sendInvitation: async () => false }
  return {
    members: new Members({ store, clock, sessions, policies }),
    organizations: new Organizations({ store }),
    invitations: new Invitations({ store, clock, baseUrl: 'http://localhost', mailer }),
  }
}

async function outcomeOf(act: () => Promise<unknown>): Promise<string> {
  try {
    await act()
    return 'done'
  } catch (error) {
    return (error as { code?: string }).code ?? String(error)
  }
}

/** Resolves when the action waits for a lock, or has ended without needing one. */
async function waitsOrEnds(store: Store, acting: Promise<unknown>): Promise<void> {
  const state = { ended: false }
  void acting.finally(() => (state.ended = true))
  const waiting = CompiledQuery.raw(
    `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  )
  while (!state.ended && (await store.query.executeQuery(waiting)).rows.length === 0);
}
