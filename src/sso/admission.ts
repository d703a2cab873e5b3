import { record } from '../audit/index.ts'
import { Problem } from '../errors.ts'
import { createId, type Id, type UserId } from '../ids.ts'
import {
  identities,
  memberships,
  users,
  type Actor,
  type Db as Place,
  type IdentityRecord,
  type MembershipRecord,
  type Store,
  type Tx,
  type UserRecord,
} from '../store/index.ts'
import {
  awaitsOwner,
  ended,
  ensureMembership,
  findInvitation,
  keepRole,
  membershipOf,
  ownerMustConfirm,
  refuseDeactivated,
  requireGroup,
  requireOwnDomain,
  requireUnchanged,
  requireWorkspace,
  roleOf,
  seen,
  type Attempt,
} from './admission-conditions.ts'
import type { CompanyPerson } from './connection-claims.ts'
import type { ConnectionSettings } from './connection-settings.ts'
import type { Connection } from './connections.ts'
import { requireStanding } from './standing.ts'
import { isActiveOwner, requireEnterprise } from '../organizations/index.ts'

/** Somebody who may come in. */
export interface Admitted {
  readonly kind: 'admitted'
  readonly user: UserRecord
  readonly identityId: Id<'idn'>
  readonly isNew: boolean
}

/** A proven identity that must be confirmed from an existing sign-in of one of these people. */
export interface PendingLink {
  readonly kind: 'confirm'
  readonly connectionId: string
  readonly organizationId: string
  readonly person: CompanyPerson
  readonly candidates: readonly UserId[]
}

/** The people that an organization's directory (SCIM) has sent. */
export interface DirectoryPeople {
  /** Whether the directory decides who is a member. */
  isOn(at: Place, organizationId: string): Promise<boolean>
  /** The person with this identifier, exactly one. */
  find(
    at: Place,
    organizationId: string,
    by: { attribute: 'externalId' | 'userName'; value: string },
  ): Promise<{ userId: UserId; active: boolean } | undefined>
}

/** Whom an organization's provider may let in, and as whom. */
export interface CompanySignIn {
  /**
   * The person behind a proven sign-in: by (connection, issuer, subject), else linked or made as the rules allow,
   * else to be confirmed. The `sso_…` problems, `plan_required`.
   */
  admit(
    connection: Connection,
    person: CompanyPerson,
    actor: Actor,
  ): Promise<Admitted | PendingLink>
  /** Refuses in the transaction that starts the session what has changed since the admission. The `sso_…` problems, `plan_required`. */
  requireStanding(tx: Tx, connection: Connection, admitted: Admitted): Promise<void>
  /** What `admit` would do, without doing it. */
  preview(connection: Connection, person: CompanyPerson): Promise<string>
  /** Links after the person confirmed from a living session of their own. The `sso_…` problems. */
  confirm(
    connection: Connection,
    confirmed: { readonly link: PendingLink; readonly userId: UserId },
    actor: Actor,
  ): Promise<Admitted>
}

/** Opens the rules. */
export function createCompanySignIn(deps: {
  store: Store
  directory: DirectoryPeople
}): CompanySignIn {
  const { store, directory } = deps

  async function attempt<T>(
    arrival: Pick<Attempt, 'connection' | 'person' | 'actor'>,
    work: (attempt: Attempt) => Promise<T>,
  ): Promise<T> {
    const { connection } = arrival
    return await store.transaction(async (tx) => {
      await requireEnterprise(tx, connection.organizationId)
      await requireUnchanged(tx, connection)
      const directoryIsOn = await directory.isOn(tx, connection.organizationId)
      const candidate = { tx, ...arrival, directoryIsOn }
      requireWorkspace(candidate)
      requireGroup(candidate)
      return await work(candidate)
    })
  }

  async function admit(
    connection: Connection,
    person: CompanyPerson,
    actor: Actor,
  ): Promise<Admitted | PendingLink> {
    return await attempt({ connection, person, actor }, async (at) => await judge(at))
  }

  async function judge(at: Attempt): Promise<Admitted | PendingLink> {
    const known = await findIdentity(at)
    const member = known && (await memberOf(at, known))
    if (known && member) return await admitKnown(at, { ...member, identity: known })
    return at.directoryIsOn ? await admitFromDirectory(at) : await admitByDomain(at, known)
  }

  async function findSent(at: Attempt): ReturnType<DirectoryPeople['find']> {
    if (!at.directoryIsOn) return undefined
    const { attribute } = at.connection.settings.claims.directory
    const value = at.person.directoryValue
    if (value === undefined) return undefined
    return await directory.find(at.tx, at.connection.organizationId, { attribute, value })
  }

  async function admitFromDirectory(at: Attempt): Promise<Admitted | PendingLink> {
    const { attribute } = at.connection.settings.claims.directory
    const found = await findSent(at)
    // Whom an administrator has invited need not be in the directory.
    if (!found && (await findInvitation(at))) return await admitByDomain(at, undefined)
    if (!found) throw notSent(at)
    const user = await users.find(at.tx, found.userId)
    if (!found.active || !user) throw ended()
    const membership = await membershipOf(at, user)
    if (!membership) throw ended()
    const { role } = membership
    // An address can be given to somebody else; an identifier of the directory cannot.
    const isRecycled = attribute === 'userName' && (await hasOtherIdentityHere(at, user))
    // An administrator may write to the directory and choose the provider: both together make nobody an owner.
    const isOwners = role === 'owner' && (await identities.listLiving(at.tx, user.id)).length > 0
    if (isRecycled || isOwners || (await ownerMustConfirm(at, user))) return pendingFor(at, [user])
    return await link(at, user, { by: 'directory' })
  }

  async function preview(connection: Connection, person: CompanyPerson): Promise<string> {
    try {
      await attempt({ connection, person, actor: { kind: 'system' } }, async (at) => {
        throw new Preview(await judge(at))
      })
    } catch (error) {
      if (error instanceof Preview) return error.message
      throw error
    }
    throw new Error('a preview never commits')
  }

  return {
    admit,
    requireStanding,
    preview,
    confirm: async (connection, { link: pending, userId }, actor) =>
      await attempt({ connection, person: pending.person, actor }, async (at) => {
        if (!pending.candidates.includes(userId)) {
          throw new Problem(
            'sso_confirmation_required',
            'This is not the account with that e-mail address.',
          )
        }
        const known = await findIdentity(at)
        const member = known && (await memberOf(at, known))
        if (member && member.user.id !== userId) {
          throw new Problem(
            'sso_confirmation_required',
            'Somebody else has confirmed this sign-in.',
          )
        }
        if (known && member) {
          await identities.vouch(at.tx, { id: known.id })
          return await admitKnown(at, { ...member, identity: known }, 'confirmed')
        }
        const user = await users.find(at.tx, userId)
        if (!user) throw ended()
        if ((await findSent(at))?.userId !== userId) await requireOwnDomain(at)
        await ensureMembership(at, user)
        return await link(at, user, { by: 'confirmation' })
      }),
  }
}

/** Ends a transaction that must leave nothing behind, with what it would have done. */
class Preview extends Error {
  constructor(outcome: Admitted | PendingLink) {
    super(
      outcome.kind === 'confirm'
        ? 'There is an account with this address: its owner would be asked to confirm.'
        : outcome.isNew
          ? 'A new member would be let in.'
          : `Would be signed in as ${outcome.user.name}.`,
    )
    this.name = 'Preview'
  }
}

interface Member {
  readonly user: UserRecord
  readonly membership: MembershipRecord
}

/** Whose an identity is, if they are a member: without a membership an identity binds nobody. */
async function memberOf(at: Attempt, known: IdentityRecord): Promise<Member | undefined> {
  const user = await users.find(at.tx, known.userId)
  if (!user) throw new Error(`identity ${known.id} belongs to nobody`)
  const membership = await membershipOf(at, user)
  return membership && { user, membership }
}

/** The way of an identity that is known: it stays whose it is, whatever address the provider says today. */
async function admitKnown(
  at: Attempt,
  known: Member & { identity: IdentityRecord },
): Promise<Admitted | PendingLink>
async function admitKnown(
  at: Attempt,
  known: Member & { identity: IdentityRecord },
  confirmed: 'confirmed',
): Promise<Admitted>
async function admitKnown(
  at: Attempt,
  { user, membership, identity }: Member & { identity: IdentityRecord },
  confirmed?: 'confirmed',
): Promise<Admitted | PendingLink> {
  // People who came in by their domain before the directory was switched on; owners are nobody's to lock out.
  const isUnsent = at.directoryIsOn && membership.source === 'sso' && membership.role !== 'owner'
  if (isUnsent) throw notSent(at)
  // Linked by an administrator's means when the account was no owner's yet.
  const isOwners = await isActiveOwner(at.tx, at.connection.organizationId, user.id)
  if (isOwners && identity.awaitsOwner !== undefined && confirmed === undefined) {
    return pendingFor(at, [user])
  }
  await keepRole(at, membership)
  await identities.noteUse(at.tx, identity.id, await seen(at))
  return { kind: 'admitted', user, identityId: identity.id, isNew: false }
}

/** The way of somebody new where no directory decides: verified address of a verified domain of this organization. */
async function admitByDomain(
  at: Attempt,
  known: IdentityRecord | undefined,
): Promise<Admitted | PendingLink> {
  const address = await requireOwnDomain(at)
  const { organizationId } = at.connection
  // Somebody who was removed keeps the account that this identity has always opened, unless only an administrator's
  // directory said whose it is.
  const isTrusted = known !== undefined && known.awaitsOwner !== 'directory'
  const before = isTrusted ? await users.find(at.tx, known.userId) : undefined
  if (before) {
    await ensureMembership(at, before)
    return await link(at, before, { by: 'domain' })
  }
  const candidates = await users.listByEmail(at.tx, address, { organizationId })
  const [candidate] = candidates
  if (candidate === undefined) return await admitNew(at, address)
  if (candidates.length > 1 || !(await mayLinkUnasked(at, candidate))) {
    await refuseDeactivated(at, candidates)
    return pendingFor(at, candidates)
  }
  await ensureMembership(at, candidate)
  return await link(at, candidate, { by: 'domain' })
}

async function admitNew(at: Attempt, address: string): Promise<Admitted> {
  const { tx, person } = at
  const user = await users.insert(tx, {
    id: createId('usr', tx.now),
    name: person.name ?? address,
    email: address,
    // The organization's own word: it counts elsewhere only while the domain is its own.
    emailFrom: at.connection.organizationId,
  })
  await ensureMembership(at, user)
  return { ...(await link(at, user, { by: 'domain' })), isNew: true }
}

/** An account with no other identity, that nobody reaches through another organization. */
async function mayLinkUnasked(at: Attempt, user: UserRecord): Promise<boolean> {
  if (user.deactivatedAt !== undefined) return false
  if ((await identities.listLiving(at.tx, user.id)).length > 0) return false
  if (await ownerMustConfirm(at, user)) return false
  const joined = await memberships.listOfUser(at.tx, user.id)
  return joined.every(({ organization }) => organization.id === at.connection.organizationId)
}

async function link(
  at: Attempt,
  user: UserRecord,
  { by }: { by: 'domain' | 'directory' | 'confirmation' },
): Promise<Admitted> {
  const { tx, connection, person } = at
  // An identity of somebody who is no member any more binds nobody.
  const bound = await findIdentity(at)
  if (bound) await identities.remove(tx, bound.userId, bound.id)
  const missing = by === 'confirmation' ? undefined : await awaitsOwner(at)
  const identity = await identities.insert(tx, {
    id: createId('idn', tx.now),
    userId: user.id,
    provider: 'sso',
    connectionId: connection.id,
    issuer: person.issuer,
    subject: person.subject,
    // Without the directory's word, only the connection matters.
    awaitsOwner: by === 'domain' && missing === 'directory' ? 'connection' : missing,
    ...(await seen(at)),
  })
  if (!identity)
    throw new Problem('sso_confirmation_required', 'This identity was taken meanwhile.')
  await identities.noteUse(tx, identity.id, await seen(at))
  record(tx, {
    organizationId: connection.organizationId,
    actor: { ...at.actor, kind: 'user', id: user.id, name: user.name },
    action: 'identity.added',
    subject: { kind: 'user', id: user.id },
    detail: {
      connection_id: connection.id,
      issuer: person.issuer,
      subject: person.subject,
      by,
      ...(bound && bound.userId !== user.id ? { taken_from: bound.userId } : {}),
    },
  })
  return { kind: 'admitted', user, identityId: identity.id, isNew: false }
}

async function findIdentity(at: Attempt): Promise<IdentityRecord | undefined> {
  const { issuer, subject } = at.person
  return await identities.find(at.tx, { connectionId: at.connection.id, issuer, subject })
}

async function hasOtherIdentityHere(at: Attempt, user: UserRecord): Promise<boolean> {
  const all = await identities.listLiving(at.tx, user.id)
  return all.some((identity) => identity.connectionId === at.connection.id)
}

function notSent({ person, connection }: Attempt): Problem {
  const { directory, email, emailVerified } = connection.settings.claims
  const why = {
    missing: `The identity provider sent no ${directory.claim}, by which the directory knows people.`,
    unverified: `The identity provider does not say that your ${email} is verified (claim ${emailVerified}), so the directory was not asked for it.`,
    none: 'The directory of this organization has not sent you.',
  }
  return new Problem('sso_not_admitted', why[person.directoryGap ?? 'none'])
}

function pendingFor(at: Attempt, candidates: readonly UserRecord[]): PendingLink {
  return {
    kind: 'confirm',
    connectionId: at.connection.id,
    organizationId: at.connection.organizationId,
    person: withDecidingGroups(at.person, at.connection.settings),
    candidates: candidates.map(({ id }) => id),
  }
}

/** A person who waits in a cookie: of a thousand groups only those go along that decide something here, two at most. */
export function withDecidingGroups(
  person: CompanyPerson,
  settings: Pick<ConnectionSettings, 'requiredGroup' | 'groupRoles'>,
): CompanyPerson {
  const { requiredGroup, groupRoles } = settings
  const role = roleOf(settings, person.groups)
  const deciding = groupRoles.find(
    (given) => given.role === role && person.groups?.includes(given.group),
  )
  const groups = person.groups?.filter(
    (group) => group === requiredGroup || group === deciding?.group,
  )
  return { ...person, groups, idToken: undefined }
}
