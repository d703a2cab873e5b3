import { record } from '../audit/index.ts'
import { Problem } from '../errors.ts'
import { createId, type Id, type UserId } from '../ids.ts'
import {
  identities,
  memberships,
  users,
  type Actor,
  type Db,
  type IdentityRecord,
  type MembershipRecord,
  type Store,
  type UserRecord,
} from '../store/index.ts'
import {
  awaitsOwner,
  membershipEnded,
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
  profileOf,
  type Attempt,
} from './admission-conditions.ts'
import type { CompanyPerson } from './connection-claims.ts'
import type { ConnectionSettings } from './connection-settings.ts'
import type { Connection } from './connections.ts'
import { isActiveOwner, requireEnterprise } from '../organizations/index.ts'

/** A person who may sign in. */
export interface Admitted {
  readonly kind: 'admitted'
  readonly user: UserRecord
  readonly identityId: Id<'idn'>
  readonly isNew: boolean
}

/** A proven identity that one of the candidates must confirm from a session of their own before it is linked. */
export interface PendingLink {
  readonly kind: 'confirm'
  readonly connectionId: string
  readonly organizationId: string
  readonly person: CompanyPerson
  readonly candidates: readonly UserId[]
}

/** The people whom an organization's directory (SCIM) has provisioned. */
export interface DirectoryPeople {
  /** Whether the directory decides who is a member. */
  isOn(at: Db, organizationId: string): Promise<boolean>
  /** Finds the person with this identifier; undefined unless there is exactly one. */
  find(
    at: Db,
    organizationId: string,
    by: { attribute: 'externalId' | 'userName'; value: string },
  ): Promise<{ userId: UserId; active: boolean } | undefined>
}

type Arrival = Pick<Attempt, 'connection' | 'person' | 'actor'>

interface CompanySignInDeps {
  readonly store: Store
  readonly directory: DirectoryPeople
}

/** Decides who may sign in through an organization's provider, and as which user. */
export class CompanySignIn {
  readonly #deps: CompanySignInDeps

  constructor(deps: CompanySignInDeps) {
    this.#deps = deps
  }

  /**
   * Admits the person whom connection, issuer and subject identify; otherwise links the sign-in to an account, creates
   * one, or asks for confirmation.
   */
  async admit(
    connection: Connection,
    person: CompanyPerson,
    actor: Actor,
  ): Promise<Admitted | PendingLink> {
    const arrival = { connection, person, actor }
    return await this.#attempt(arrival, async (at) => await this.#decide(at))
  }

  /** Describes what `admit` would do, without doing it; throws what `admit` would throw. */
  async preview(connection: Connection, person: CompanyPerson): Promise<string> {
    const arrival: Arrival = { connection, person, actor: { kind: 'system' } }
    try {
      return await this.#attempt(arrival, async (at) => {
        throw new Preview(await this.#decide(at))
      })
    } catch (error) {
      if (error instanceof Preview) return error.message
      throw error
    }
  }

  /** Links the identity to a person who has confirmed it from their own session. */
  async confirm(
    connection: Connection,
    { link: pending, userId }: { readonly link: PendingLink; readonly userId: UserId },
    actor: Actor,
  ): Promise<Admitted> {
    const arrival = { connection, person: pending.person, actor }
    return await this.#attempt(arrival, async (at) => {
      if (!pending.candidates.includes(userId)) {
        throw notConfirmed('This is not the account with that e-mail address.')
      }
      const known = await findIdentity(at)
      const member = known && (await memberOf(at, known))
      if (known && member) {
        if (member.user.id !== userId) {
          throw notConfirmed('Somebody else has confirmed this sign-in.')
        }
        await identities.vouch(at.tx, { id: known.id })
        return await admitKnown(at, { ...member, identity: known }, 'confirmed')
      }
      const user = await users.find(at.tx, userId)
      if (!user) throw membershipEnded()
      if ((await this.#findProvisioned(at))?.userId !== userId) await requireOwnDomain(at)
      await ensureMembership(at, user)
      return await link(at, user, { by: 'confirmation' })
    })
  }

  /** Checks the conditions that every sign-in must meet, then decides about this one in the same transaction. */
  async #attempt<T>(arrival: Arrival, decide: (attempt: Attempt) => Promise<T>): Promise<T> {
    const { store, directory } = this.#deps
    const { connection } = arrival
    return await store.transaction(async (tx) => {
      await requireEnterprise(tx, connection.organizationId)
      await requireUnchanged(tx, connection)
      const directoryIsOn = await directory.isOn(tx, connection.organizationId)
      const attempt = { tx, ...arrival, directoryIsOn }
      requireWorkspace(attempt)
      requireGroup(attempt)
      return await decide(attempt)
    })
  }

  async #decide(at: Attempt): Promise<Admitted | PendingLink> {
    const known = await findIdentity(at)
    const member = known && (await memberOf(at, known))
    if (known && member) return await admitKnown(at, { ...member, identity: known })
    return at.directoryIsOn ? await this.#admitFromDirectory(at) : await admitByDomain(at, known)
  }

  async #admitFromDirectory(at: Attempt): Promise<Admitted | PendingLink> {
    const { attribute } = at.connection.settings.claims.directory
    const found = await this.#findProvisioned(at)
    // People with an invitation need not be in the directory.
    if (!found && (await findInvitation(at))) return await admitByDomain(at, undefined)
    if (!found) throw notProvisioned(at)
    const user = await users.find(at.tx, found.userId)
    if (!found.active || !user) throw membershipEnded()
    const membership = await membershipOf(at, user)
    if (!membership) throw membershipEnded()
    const { role } = membership
    // A user name may be an address that now belongs to somebody else; a directory's own identifier is never reused.
    const isRecycled = attribute === 'userName' && (await hasOtherIdentityHere(at, user))
    // Administrators may control both the directory and the provider; they must not get into the account of an owner
    // who already has a way to sign in.
    const isOwners = role === 'owner' && (await identities.listLiving(at.tx, user.id)).length > 0
    if (isRecycled || isOwners || (await ownerMustConfirm(at, user))) return pendingFor(at, [user])
    return await link(at, user, { by: 'directory' })
  }

  /** Finds the person whom the directory has provisioned with the identifier that the provider sent. */
  async #findProvisioned(at: Attempt): ReturnType<DirectoryPeople['find']> {
    const { connection, person, directoryIsOn, tx } = at
    const { attribute } = connection.settings.claims.directory
    const value = person.directoryValue
    if (!directoryIsOn || value === undefined) return undefined
    return await this.#deps.directory.find(tx, connection.organizationId, { attribute, value })
  }
}

function notConfirmed(sentence: string): Problem {
  return new Problem('sso_confirmation_required', sentence)
}

/** Thrown to roll back the transaction of a preview; its message says what would have happened. */
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

/** Returns the member whom an identity belongs to; undefined for a former member, whose identity can be linked anew. */
async function memberOf(at: Attempt, known: IdentityRecord): Promise<Member | undefined> {
  const user = await users.find(at.tx, known.userId)
  if (!user) throw new Error(`identity ${known.id} belongs to nobody`)
  const membership = await membershipOf(at, user)
  return membership && { user, membership }
}

/** Admits a known identity: it stays with its person, whatever address the provider sends today. */
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
  // People who joined by their domain before the directory was switched on are refused, except owners.
  const isUnprovisioned =
    at.directoryIsOn && membership.source === 'sso' && membership.role !== 'owner'
  if (isUnprovisioned) throw notProvisioned(at)
  // The link was made under an administrator's control before the person became an owner, so the owner must confirm it.
  const isOwners = await isActiveOwner(at.tx, at.connection.organizationId, user.id)
  if (isOwners && identity.awaitsOwner !== undefined && confirmed === undefined) {
    return pendingFor(at, [user])
  }
  await keepRole(at, membership)
  await identities.noteUse(at.tx, identity.id, await profileOf(at))
  return { kind: 'admitted', user, identityId: identity.id, isNew: false }
}

/** Admits a person whose identity is new or belongs to a former member, by their verified address. */
async function admitByDomain(
  at: Attempt,
  known: IdentityRecord | undefined,
): Promise<Admitted | PendingLink> {
  const address = await requireOwnDomain(at)
  const { organizationId } = at.connection
  // A former member who returns gets the account that this identity opened before, unless the link rests only on a
  // directory that an administrator controls.
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
    // Other organizations trust this address only while this organization holds its domain.
    emailFrom: at.connection.organizationId,
  })
  await ensureMembership(at, user)
  return { ...(await link(at, user, { by: 'domain' })), isNew: true }
}

/** Whether an account can be linked without the person's confirmation. */
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
  // Replaces the identity of a former member, which no longer gives access to anything.
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
    // A link by domain does not rest on the directory, so it never waits for an owner to approve the directory.
    awaitsOwner: by === 'domain' && missing === 'directory' ? 'connection' : missing,
    ...(await profileOf(at)),
  })
  if (!identity) throw notConfirmed('This identity was taken meanwhile.')
  await identities.noteUse(tx, identity.id, await profileOf(at))
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

function notProvisioned({ person, connection }: Attempt): Problem {
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

/** Shrinks the person to what admission reads, so that it fits into a cookie. */
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
