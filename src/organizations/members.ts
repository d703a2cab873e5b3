import {
  isRole,
  organizationVouching,
  type Role,
  type Sessions,
  type SignedIn,
} from '../access/index.ts'
import { record } from '../audit/index.ts'
import type { Clock } from '../clock.ts'
import { Problem } from '../errors.ts'
import { createId, isId, type OrganizationId, type UserId } from '../ids.ts'
import {
  memberships,
  users,
  type Actor,
  type Confirmation,
  type MemberRecord,
  type MembershipRecord,
  type OrganizationRecord,
  type SessionRecord,
  type Store,
  type Tx,
  type UserRecord,
} from '../store/index.ts'
import { announceEnded } from './ended-sessions.ts'
import { requirePowerToGive } from './given-roles.ts'
import * as lifecycle from './member-lifecycle.ts'
import { emailOf, nameOf } from './name.ts'
import { keepBreakGlass } from './break-glass.ts'
import type { SessionReach } from './session-reach.ts'
import { checkOrganization, insertOrganization } from './organizations.ts'
import { requireActingOwner } from './owners.ts'

/** Somebody's place in an organization, as long as it is active. */
export interface Place {
  readonly id: OrganizationId
  readonly slug: string
  readonly role: Role
}

const onlyOwners = {
  permission: 'owners.manage',
  detail: 'Only an owner decides about owners.',
} as const

/** Members of organizations: who, in what role, until when. */
export interface Members {
  /** The organization that a person calls by slug or id, if they are an active member of it. `sso_required`. */
  membershipOf(person: SignedIn, slugOrId: string): Promise<Place | undefined>
  /** What somebody is an active member of and reaches with this sign-in, by slug; or would, by the company sign-in. */
  organizationsOf(
    person: SignedIn,
  ): Promise<{ organization: OrganizationRecord; role: Role; ssoRequired: boolean }[]>
  list(
    organizationId: OrganizationId,
    page: { after?: string | undefined; limit: number; role?: Role | undefined },
  ): Promise<MemberRecord[]>
  /** `not_found`. */
  get(organizationId: OrganizationId, id: string): Promise<MemberRecord>
  /** Operator's way in: makes the person if nobody has this address. `conflict`. */
  add(
    organizationId: OrganizationId,
    wish: { email: string; name?: string | undefined; role: Role },
    actor: Actor,
  ): Promise<MemberRecord>
  /** Changes a role and ends the person's sessions. `not_found`, `version_conflict`, `last_owner`, `permission_required`. */
  setRole(change: {
    readonly organizationId: OrganizationId
    readonly id: string
    readonly role: Role
    readonly actor: Actor
    readonly expectedVersion?: number | undefined
    readonly stepUp?: StepUp | undefined
  }): Promise<MemberRecord>
  /** Ends every session and suspends the personal keys, until reactivation. `not_found`, `last_owner`, `permission_required`. */
  deactivate(
    organizationId: OrganizationId,
    id: string,
    actor: Actor,
    stepUp?: StepUp,
  ): Promise<Ended>
  reactivate(
    organizationId: OrganizationId,
    id: string,
    actor: Actor,
    stepUp?: StepUp,
  ): Promise<MemberRecord>
  /** Ends the membership, every session, and the personal keys for good. `not_found`, `last_owner`, `permission_required`. */
  remove(organizationId: OrganizationId, id: string, actor: Actor, stepUp?: StepUp): Promise<Ended>
  /** Living sessions of a member that reach the organization. `not_found`. */
  sessionsOf(organizationId: OrganizationId, id: string): Promise<SessionRecord[]>
  /** Ends one session of a member, or all. `not_found`. */
  endSessions(
    organizationId: OrganizationId,
    id: string,
    which: { id?: string | undefined },
    actor: Actor,
  ): Promise<Ended>
  /** Makes an organization that somebody owns. `invalid_input`, `conflict`. */
  createOrganization(
    userId: UserId,
    wish: { slug: string; name?: string | undefined },
    actor: Actor,
  ): Promise<OrganizationRecord>
  /** Says in every organization of a person which sessions they ended themselves. */
  noteSessionsEnded(userId: UserId, ended: readonly SessionRecord[], actor: Actor): Promise<void>
}

/** Called where an act turns out to concern an owner; throws if the sign-in is too old for that. */
type StepUp = () => void

/** What ended with a change, and when every node had heard. */
export interface Ended {
  readonly sessions: number
  readonly keys: number
  readonly confirmation: Confirmation
}

interface Needs {
  readonly store: Store
  readonly clock: Clock
  readonly sessions: Sessions
  readonly policies: SessionReach
}

/** Opens the members' rules. */
export function createMembers(deps: Needs): Members {
  const { store, clock } = deps

  async function get(organizationId: OrganizationId, id: string): Promise<MemberRecord> {
    const member = await memberships.find(store, organizationId, id)
    if (!member) throw notFound()
    return member
  }

  return {
    get,
    list: async (organizationId, page) =>
      await memberships.list(store.slowReads, organizationId, page),
    async membershipOf(person, slugOrId) {
      const joined = await memberships.listOfUser(store, person.userId)
      const found = joined.find(({ organization, membership }) => {
        if (membership.deactivatedAt !== undefined) return false
        return isId('org', slugOrId) ? organization.id === slugOrId : organization.slug === slugOrId
      })
      if (!found) return undefined
      const { organization, membership } = found
      if (!(await deps.policies.reaches(person, organization, membership))) return undefined
      return { id: organization.id, slug: organization.slug, role: membership.role }
    },
    async organizationsOf(person) {
      const joined = await memberships.listOfUser(store, person.userId)
      const reached = []
      for (const { organization, membership } of joined) {
        if (membership.deactivatedAt !== undefined) continue
        const reach = await deps.policies.reachOf(person, organization, membership)
        if (reach === 'elsewhere') continue
        const ssoRequired = reach === 'sso_required'
        reached.push({ organization, role: membership.role, ssoRequired })
      }
      return reached
    },
    async add(organizationId, wish, actor) {
      const email = emailOf(wish.email)
      if (!isRole(wish.role)) throw new Problem('invalid_input', 'There is no such role.')
      const id = await store.transaction(async (tx) => {
        await requirePowerToGive(tx, { organizationId, actor }, { role: wish.role })
        const user = await theOneWith(tx, organizationId, {
          email,
          name: wish.name,
          newId: createId('usr', clock.now()),
        })
        const { name } = user
        const member = { organizationId, userId: user.id, role: wish.role, name, email }
        return (await lifecycle.join(tx, { ...member, source: 'operator' }, actor)).id
      })
      return await get(organizationId, id)
    },
    async setRole({ organizationId, id, role, actor, expectedVersion, stepUp }) {
      await store.transactionConfirmed(async (tx) => {
        const before = await getToDecide(tx, organizationId, id, { actor, stepUp, role })
        if (before.role === role) return
        await requirePowerToGive(tx, { organizationId, actor }, { role, had: before.role })
        await keepAnOwner(tx, before, role)
        if (expectedVersion !== undefined && before.version !== expectedVersion) {
          throw new Problem('version_conflict', 'The member was changed meanwhile.')
        }
        await lifecycle.changeRoles(tx, [{ ...before, before: before.role, after: role }], actor)
      })
      return await get(organizationId, id)
    },
    async deactivate(organizationId, id, actor, stepUp) {
      const done = await store.transactionConfirmed(async (tx) => {
        const before = await getToDecide(tx, organizationId, id, { actor, stepUp })
        if (before.deactivatedAt !== undefined) return { sessions: 0, keys: 0 }
        await keepAnOwner(tx, before, undefined)
        return await lifecycle.deactivate(tx, before, actor)
      })
      return { ...done.result, confirmation: done.confirmation }
    },
    async reactivate(organizationId, id, actor, stepUp) {
      await store.transaction(async (tx) => {
        const before = await getToDecide(tx, organizationId, id, { actor, stepUp })
        if (before.deactivatedAt === undefined) return
        await requirePowerToGive(tx, { organizationId, actor }, before)
        await lifecycle.reactivate(tx, before, actor)
      })
      return await get(organizationId, id)
    },
    async remove(organizationId, id, actor, stepUp) {
      const done = await store.transactionConfirmed(async (tx) => {
        const before = await getToDecide(tx, organizationId, id, { actor, stepUp })
        await keepAnOwner(tx, before, undefined)
        return await lifecycle.remove(tx, before, actor)
      })
      return { ...done.result, confirmation: done.confirmation }
    },
    async sessionsOf(organizationId, id) {
      return await deps.sessions.list((await get(organizationId, id)).userId, organizationId)
    },
    async endSessions(organizationId, id, which, actor) {
      const done = await store.transactionConfirmed(async (tx) => {
        const member = await getIn(tx, organizationId, id)
        const why = { by: actor.id, reason: 'ended_by_administrator' }
        const ended = await deps.sessions.endIn(
          tx,
          { userId: member.userId, which: { ...which, organizationId } },
          why,
        )
        if (which.id !== undefined && ended.length === 0) {
          throw new Problem('not_found', 'The member has no such living session.')
        }
        announceEnded(tx, member, ended, why.reason)
        record(tx, {
          organizationId,
          actor,
          action: 'member.sessions_ended',
          subject: { kind: 'membership', id: member.id },
          detail: {
            user_id: member.userId,
            name: member.name,
            sessions: ended.map((one) => one.id),
          },
        })
        return ended.length
      })
      return { sessions: done.result, keys: 0, confirmation: done.confirmation }
    },
    async createOrganization(userId, wish, actor) {
      const place = checkOrganization(wish)
      return await store.transaction(async (tx) => {
        const user = await users.find(tx, userId)
        if (!user) throw notFound()
        const made = await insertOrganization(tx, { ...place, plan: 'standard' }, actor)
        const { name, email } = user
        const owner = { organizationId: made.id, userId, name, email, role: 'owner' as const }
        await lifecycle.join(tx, { ...owner, source: 'creation' }, actor)
        return made
      })
    },
    async noteSessionsEnded(userId, ended, actor) {
      if (ended.length === 0) return
      await store.transaction(async (tx) => {
        const vouching = await Promise.all(
          ended.map(async (session) => await organizationVouching(tx, session)),
        )
        for (const { membership } of await memberships.listOfUser(tx, userId)) {
          const { organizationId } = membership
          const reaching = ended.filter((_, at) => {
            const only = vouching[at]
            return only === undefined || only === organizationId
          })
          if (reaching.length === 0) continue
          record(tx, {
            organizationId,
            actor,
            action: 'session.ended',
            subject: { kind: 'user', id: userId },
            detail: { sessions: reaching.map(({ id }) => id) },
          })
          announceEnded(tx, membership, reaching, 'ended_by_owner')
        }
      })
    },
  }
}

/** The last active owner can't be removed, deactivated or demoted. */
async function keepAnOwner(
  tx: Tx,
  before: MembershipRecord,
  roleAfter: Role | undefined,
): Promise<void> {
  if (before.role !== 'owner' || roleAfter === 'owner' || before.deactivatedAt !== undefined) return
  await keepBreakGlass(tx, before)
  if ((await memberships.countOwners(tx, before.organizationId)) > 1) return
  throw new Problem('last_owner', 'This is the last owner. Make somebody else an owner first.')
}

async function theOneWith(
  tx: Tx,
  organizationId: OrganizationId,
  { email, name, newId }: { email: string; name: string | undefined; newId: UserId },
): Promise<UserRecord> {
  const [known, second] = await users.listByEmail(tx, email, { organizationId })
  if (second) {
    throw new Problem('conflict', `Several people have the address ${email}; invite the right one.`)
  }
  return known ?? (await users.insert(tx, { id: newId, name: nameOf(name ?? email), email }))
}

async function getIn(tx: Tx, organizationId: OrganizationId, id: string): Promise<MemberRecord> {
  const member = await memberships.find(tx, organizationId, id)
  if (!member) throw notFound()
  return member
}

/**
 * A member whom somebody is about to change. Only owners touch owners, and with a fresh sign-in; a role that becomes
 * or was owner counts. Who is what is read here, locked: it may have changed since the request was let in.
 */
async function getToDecide(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
  by: { actor: Actor; stepUp: StepUp | undefined; role?: Role },
): Promise<MemberRecord> {
  const { actor } = by
  const userId = actor.kind === 'user' ? actor.id : undefined
  await memberships.lock(tx, organizationId, { id, userId })
  const member = await getIn(tx, organizationId, id)
  if (member.role !== 'owner' && by.role !== 'owner') return member
  await requireActingOwner(tx, { organizationId, actor }, onlyOwners)
  by.stepUp?.()
  return member
}

function notFound(): Problem {
  return new Problem('not_found', 'There is no such member in this organization.')
}
