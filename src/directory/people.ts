import { Problem } from '../errors.ts'
import { createId, type Id, type OrganizationId, type UserId } from '../ids.ts'
import {
  directoryGroups,
  directoryMembers,
  directoryNewcomers,
  directoryUsers,
  memberships,
  users,
  type DirectoryUserData,
  type DirectoryUserRecord,
  type MembershipRecord,
  type Tx,
  type UserRecord,
} from '../store/index.ts'
import { lifecycle } from '../organizations/index.ts'
import type { DirectoryChange } from './change.ts'

/** What a directory says about a person, as far as accounts and memberships need it. */
export interface DirectoryPerson {
  readonly name: string
  readonly email: string | undefined
  /** Lower-case addresses and user name, by which the directory adopts a member whom it does not manage yet. */
  readonly adoptionKeys: readonly string[]
  readonly externalId: string | undefined
  readonly active: boolean
}

/** The state that the directory wants a user to have. */
export interface DirectoryUserInput {
  readonly data: DirectoryUserData
  readonly person: DirectoryPerson
}

/** Ties a directory user to a person and a membership. */
export interface DirectoryMemberships {
  /**
   * Returns the membership of a new directory user: the former membership if the directory deleted a user with the same
   * external id, else that of a member who has one of the person's addresses, else a new one.
   */
  join(change: DirectoryChange, person: DirectoryPerson): Promise<Joined>
  /**
   * Creates an account, a membership and a directory user, and returns the user. Returns `known` if an identifier or an
   * address shows that the person may be known already, and `taken` if a simultaneous request took an identifier.
   */
  makeIfNew(
    change: DirectoryChange,
    input: DirectoryUserInput,
  ): Promise<DirectoryUserRecord | 'known' | 'taken'>
  /**
   * Applies a user's change to the membership. Also updates the account's name and address if the directory manages the
   * member and the member is not an owner, has never signed in and belongs to no other organization.
   */
  follow(
    change: DirectoryChange,
    before: DirectoryUserRecord,
    person: DirectoryPerson,
  ): Promise<void>
  /**
   * Ends a user's access to the organization: deactivates the membership, ends the sessions and suspends the personal
   * keys. The last owner's membership stays active. Never refuses.
   */
  deactivate(change: DirectoryChange, user: DirectoryUserRecord): Promise<void>
  /**
   * Deactivates the member behind an inactive user, such as an owner who is no longer the last one. Returns false if
   * nothing was changed.
   */
  deactivateKept(change: DirectoryChange, user: DirectoryUserRecord): Promise<boolean>
  /**
   * Frees an inactive user's name and id for a new person: the old person is removed like any member and keeps their
   * account. Returns the id of the new person's account. Throws `conflict` if the old person is the last owner.
   */
  replace(
    change: DirectoryChange,
    user: DirectoryUserRecord,
    person: DirectoryPerson,
  ): Promise<UserId>
}

/** The person behind a new directory user, and how they were found. */
interface Joined {
  readonly membershipId: Id<'mem'>
  readonly userId: UserId
  readonly how: 'returned' | 'adopted' | 'made'
}

export const directoryMemberships: DirectoryMemberships = {
  join,
  makeIfNew,
  follow,
  deactivate,
  deactivateKept,
  replace,
}

async function join(change: DirectoryChange, person: DirectoryPerson): Promise<Joined> {
  const { tx, organizationId, actor } = change
  const returned = await findReturned(change, person)
  const known = returned ?? (await findAdopted(change, person))
  if (known !== undefined) {
    const source = { source: 'directory' } as const
    await memberships.update(tx, { organizationId, id: known.id, change: source })
    if (returned !== undefined) await bringBack(change, returned, person)
    const how = returned === undefined ? 'adopted' : 'returned'
    return { membershipId: known.id, userId: known.userId, how }
  }
  const made = await makeMember(change, person)
  lifecycle.announceJoined(tx, { ...made, ...contactOf(person) }, actor)
  return { membershipId: made.id, userId: made.userId, how: 'made' }
}

async function makeIfNew(
  { tx, organizationId, actor }: DirectoryChange,
  { data, person }: DirectoryUserInput,
): Promise<DirectoryUserRecord | 'known' | 'taken'> {
  const { name, email, active } = person
  const id = createId('mem', tx.now)
  const userId = createId('usr', tx.now)
  const made = { id, organizationId, userId, name, email, active, data }
  const by = { ...data, emailKeys: person.adoptionKeys }
  const user = await directoryNewcomers.insertIfNew(tx, made, by)
  if (typeof user === 'object') {
    lifecycle.announceJoined(tx, { ...made, role: 'viewer', source: 'directory' }, actor)
  }
  return user
}

async function follow(
  change: DirectoryChange,
  before: DirectoryUserRecord,
  person: DirectoryPerson,
): Promise<void> {
  const { tx, organizationId } = change
  const { userId } = before
  const membership = await memberships.findByUser(tx, organizationId, userId)
  const isTheirs = membership?.source === 'directory' && membership.role !== 'owner'
  if (isTheirs && !(await isKnownElsewhere(tx, before))) {
    const { name, email } = person
    // A proven address stays proven while the directory sends the same one.
    const isOther = email !== undefined && (await users.find(tx, userId))?.email !== email
    const emailFrom = isOther ? organizationId : undefined
    await users.update(tx, userId, { name, email, emailFrom })
  }
  if (before.active && !person.active) return await deactivate(change, before)
  if (before.active || !person.active) return
  await reactivate(change, before, membership)
}

/** The last owner stays a member, because a directory must not leave an organization without an administrator. */
async function deactivate(
  { tx, actor }: DirectoryChange,
  user: DirectoryUserRecord,
): Promise<void> {
  const membership = await activeMembership(tx, user)
  if (membership === undefined) return
  const member = await lifecycle.memberOf(tx, membership)
  if (await isLastOwner(tx, membership)) await lifecycle.keepLastOwner(tx, member, actor)
  else await lifecycle.deactivate(tx, member, actor)
}

async function deactivateKept(
  { tx, actor }: DirectoryChange,
  user: DirectoryUserRecord,
): Promise<boolean> {
  const membership = await activeMembership(tx, user)
  if (membership === undefined || (await isLastOwner(tx, membership))) return false
  await lifecycle.deactivate(tx, await lifecycle.memberOf(tx, membership), actor)
  return true
}

async function activeMembership(
  tx: Tx,
  { organizationId, userId }: DirectoryUserRecord,
): Promise<MembershipRecord | undefined> {
  const membership = await memberships.findByUser(tx, organizationId, userId)
  return membership?.deactivatedAt === undefined ? membership : undefined
}

async function isLastOwner(
  tx: Tx,
  { organizationId, role, deactivatedAt }: MembershipRecord,
): Promise<boolean> {
  if (role !== 'owner' || deactivatedAt !== undefined) return false
  return (await memberships.countOwners(tx, organizationId)) <= 1
}

/**
 * Restores a returning person's membership, with no more rights than a new member's; the last owner, who never left,
 * stays owner.
 */
async function bringBack(
  { tx, actor }: DirectoryChange,
  membership: MembershipRecord,
  person: DirectoryPerson,
): Promise<void> {
  const member = await lifecycle.memberOf(tx, membership)
  if (await isLastOwner(tx, membership)) {
    // This also resumes the personal keys of an owner who was kept.
    if (person.active) await lifecycle.reactivate(tx, member, actor)
    return
  }
  if (membership.role !== 'viewer') {
    await lifecycle.changeRoles(
      tx,
      [{ ...member, before: membership.role, after: 'viewer' }],
      actor,
    )
  }
  const isBack = person.active && membership.deactivatedAt !== undefined
  if (isBack) await lifecycle.reactivate(tx, member, actor)
}

/** Creates no membership for the new person: `reactivate` does, once the directory user is active. */
async function replace(
  { tx, actor }: DirectoryChange,
  user: DirectoryUserRecord,
  person: DirectoryPerson,
): Promise<UserId> {
  const { organizationId, userId } = user
  const groups = await directoryMembers.removeUser(tx, organizationId, user.id)
  await directoryGroups.countMemberLess(tx, organizationId, groups)
  const membership = await memberships.findByUser(tx, organizationId, userId)
  if (membership !== undefined) {
    if (await isLastOwner(tx, membership)) throw lastOwner()
    await lifecycle.remove(tx, await lifecycle.memberOf(tx, membership), actor)
  }
  const newcomer = await makeAccount(tx, organizationId, person)
  return newcomer.id
}

async function reactivate(
  { tx, actor }: DirectoryChange,
  user: DirectoryUserRecord,
  membership: MembershipRecord | undefined,
): Promise<void> {
  if (membership !== undefined) {
    await lifecycle.reactivate(tx, await lifecycle.memberOf(tx, membership), actor)
    return
  }
  // The membership was removed, or a new person has taken over the directory user.
  const { organizationId, userId, id } = user
  const made = { id, organizationId, userId, role: 'viewer', source: 'directory' } as const
  await memberships.insert(tx, made)
  lifecycle.announceJoined(tx, { ...(await lifecycle.memberOf(tx, made)), ...made }, actor)
}

/**
 * Finds the membership of a person whom the directory deleted earlier and now sends again, with the same external id.
 */
async function findReturned(
  { tx, organizationId }: DirectoryChange,
  person: DirectoryPerson,
): Promise<MembershipRecord | undefined> {
  if (person.externalId === undefined) return undefined
  const departed = await directoryUsers.takeDeparted(tx, organizationId, person.externalId)
  if (departed === undefined) return undefined
  return await memberships.findByUser(tx, organizationId, departed.userId)
}

/**
 * Finds the only active member who has one of the person's addresses, unless that member is a directory user already.
 * Somebody who left is not restored, because addresses get reused.
 */
async function findAdopted(
  { tx, organizationId }: DirectoryChange,
  person: DirectoryPerson,
): Promise<MembershipRecord | undefined> {
  const found = await memberships.listByEmailKeys(tx, organizationId, person.adoptionKeys)
  const [only, ...more] = found
  if (only === undefined || more.length > 0) return undefined
  const taken = await directoryUsers.find(tx, { organizationId, id: only.id })
  return taken === undefined ? only : undefined
}

async function makeMember(
  { tx, organizationId }: DirectoryChange,
  person: DirectoryPerson,
): Promise<MembershipRecord> {
  const user = await makeAccount(tx, organizationId, person)
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

async function makeAccount(
  tx: Tx,
  organizationId: OrganizationId,
  { name, email }: DirectoryPerson,
): Promise<UserRecord> {
  return await users.insert(tx, {
    id: createId('usr', tx.now),
    name,
    email,
    emailFrom: organizationId,
  })
}

function lastOwner(): Problem {
  return new Problem(
    'conflict',
    'The inactive user with this userName is the last owner of the organization. Make somebody else an owner first.',
  )
}

// Whether an account has signed in or belongs to other organizations too: it is then the person's own, and no directory
// may rename it.
async function isKnownElsewhere(tx: Tx, user: DirectoryUserRecord): Promise<boolean> {
  const all = await memberships.listOfUser(tx, user.userId)
  const person = await users.find(tx, user.userId)
  return all.length > 1 || person?.lastSeenAt !== undefined
}

function contactOf({ name, email }: DirectoryPerson): Pick<DirectoryPerson, 'name' | 'email'> {
  return { name, email }
}
