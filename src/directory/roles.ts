import { record } from '../audit/index.ts'
import type { OrganizationId, UserId } from '../ids.ts'
import {
  directoryMembers,
  memberships,
  sessions,
  users,
  type Actor,
  type GroupOfUser,
  type GroupRole,
  type MembershipRecord,
  type Transaction,
} from '../store/index.ts'
import { publish } from '../webhooks/index.ts'
import type { DirectoryNeeds } from './deps.ts'
import { announceEnded } from '../organizations/index.ts'

/** The roles that groups give, the mightiest first; owner is not among them. */
const order: readonly GroupRole[] = ['admin', 'developer', 'viewer']
const usersAtOnce = 500

/** Roles by groups. */
export interface DirectoryRoles {
  /** Gives each of these users the highest role of its groups, or viewer; owners keep theirs. */
  apply(
    tx: Transaction,
    organizationId: OrganizationId,
    userIds: readonly string[],
    actor: Actor,
  ): Promise<number>
  /** Who would change, and how, if a group gave another role. */
  preview(
    tx: Transaction,
    organizationId: OrganizationId,
    groupId: string,
    role: GroupRole | undefined,
  ): Promise<RoleChange[]>
}

/** A person whose role changes. */
export interface RoleChange {
  readonly membershipId: string
  readonly userId: UserId
  readonly name: string
  readonly email: string | null
  readonly before: string
  readonly after: GroupRole
}

/** Opens the rules of roles by groups. */
export function createDirectoryRoles(needs: Pick<DirectoryNeeds, 'endSessions'>): DirectoryRoles {
  return {
    async apply(tx, organizationId, userIds, actor) {
      let changed = 0
      for (const part of inParts(userIds)) {
        const groups = await directoryMembers.listGroups(tx, organizationId, part)
        const changes = await changesOf(tx, organizationId, part, (id) => highest(groups.get(id)))
        // What is asked for each by itself makes a large group hold its directory for minutes.
        for (const role of order) {
          const ids = changes.flatMap((one) => (one.after === role ? [one.membershipId] : []))
          await memberships.giveRole(tx, organizationId, ids, role)
        }
        const inside = await sessions.usersWithOne(
          tx,
          changes.map(({ userId }) => userId),
        )
        for (const change of changes) {
          // A role change ends sessions, as it does when a person makes it.
          const why = { by: actor.id, reason: 'role_changed' }
          const ended = inside.has(change.userId)
            ? await needs.endSessions(tx, change.userId, why)
            : []
          announceEnded(tx, { organizationId, userId: change.userId }, ended, why.reason)
          announce(tx, organizationId, change, actor)
        }
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
  tx: Transaction,
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

function announce(
  tx: Transaction,
  organizationId: OrganizationId,
  change: RoleChange,
  actor: Actor,
): void {
  const { name, email, before, after } = change
  tx.changed({ kind: 'membership', organizationId, subjectId: change.membershipId })
  record(tx, {
    organizationId,
    actor,
    action: 'member.role_changed',
    subject: { kind: 'membership', id: change.membershipId },
    detail: { user_id: change.userId, before, after },
  })
  publish(tx, {
    organizationId,
    type: 'member.role_changed',
    data: {
      membership_id: change.membershipId,
      user_id: change.userId,
      name,
      email,
      before,
      after,
    },
  })
}

function* inParts(ids: readonly string[]): Generator<readonly string[]> {
  for (let at = 0; at < ids.length; at += usersAtOnce) yield ids.slice(at, at + usersAtOnce)
}
