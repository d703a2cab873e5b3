import { endSessions, endTokensOf, may } from '../access/index.ts'
import { record } from '../audit/index.ts'
import { Problem } from '../errors.ts'
import { createId, type Id, type KeyId, type OrganizationId, type UserId } from '../ids.ts'
import {
  invitations,
  keys,
  memberships,
  sessions,
  users,
  type Actor,
  type MembershipRecord,
  type MembershipRole,
  type MembershipSource,
  type Tx,
  type AuditAction,
} from '../store/index.ts'
import { publish } from '../webhooks/events/index.ts'
import { announceEnded } from './ended-sessions.ts'
import { recordInvitation } from './audit-entries.ts'

/** A member as named in audit entries and events. */
export interface LifecycleMember {
  readonly id: Id<'mem'>
  readonly organizationId: OrganizationId
  readonly userId: UserId
  readonly name: string
  readonly email?: string | null | undefined
}

/** How many sessions a change ended, and how many keys it suspended or revoked. */
export interface LifecycleEffect {
  readonly sessions: number
  readonly keys: number
}

/** Adds a member and announces it. Throws `conflict` for somebody who is a member already or was deactivated there. */
export async function join(
  tx: Tx,
  member: Omit<LifecycleMember, 'id'> & { role: MembershipRole; source: MembershipSource },
  actor: Actor,
): Promise<MembershipRecord> {
  const { organizationId, userId, role, source } = member
  const id = createId('mem', tx.now)
  const membership = await memberships.insert(tx, { id, organizationId, userId, role, source })
  if (!membership) {
    throw new Problem('conflict', 'This person is a member already, or was deactivated here.')
  }
  announceJoined(tx, { ...member, id }, actor)
  return membership
}

/** Announces a new member whose row another statement has inserted. */
export function announceJoined(
  tx: Tx,
  member: LifecycleMember & { role: MembershipRole; source: MembershipSource },
  actor: Actor,
): void {
  const { role, source } = member
  recordChange(tx, { action: 'member.joined', member, actor, detail: { role, source } })
  publish(tx, {
    organizationId: member.organizationId,
    type: 'member.joined',
    data: { ...eventData(member), role },
  })
}

export interface RoleChangeOfMember extends LifecycleMember {
  readonly before: MembershipRole
  readonly after: MembershipRole
}

/**
 * Changes the roles of members of one organization, and ends their sessions that reach it. The caller must make sure
 * that an owner remains.
 */
export async function changeRoles(
  tx: Tx,
  changes: readonly RoleChangeOfMember[],
  actor: Actor,
): Promise<void> {
  const [first] = changes
  if (first === undefined) return
  // One statement per role and one query for sessions: a group may have thousands of members.
  for (const role of new Set(changes.map(({ after }) => after))) {
    const ids = changes.flatMap((change) => (change.after === role ? [change.id] : []))
    await memberships.giveRole(tx, { organizationId: first.organizationId, ids, role })
  }
  const inside = await sessions.usersWithOne(
    tx,
    changes.map(({ userId }) => userId),
  )
  for (const change of changes) {
    const { before, after } = change
    if (inside.has(change.userId)) await endAll(tx, change, { actor, reason: 'role_changed' })
    await withdrawInvitations(tx, change, actor)
    const detail = { before, after }
    recordChange(tx, { action: 'member.role_changed', member: change, actor, detail })
    publish(tx, {
      organizationId: change.organizationId,
      type: 'member.role_changed',
      data: { ...eventData(change), ...detail },
    })
  }
}

/**
 * Deactivates a member: ends every session that reaches the organization, and suspends the personal keys until
 * reactivation.
 */
export async function deactivate(
  tx: Tx,
  member: LifecycleMember,
  actor: Actor,
): Promise<LifecycleEffect> {
  const { organizationId, id, userId } = member
  await memberships.update(tx, { organizationId, id, change: { deactivatedAt: tx.now } })
  const suspended = await keys.suspendPersonal(tx, { organizationId, userId, suspendedAt: tx.now })
  return await announceLeft(tx, { verb: 'deactivated', member, actor, keys: suspended })
}

/**
 * Ends the last owner's sessions that reach the organization and suspends the owner's personal keys, as deactivation
 * does, but leaves the membership active.
 */
export async function keepLastOwner(
  tx: Tx,
  member: LifecycleMember,
  actor: Actor,
): Promise<LifecycleEffect> {
  const { organizationId, userId } = member
  const suspended = await keys.suspendPersonal(tx, { organizationId, userId, suspendedAt: tx.now })
  changedKeys(tx, organizationId, suspended)
  const effect = {
    sessions: await endAll(tx, member, { actor, reason: 'deactivated' }),
    keys: suspended.length,
  }
  recordChange(tx, { action: 'member.last_owner_kept', member, actor, detail: effect })
  return effect
}

/** Restores the membership and the suspended personal keys of a deactivated member; ended sessions stay ended. */
export async function reactivate(
  tx: Tx,
  member: LifecycleMember,
  actor: Actor,
): Promise<{ readonly keys: number }> {
  const { organizationId, id, userId } = member
  await memberships.update(tx, { organizationId, id, change: { deactivatedAt: null } })
  const resumed = await keys.suspendPersonal(tx, { organizationId, userId, suspendedAt: undefined })
  changedKeys(tx, organizationId, resumed)
  const detail = { keys: resumed.length }
  recordChange(tx, { action: 'member.reactivated', member, actor, detail })
  return detail
}

/**
 * Removes a member: permanently ends the membership, every session that reaches the organization, the personal keys and
 * the access tokens.
 */
export async function remove(
  tx: Tx,
  member: LifecycleMember,
  actor: Actor,
): Promise<LifecycleEffect> {
  const { organizationId, id, userId } = member
  await memberships.remove(tx, organizationId, id)
  const by = actor.id ?? actor.kind
  const revoked = await keys.revokePersonal(tx, { organizationId, userId, revokedBy: by })
  const note = { access_tokens: await endTokensOf(tx, member, actor) }
  return await announceLeft(tx, { verb: 'removed', member, actor, keys: revoked, note })
}

/** Returns a membership with the name and address that announcements need. */
export async function memberOf(
  tx: Tx,
  membership: Pick<MembershipRecord, 'id' | 'organizationId' | 'userId'>,
): Promise<LifecycleMember> {
  const { id, organizationId, userId } = membership
  const user = await users.find(tx, userId)
  return { id, organizationId, userId, name: user?.name ?? '', email: user?.email }
}

async function announceLeft(
  tx: Tx,
  left: {
    verb: 'deactivated' | 'removed'
    member: LifecycleMember
    actor: Actor
    keys: readonly KeyId[]
    note?: Readonly<Record<string, unknown>>
  },
): Promise<LifecycleEffect> {
  const { verb, member, actor } = left
  changedKeys(tx, member.organizationId, left.keys)
  await withdrawInvitations(tx, { ...member, before: undefined, after: undefined }, actor)
  const ended = await endAll(tx, member, { actor, reason: verb })
  const effect = { sessions: ended, keys: left.keys.length }
  const detail = { ...effect, ...left.note }
  recordChange(tx, { action: `member.${verb}`, member, actor, detail })
  publish(tx, {
    organizationId: member.organizationId,
    type: `member.${verb}`,
    data: { ...eventData(member), ...effect },
  })
  return effect
}

/**
 * Withdraws the open invitations that a member could no longer make: an invitation must not outlast its maker's
 * permission.
 */
async function withdrawInvitations(
  tx: Tx,
  maker: LifecycleMember & {
    before: MembershipRole | undefined
    after: MembershipRole | undefined
  },
  actor: Actor,
): Promise<void> {
  const { organizationId, userId, before, after } = maker
  if (before !== undefined && !may(before, 'members.manage')) return
  if (after === 'owner') return
  const role = after !== undefined && may(after, 'members.manage') ? 'owner' : undefined
  const withdrawn = await invitations.revokeMadeBy(tx, { organizationId, userId, role })
  for (const one of withdrawn) recordInvitation(tx, one, { actor, action: 'invitation.revoked' })
}

async function endAll(
  tx: Tx,
  member: LifecycleMember,
  why: { actor: Actor; reason: string },
): Promise<number> {
  const { reason } = why
  // A session that another organization's provider vouched for never reached this one and is not ours to end.
  const { organizationId } = member
  const of = { userId: member.userId, which: { organizationId } }
  const ended = await endSessions(tx, of, { by: why.actor.id, reason })
  announceEnded(tx, member, { sessions: ended, reason })
  return ended.length
}

function eventData(member: LifecycleMember) {
  return {
    membership_id: member.id,
    user_id: member.userId,
    name: member.name,
    email: member.email ?? null,
  }
}

function recordChange(
  tx: Tx,
  change: {
    action: AuditAction
    member: LifecycleMember
    actor: Actor
    detail: Readonly<Record<string, unknown>>
  },
): void {
  const { action, member, actor } = change
  const { organizationId, id, userId, name } = member
  record(tx, {
    organizationId,
    actor,
    action,
    subject: { kind: 'membership', id },
    detail: { user_id: userId, name, ...change.detail },
  })
  tx.changed({ kind: 'membership', organizationId, subjectId: userId })
}

function changedKeys(tx: Tx, organizationId: OrganizationId, ids: readonly KeyId[]): void {
  for (const subjectId of ids) tx.changed({ kind: 'key', organizationId, subjectId })
}
