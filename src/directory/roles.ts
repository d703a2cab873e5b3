import type { Id, UserId } from '../ids.ts'
import {
  directoryMembers,
  memberships,
  users,
  type DirectoryGroupRecord,
  type GroupOfUser,
  type GroupRole,
  type MembershipRecord,
  type MembershipRole,
  type Tx,
} from '../store/index.ts'
import { lifecycle } from '../organizations/index.ts'
import type { DirectoryChange } from './change.ts'

/** The roles that groups can grant, most powerful first; owner is not one of them. */
const order: readonly GroupRole[] = ['admin', 'developer', 'viewer']
const usersAtOnce = 500

/** Derives members' roles from their groups. */
export interface DirectoryRoles {
  /**
   * Gives each user the highest role that their groups grant, or viewer if none grants a role; owners keep their role.
   * Returns how many roles changed.
   */
  apply(change: DirectoryChange, userIds: readonly string[]): Promise<number>
  /** Lists whose role would change, and how, if a group granted another role. */
  preview(
    tx: Tx,
    group: Pick<DirectoryGroupRecord, 'organizationId' | 'id'>,
    role: GroupRole | undefined,
  ): Promise<RoleChange[]>
}

export interface RoleChange {
  readonly membershipId: Id<'mem'>
  readonly userId: UserId
  readonly name: string
  readonly email: string | null
  readonly before: MembershipRole
  readonly after: GroupRole
}

export const directoryRoles: DirectoryRoles = {
  async apply({ tx, organizationId, actor }, userIds) {
    let changed = 0
    for (const part of inParts(userIds)) {
      const groups = await directoryMembers.listGroups(tx, organizationId, part)
      const members = await memberships.listByIds(tx, organizationId, part)
      const changes = await changesOf(tx, members, (id) => highest(groups.get(id)))
      await lifecycle.changeRoles(
        tx,
        changes.map(({ membershipId: id, ...change }) => ({ ...change, id, organizationId })),
        actor,
      )
      changed += changes.length
    }
    return changed
  },
  async preview(tx, { organizationId, id: groupId }, role) {
    const ofGroup = await directoryMembers.list(tx, organizationId, [groupId])
    const changes: RoleChange[] = []
    for (const part of inParts(ofGroup.get(groupId) ?? [])) {
      const groups = await directoryMembers.listGroups(tx, organizationId, part)
      const members = await memberships.listByIds(tx, organizationId, part)
      const asIf = (id: string): GroupRole =>
        highest(
          groups.get(id)?.map((each) => (each.groupId === groupId ? { ...each, role } : each)),
        )
      changes.push(...(await changesOf(tx, members, asIf)))
    }
    return changes
  },
}

async function changesOf(
  tx: Tx,
  members: readonly MembershipRecord[],
  roleOf: (id: string) => GroupRole,
): Promise<RoleChange[]> {
  const people = await users.contactsOf(
    tx,
    members.map(({ userId }) => userId),
  )
  return members.flatMap((membership) => {
    const after = roleOf(membership.id)
    if (membership.role === 'owner' || membership.role === after) return []
    const { id, userId, role } = membership
    const { name, email } = people.get(userId) ?? { name: '', email: null }
    return [{ membershipId: id, userId, name, email, before: role, after }]
  })
}

function highest(groups: readonly GroupOfUser[] | undefined): GroupRole {
  return order.find((role) => groups?.some((group) => group.role === role)) ?? 'viewer'
}

function* inParts(ids: readonly string[]): Generator<readonly string[]> {
  for (let at = 0; at < ids.length; at += usersAtOnce) yield ids.slice(at, at + usersAtOnce)
}
