import {
  isRole,
  organizationVouching,
  type Role,
  type Sessions,
  type SessionsOf,
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
  type Db,
  type MemberRecord,
  type MembershipRecord,
  type OrganizationRecord,
  type SessionRecord,
  type Store,
  type Tx,
  type UserRecord,
} from '../store/index.ts'
import { requireAnotherBreakGlassOwner } from './break-glass.ts'
import { announceEnded } from './ended-sessions.ts'
import { requirePowerToGive } from './given-roles.ts'
import * as lifecycle from './member-lifecycle.ts'
import { emailOf, nameOf } from './name.ts'
import { checkOrganization, insertOrganization, type OrganizationInput } from './organizations.ts'
import { requireActingOwner } from './owners.ts'
import type { SessionReach } from './session-reach.ts'

/** An organization that somebody reaches as an active member. */
export interface ReachedOrganization {
  readonly id: OrganizationId
  readonly slug: string
  readonly role: Role
}

/** The membership to change, and who changes it. */
export interface MemberChange {
  readonly organizationId: OrganizationId
  /** The membership's id. */
  readonly id: string
  readonly actor: Actor
  /** Called if the change turns out to concern an owner; throws if the sign-in is too old for that. */
  readonly stepUp?: (() => void) | undefined
  /** If given, a membership with any other version is not changed. */
  readonly expectedVersion?: number | undefined
}

/** How many sessions a change ended, how many keys it revoked or suspended, and how many nodes confirmed it. */
export interface Ended {
  readonly sessions: number
  readonly keys: number
  readonly confirmation: Confirmation
}

export interface MembersDeps {
  readonly store: Store
  readonly clock: Clock
  readonly sessions: Pick<Sessions, 'list' | 'endIn'>
  readonly policies: SessionReach
}

const onlyOwners = {
  permission: 'owners.manage',
  detail: 'Only an owner decides about owners.',
} as const

/** An organization's members and their roles. */
export class Members {
  readonly #deps: MembersDeps
  readonly #store: Store

  constructor(deps: MembersDeps) {
    this.#deps = deps
    this.#store = deps.store
  }

  /**
   * Returns the organization with this slug or id; undefined unless the person is an active member and the session
   * reaches it. Throws `sso_required`.
   */
  async membershipOf(person: SignedIn, slugOrId: string): Promise<ReachedOrganization | undefined> {
    const joined = await memberships.listOfUser(this.#store, person.userId)
    const found = joined.find(({ organization, membership }) => {
      if (membership.deactivatedAt !== undefined) return false
      return isId('org', slugOrId) ? organization.id === slugOrId : organization.slug === slugOrId
    })
    if (!found) return undefined
    const { organization, membership } = found
    if (!(await this.#deps.policies.reaches(person, organization, membership))) return undefined
    return { id: organization.id, slug: organization.slug, role: membership.role }
  }

  /**
   * Lists the organizations of which a person is an active member, in the order of their slugs: those that the session
   * reaches, and those that it does not reach because they require SSO.
   */
  async organizationsOf(
    person: SignedIn,
  ): Promise<{ organization: OrganizationRecord; role: Role; ssoRequired: boolean }[]> {
    const joined = await memberships.listOfUser(this.#store, person.userId)
    const reached = []
    for (const { organization, membership } of joined) {
      if (membership.deactivatedAt !== undefined) continue
      const reach = await this.#deps.policies.reachOf(person, organization, membership)
      if (reach === 'elsewhere') continue
      const ssoRequired = reach === 'sso_required'
      reached.push({ organization, role: membership.role, ssoRequired })
    }
    return reached
  }

  async list(
    organizationId: OrganizationId,
    page: memberships.MemberPage,
  ): Promise<MemberRecord[]> {
    return await memberships.list(this.#store.slowReads, organizationId, page)
  }

  /** Throws `not_found`. */
  async get(organizationId: OrganizationId, id: string): Promise<MemberRecord> {
    return await findMember(this.#store, organizationId, id)
  }

  /**
   * Adds a member on the operator's behalf, and creates the person if nobody has this address. An address that another
   * organization supplied counts only if that organization holds the domain. Throws `invalid_input` or `conflict`.
   */
  async add(
    organizationId: OrganizationId,
    input: { readonly email: string; readonly name?: string | undefined; readonly role: Role },
    actor: Actor,
  ): Promise<MemberRecord> {
    const { role } = input
    const email = emailOf(input.email)
    if (!isRole(role)) throw new Problem('invalid_input', 'There is no such role.')
    const newId = createId('usr', this.#deps.clock.now())
    const id = await this.#store.transaction(async (tx) => {
      await requirePowerToGive(tx, { organizationId, actor }, { role })
      const person = { email, name: input.name, newId }
      const { id: userId, name } = await findOrInsertUser(tx, organizationId, person)
      const member = { organizationId, userId, role, name, email, source: 'operator' as const }
      return (await lifecycle.join(tx, member, actor)).id
    })
    return await this.get(organizationId, id)
  }

  /**
   * Changes a member's role, activates or deactivates the member, or both. A changed role and a deactivation end the
   * member's sessions that reach the organization. Throws `not_found`, `version_conflict`, `last_owner`,
   * `break_glass_missing`, `permission_required`.
   */
  async change(
    change: MemberChange & {
      readonly role?: Role | undefined
      readonly active?: boolean | undefined
    },
  ): Promise<MemberRecord> {
    const { organizationId, id, role, active } = change
    await this.#store.transactionConfirmed(
      async (tx) => {
        if (role !== undefined) await giveRole(tx, { ...change, role })
        // A role change has already checked the version, and may have created a new one.
        const rest = role === undefined ? change : { ...change, expectedVersion: undefined }
        if (active === false) await deactivate(tx, rest)
        if (active === true) await reactivate(tx, rest)
      },
      { isNeeded: () => role !== undefined || active === false },
    )
    return await this.get(organizationId, id)
  }

  async setRole(change: MemberChange & { readonly role: Role }): Promise<MemberRecord> {
    return await this.change({ ...change, active: undefined })
  }

  /**
   * Ends every session that reaches the organization, and suspends the personal keys until reactivation. Throws
   * `not_found`, `version_conflict`, `last_owner`, `break_glass_missing`, `permission_required`.
   */
  async deactivate(change: MemberChange): Promise<Ended> {
    return await this.#end(async (tx) => await deactivate(tx, change))
  }

  async reactivate(change: MemberChange): Promise<MemberRecord> {
    return await this.change({ ...change, role: undefined, active: true })
  }

  /**
   * Permanently ends the membership, every session that reaches the organization, the personal keys and the access
   * tokens. Throws `not_found`, `version_conflict`, `last_owner`, `break_glass_missing`, `permission_required`.
   */
  async remove(change: MemberChange): Promise<Ended> {
    return await this.#end(async (tx) => {
      const before = await getForChange(tx, change)
      await requireAnotherOwner(tx, before)
      return await lifecycle.remove(tx, before, change.actor)
    })
  }

  /** Lists a member's active sessions that reach the organization. Throws `not_found`. */
  async sessionsOf(organizationId: OrganizationId, id: string): Promise<SessionRecord[]> {
    const { userId } = await this.get(organizationId, id)
    return await this.#deps.sessions.list(userId, organizationId)
  }

  /** Ends one session of a member, or all that reach the organization. Throws `not_found`. */
  async endSessions(
    { organizationId, id, actor }: Omit<MemberChange, 'stepUp' | 'expectedVersion'>,
    sessionId?: string,
  ): Promise<Ended> {
    return await this.#end(async (tx) => {
      const member = await findMember(tx, organizationId, id)
      const { userId, name } = member
      const reason = 'ended_by_administrator'
      const which = { id: sessionId, organizationId }
      const sessions = await this.#deps.sessions.endIn(
        tx,
        { userId, which },
        { by: actor.id, reason },
      )
      if (sessionId !== undefined && sessions.length === 0) {
        throw new Problem('not_found', 'The member has no such active session.')
      }
      announceEnded(tx, member, { sessions, reason })
      record(tx, {
        ...{ organizationId, actor },
        action: 'member.sessions_ended',
        subject: { kind: 'membership', id: member.id },
        detail: { user_id: userId, name, sessions: sessions.map((one) => one.id) },
      })
      return { sessions: sessions.length, keys: 0 }
    })
  }

  /**
   * Creates an organization with its first owner. Throws `invalid_input`, `not_found` (the person) or `conflict` (the
   * slug).
   */
  async createOrganization(
    userId: UserId,
    input: OrganizationInput,
    actor: Actor,
  ): Promise<OrganizationRecord> {
    const checked = checkOrganization(input)
    return await this.#store.transaction(async (tx) => {
      const user = await users.find(tx, userId)
      if (!user) throw notFound()
      const made = await insertOrganization(tx, { ...checked, plan: 'standard' }, actor)
      const { name, email } = user
      const owner = { organizationId: made.id, userId, name, email, role: 'owner' as const }
      await lifecycle.join(tx, { ...owner, source: 'creation' }, actor)
      return made
    })
  }

  /**
   * Ends a person's own sessions; resolves when every node refuses them. Signing out is not a revocation, so it
   * publishes no event.
   */
  async endOwnSessions(
    of: SessionsOf,
    reason: 'ended_by_owner' | 'signed_out',
    actor: Actor,
  ): Promise<{ readonly ended: readonly SessionRecord[]; readonly confirmation: Confirmation }> {
    const { result, confirmation } = await this.#store.transactionConfirmed(async (tx) => {
      const ended = await this.#deps.sessions.endIn(tx, of, { by: actor.id, reason })
      await noteOwnEnded(tx, { userId: of.userId, ended, reason }, actor)
      return ended
    })
    return { ended: result, confirmation }
  }

  async #end(work: (tx: Tx) => Promise<lifecycle.LifecycleEffect>): Promise<Ended> {
    const { result, confirmation } = await this.#store.transactionConfirmed(work)
    return { ...result, confirmation }
  }
}

async function giveRole(tx: Tx, change: MemberChange & { readonly role: Role }): Promise<void> {
  const { role, actor } = change
  const before = await getForChange(tx, change, role)
  if (before.role === role) return
  await requirePowerToGive(tx, change, { role, had: before.role })
  await requireAnotherOwner(tx, before, role)
  await lifecycle.changeRoles(tx, [{ ...before, before: before.role, after: role }], actor)
}

async function deactivate(tx: Tx, change: MemberChange): Promise<lifecycle.LifecycleEffect> {
  const before = await getForChange(tx, change)
  if (before.deactivatedAt !== undefined) return { sessions: 0, keys: 0 }
  await requireAnotherOwner(tx, before)
  return await lifecycle.deactivate(tx, before, change.actor)
}

async function reactivate(tx: Tx, change: MemberChange): Promise<void> {
  const before = await getForChange(tx, change)
  if (before.deactivatedAt === undefined) return
  await requirePowerToGive(tx, change, before)
  await lifecycle.reactivate(tx, before, change.actor)
}

/**
 * Records the sessions that a person has ended, in each of the person's organizations. A session that an organization's
 * provider vouched for is recorded only in that organization.
 */
async function noteOwnEnded(
  tx: Tx,
  own: {
    readonly userId: UserId
    readonly ended: readonly SessionRecord[]
    readonly reason: 'ended_by_owner' | 'signed_out'
  },
  actor: Actor,
): Promise<void> {
  const { userId, ended, reason } = own
  if (ended.length === 0) return
  const vouching: (string | undefined)[] = []
  for (const session of ended) vouching.push(await organizationVouching(tx, session))
  for (const { membership } of await memberships.listOfUser(tx, userId)) {
    const { organizationId } = membership
    const sessions = ended.filter((_, at) => (vouching[at] ?? organizationId) === organizationId)
    if (sessions.length === 0) continue
    record(tx, {
      ...{ organizationId, actor },
      action: 'session.ended',
      subject: { kind: 'user', id: userId },
      detail: { sessions: sessions.map(({ id }) => id), reason },
    })
    if (reason === 'ended_by_owner') announceEnded(tx, membership, { sessions, reason })
  }
}

/**
 * Refuses to remove, deactivate or demote the last active owner (`last_owner`) or, if the organization requires SSO,
 * the last break-glass owner (`break_glass_missing`).
 */
async function requireAnotherOwner(
  tx: Tx,
  before: MembershipRecord,
  roleAfter?: Role,
): Promise<void> {
  if (before.role !== 'owner' || roleAfter === 'owner' || before.deactivatedAt !== undefined) return
  await requireAnotherBreakGlassOwner(tx, before)
  if ((await memberships.countOwners(tx, before.organizationId)) > 1) return
  throw new Problem('last_owner', 'This is the last owner. Make somebody else an owner first.')
}

async function findOrInsertUser(
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

async function findMember(
  db: Db,
  organizationId: OrganizationId,
  id: string,
): Promise<MemberRecord> {
  const member = await memberships.find(db, organizationId, id)
  if (!member) throw notFound()
  return member
}

/** Locks and returns the member to change; throws `version_conflict` for an unexpected version. */
async function getForChange(
  tx: Tx,
  { organizationId, id, actor, stepUp, expectedVersion }: MemberChange,
  roleAfter?: Role,
): Promise<MemberRecord> {
  const userId = actor.kind === 'user' ? actor.id : undefined
  await memberships.lock(tx, organizationId, { id, userId })
  const member = await findMember(tx, organizationId, id)
  if (member.role === 'owner' || roleAfter === 'owner') {
    await requireActingOwner(tx, { organizationId, actor }, onlyOwners)
    stepUp?.()
  }
  if (expectedVersion !== undefined && member.version !== expectedVersion) {
    throw new Problem('version_conflict', 'The member was changed meanwhile.')
  }
  return member
}

function notFound(): Problem {
  return new Problem('not_found', 'There is no such member in this organization.')
}
