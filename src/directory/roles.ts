import type { Id, OrganizationId, UserId } from '../ids.ts'
import {
  directoryMembers,
  memberships,
  users,
  type Actor,
  type GroupOfUser,
  type GroupRole,
  type MembershipRecord,
  type MembershipRole,
  type Tx,
} from '../store/index.ts'
import { lifecycle } from '../organizations/index.ts'

/** The roles that groups give, the mightiest first; owner is not among them. */
const order: readonly GroupRole[] = ['admin', 'developer', 'viewer']
const usersAtOnce = 500

/** Roles by groups. */
export interface DirectoryRoles {
  /** Gives each of these users the highest role of its groups, or viewer; owners keep theirs. */
  apply(
    tx: Tx,
    organizationId: OrganizationId,
    userIds: readonly string[],
    actor: Actor,
  ): Promise<number>
  /** Who would change, and how, if a group gave another role. */
  preview(
    tx: Tx,
    organizationId: OrganizationId,
    groupId: string,
    role: GroupRole | undefined,
  ): Promise<RoleChange[]>
}

/** A person whose role changes. */
export interface RoleChange {
  readonly membershipId: Id<'mem'>
  readonly userId: UserId
  readonly name: string
  readonly email: string | null
  readonly before: MembershipRole
  readonly after: GroupRole
}

/** Opens the rules of roles by groups. */
export function createDirectoryRoles(): DirectoryRoles {
  return {
    async apply(tx, organizationId, userIds, actor) {
      let changed = 0
      for (const part of inParts(userIds)) {
        const groups = await directoryMembers.listGroups(tx, organizationId, part)
        const changes = await changesOf(tx, organizationId, part, (id) => highest(groups.get(id)))
        await lifecycle.changeRoles(
          tx,
          changes.map(({ membershipId, ...change }) => ({
            ...change,
            id: membershipId,
            organizationId,
          })),
          actor,
        )
        changed += changes.length
      }
      return changed
    },
    async preview(tx, organizationId, groupId, role) {
      const members = await directoryMembers.list(tx, organizationId, [groupId])
      const changes: RoleChange[] = []
      for (const part of inParts(members.get(groupId) ?? [])) {
        const groups = await directoryMembers.listGroups(tx, organizationId, part)
        const asIf = (id: string): GroupRole =>
          highest(
            groups.get(id)?.map((each) => (each.groupId === groupId ? { ...each, role } : each)),
          )
        changes.push(...(await changesOf(tx, organizationId, part, asIf)))
      }
      return changes
    },
  }
}

async function changesOf(
  tx: Tx,
  organizationId: OrganizationId,
  userIds: readonly string[],
  roleOf: (id: string) => GroupRole,
): Promise<RoleChange[]> {
  const all = await memberships.listByIds(tx, organizationId, userIds)
  const people = await users.contactsOf(
    tx,
    all.map(({ userId }) => userId),
  )
  return all.flatMap((membership: MembershipRecord) => {
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
