import { record } from '../audit/index.ts'
import { createId, type Id, type OrganizationId, type UserId } from '../ids.ts'
import {
  directoryGroups,
  directoryMembers,
  directoryNewcomers,
  directoryUsers,
  identities,
  keys,
  memberships,
  users,
  type Actor,
  type DirectoryUserData,
  type DirectoryUserRecord,
  type MembershipRecord,
  type Transaction,
} from '../store/index.ts'
import { publish } from '../webhooks/index.ts'
import type { DirectoryNeeds } from './deps.ts'
import { announceEnded } from '../organizations/index.ts'

/** What the directory says of a person beyond what SCIM stores. */
export interface DirectoryPerson {
  readonly name: string
  readonly email: string | undefined
  /** Lower-cased addresses by which an existing member is recognised, the user name among them. */
  readonly adoptionKeys: readonly string[]
  readonly externalId: string | undefined
  readonly active: boolean
}

/** The person and membership behind a user of the directory. */
export interface DirectoryMemberships {
  /** A membership for a new user: the one it had before it was deleted, that of a member with its address, or a new one. */
  join(
    tx: Transaction,
    organizationId: OrganizationId,
    person: DirectoryPerson,
  ): Promise<{ membershipId: Id<'mem'>; userId: UserId; how: 'returned' | 'adopted' | 'made' }>
  /**
   * An account, a membership and a user of the directory, if nobody can be meant but somebody new: otherwise `known`;
   * `taken` if the name was given at the same moment.
   */
  makeIfNew(
    tx: Transaction,
    organizationId: OrganizationId,
    person: DirectoryPerson,
    data: DirectoryUserData,
  ): Promise<DirectoryUserRecord | 'known' | 'taken'>
  /** Brings the membership in step with a user that was changed; the person's name too, when only the directory knows it. */
  follow(
    tx: Transaction,
    before: DirectoryUserRecord,
    person: DirectoryPerson,
    actor: Actor,
  ): Promise<void>
  /** Ends all access here: membership, every session, personal keys; announced once. Never refused. */
  deactivate(tx: Transaction, user: DirectoryUserRecord, actor: Actor): Promise<void>
  /**
   * Makes room for somebody new under an inactive user's name and id: the old person's keys are revoked, its role and
   * groups are gone, and an account that opens other doors stays that person's. The account of the newcomer.
   */
  replace(
    tx: Transaction,
    user: DirectoryUserRecord,
    person: DirectoryPerson,
    actor: Actor,
  ): Promise<UserId>
}

/** Opens the rules that tie users of a directory to people. */
export function createDirectoryMemberships(
  needs: Pick<DirectoryNeeds, 'endSessions'>,
): DirectoryMemberships {
  async function deactivate(
    tx: Transaction,
    user: DirectoryUserRecord,
    actor: Actor,
  ): Promise<void> {
    const { organizationId, userId } = user
    const membership = await memberships.findByUser(tx, organizationId, userId)
    const isMember = membership !== undefined && membership.deactivatedAt === undefined
    const lostOwner =
      isMember &&
      membership.role === 'owner' &&
      (await memberships.countOwners(tx, organizationId)) <= 1
    if (isMember) {
      await memberships.update(tx, organizationId, membership.id, { deactivatedAt: tx.now })
    }
    const why = { by: actor.id, reason: 'deactivated' }
    announceEnded(tx, user, await needs.endSessions(tx, userId, why), why.reason)
    const suspended = await keys.suspendPersonal(tx, organizationId, userId, tx.now)
    announceKeys(tx, organizationId, suspended)
    tx.changed({ kind: 'membership', organizationId, subjectId: user.id })
    if (!isMember && suspended.length === 0) return
    const detail = { user_id: userId, personal_keys_suspended: suspended.length }
    record(tx, {
      organizationId,
      actor,
      action: 'member.deactivated',
      subject: { kind: 'membership', id: user.id },
      // Found by the operator: an organization without owner is recovered by `sign-in-link` and `member add`.
      detail: lostOwner ? { ...detail, organization_without_owner: true } : detail,
    })
    publish(tx, {
      organizationId,
      type: 'member.deactivated',
      data: await memberData(tx, user.id, userId),
    })
  }

  return {
    deactivate,
    replace,
    async join(tx, organizationId, person) {
      const returned = await findReturned(tx, organizationId, person)
      const known = returned ?? (await findAdopted(tx, organizationId, person))
      if (known !== undefined) {
        await memberships.update(tx, organizationId, known.id, {
          source: 'directory',
          // Who was deleted comes back with no more than a new member gets.
          ...(returned === undefined ? {} : { role: 'viewer' as const }),
          // Whom it adopts to deactivate is deactivated as any member is, and announced.
          ...(person.active ? { deactivatedAt: null } : {}),
        })
        if (returned !== undefined && person.active) {
          const resumed = await keys.suspendPersonal(tx, organizationId, known.userId, undefined)
          announceKeys(tx, organizationId, resumed)
        }
        tx.changed({ kind: 'membership', organizationId, subjectId: known.id })
        const how = returned === undefined ? 'adopted' : 'returned'
        return { membershipId: known.id, userId: known.userId, how }
      }
      const made = await makeMember(tx, organizationId, person)
      announceJoined(tx, made, person)
      return { membershipId: made.id, userId: made.userId, how: 'made' }
    },
    async makeIfNew(tx, organizationId, person, data) {
      const { name, email, active } = person
      const id = createId('mem', tx.now)
      const userId = createId('usr', tx.now)
      const made = { id, organizationId, userId, name, email, active, data }
      const by = { ...data, emailKeys: person.adoptionKeys }
      const user = await directoryNewcomers.insertIfNew(tx, made, by)
      if (typeof user === 'object') announceJoined(tx, { ...made, role: 'viewer' }, person)
      return user
    },
    async follow(tx, before, person, actor) {
      const { organizationId, userId } = before
      const membership = await memberships.findByUser(tx, organizationId, userId)
      if (membership?.source === 'directory' && !(await isKnownElsewhere(tx, before))) {
        await users.update(tx, userId, { name: person.name, email: person.email })
      }
      if (before.active && !person.active) return await deactivate(tx, before, actor)
      if (before.active || !person.active) return
      await reactivate(tx, before, membership, actor)
    },
  }
}

async function replace(
  tx: Transaction,
  user: DirectoryUserRecord,
  person: DirectoryPerson,
  actor: Actor,
): Promise<UserId> {
  const { organizationId, userId } = user
  const by = actor.id ?? actor.kind
  announceKeys(tx, organizationId, await keys.revokePersonal(tx, organizationId, userId, by))
  const groups = await directoryMembers.removeUser(tx, organizationId, user.id)
  await directoryGroups.countMemberLess(tx, organizationId, groups)
  const membership = await memberships.findByUser(tx, organizationId, userId)
  if (membership?.role !== undefined && membership.role !== 'viewer') {
    await memberships.update(tx, organizationId, membership.id, { role: 'viewer' })
  }
  if (!(await opensOtherDoors(tx, userId))) return userId
  const { name, email } = person
  const newcomer = await users.insert(tx, { id: createId('usr', tx.now), name, email })
  if (membership !== undefined) {
    await memberships.update(tx, organizationId, membership.id, { userId: newcomer.id })
  }
  return newcomer.id
}

// Whoever can sign in otherwise than through a company's connection, or is a member elsewhere, keeps the account.
async function opensOtherDoors(tx: Transaction, userId: UserId): Promise<boolean> {
  const [own, elsewhere] = [
    await identities.listOf(tx, userId),
    await memberships.listOfUser(tx, userId),
  ]
  return elsewhere.length > 1 || own.some((identity) => identity.connectionId === '')
}

async function reactivate(
  tx: Transaction,
  user: DirectoryUserRecord,
  membership: MembershipRecord | undefined,
  actor: Actor,
): Promise<void> {
  const { organizationId, userId } = user
  if (membership !== undefined) {
    await memberships.update(tx, organizationId, membership.id, { deactivatedAt: null })
  } else {
    // Somebody took the membership away in the dashboard; the directory brings it back.
    const wish = {
      id: user.id,
      organizationId,
      userId,
      role: 'viewer',
      source: 'directory',
    } as const
    await memberships.insert(tx, wish)
  }
  const resumed = await keys.suspendPersonal(tx, organizationId, userId, undefined)
  announceKeys(tx, organizationId, resumed)
  tx.changed({ kind: 'membership', organizationId, subjectId: user.id })
  record(tx, {
    organizationId,
    actor,
    action: 'member.reactivated',
    subject: { kind: 'membership', id: user.id },
    detail: { user_id: userId, personal_keys_resumed: resumed.length },
  })
}

/** Deleted before under the same external id: the same person, by the directory's own word. */
async function findReturned(
  tx: Transaction,
  organizationId: OrganizationId,
  person: DirectoryPerson,
): Promise<MembershipRecord | undefined> {
  if (person.externalId === undefined) return undefined
  const departed = await directoryUsers.takeDeparted(tx, organizationId, person.externalId)
  if (departed === undefined) return undefined
  return await memberships.findByUser(tx, organizationId, departed.userId)
}

/**
 * An active member of this organization with one of the addresses, whom the directory does not have yet. A recycled
 * address of somebody who left brings nobody back, and two members with it are not guessed between.
 */
async function findAdopted(
  tx: Transaction,
  organizationId: OrganizationId,
  person: DirectoryPerson,
): Promise<MembershipRecord | undefined> {
  const found = await memberships.listByEmailKeys(tx, organizationId, person.adoptionKeys)
  const [only, ...more] = found
  if (only === undefined || more.length > 0) return undefined
  const taken = await directoryUsers.find(tx, organizationId, only.id)
  return taken === undefined ? only : undefined
}

async function makeMember(
  tx: Transaction,
  organizationId: OrganizationId,
  person: DirectoryPerson,
): Promise<MembershipRecord> {
  const user = await users.insert(tx, {
    id: createId('usr', tx.now),
    name: person.name,
    email: person.email,
  })
  const membership = await memberships.insert(tx, {
    id: createId('mem', tx.now),
    organizationId,
    userId: user.id,
    role: 'viewer',
    source: 'directory',
    deactivatedAt: person.active ? undefined : tx.now,
  })
  if (membership === undefined) throw new Error('a new person is a member already')
  return membership
}

// An account that has signed in, or belongs to others too, is its person's own: no directory renames it.
async function isKnownElsewhere(tx: Transaction, user: DirectoryUserRecord): Promise<boolean> {
  const all = await memberships.listOfUser(tx, user.userId)
  const person = await users.find(tx, user.userId)
  return all.length > 1 || person?.lastSeenAt !== undefined
}

function announceJoined(
  tx: Transaction,
  membership: Pick<MembershipRecord, 'id' | 'organizationId' | 'userId' | 'role'>,
  person: DirectoryPerson,
): void {
  const { organizationId, id, userId, role } = membership
  tx.changed({ kind: 'membership', organizationId, subjectId: id })
  publish(tx, {
    organizationId,
    type: 'member.joined',
    data: {
      membership_id: id,
      user_id: userId,
      name: person.name,
      email: person.email ?? null,
      role,
    },
  })
}

/** What events say of a member. */
async function memberData(
  tx: Transaction,
  membershipId: string,
  userId: UserId,
): Promise<Record<string, unknown>> {
  const user = await users.find(tx, userId)
  return {
    membership_id: membershipId,
    user_id: userId,
    name: user?.name ?? null,
    email: user?.email ?? null,
  }
}

function announceKeys(
  tx: Transaction,
  organizationId: OrganizationId,
  ids: readonly string[],
): void {
  for (const id of ids) tx.changed({ kind: 'key', organizationId, subjectId: id })
}
