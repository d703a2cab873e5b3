import { record } from '../audit/index.ts'
import { Problem } from '../errors.ts'
import { createId, type Id, type UserId } from '../ids.ts'
import {
  connections,
  domains,
  identities,
  invitations,
  memberships,
  users,
  type Actor,
  type IdentityRecord,
  type MembershipRecord,
  type Store,
  type Transaction,
  type UserRecord,
} from '../store/index.ts'
import type { CompanyPerson } from './connection-claims.ts'
import type { ConnectionSettings } from './connection-settings.ts'
import type { Connection } from './connections.ts'
import { requireEnterprise } from './entitlement.ts'
import { join, joinByInvitation } from './join.ts'

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
  isOn(tx: Transaction, organizationId: string): Promise<boolean>
  /** The person with this identifier, exactly one. */
  find(
    tx: Transaction,
    organizationId: string,
    by: { attribute: 'externalId' | 'userName'; value: string },
  ): Promise<{ userId: UserId; active: boolean } | undefined>
}

/** Whom an organization's provider may let in, and as whom (PRODUCT.md section 7). */
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
  /** Links after the person confirmed from a living session of their own. The `sso_…` problems. */
  confirm(
    connection: Connection,
    link: PendingLink,
    userId: UserId,
    actor: Actor,
  ): Promise<Admitted>
}

interface Attempt {
  readonly tx: Transaction
  readonly connection: Connection
  readonly person: CompanyPerson
  readonly actor: Actor
  readonly directoryIsOn: boolean
}

/** Opens the rules. */
export function createCompanySignIn(needs: {
  store: Store
  directory: DirectoryPeople
}): CompanySignIn {
  const { store, directory } = needs

  async function attempt<T>(
    connection: Connection,
    person: CompanyPerson,
    actor: Actor,
    work: (attempt: Attempt) => Promise<T>,
  ): Promise<T> {
    return await store.transaction(async (tx) => {
      await requireEnterprise(tx, connection.organizationId)
      await requireUnchanged(tx, connection)
      const directoryIsOn = await directory.isOn(tx, connection.organizationId)
      const attempt_ = { tx, connection, person, actor, directoryIsOn }
      requireGroup(attempt_)
      return await work(attempt_)
    })
  }

  async function admit(
    connection: Connection,
    person: CompanyPerson,
    actor: Actor,
  ): Promise<Admitted | PendingLink> {
    return await attempt(connection, person, actor, async (at) => {
      const known = await findIdentity(at)
      if (known) return await admitKnown(at, known)
      return at.directoryIsOn ? await admitFromDirectory(at) : await admitByDomain(at)
    })
  }

  async function admitFromDirectory(at: Attempt): Promise<Admitted | PendingLink> {
    const { attribute } = at.connection.settings.claims.directory
    const value = at.person.directoryValue
    const found =
      value === undefined
        ? undefined
        : await directory.find(at.tx, at.connection.organizationId, { attribute, value })
    if (!found) {
      throw new Problem('sso_not_admitted', 'The directory of this organization has not sent you.')
    }
    const user = await users.find(at.tx, found.userId)
    if (!found.active || !user) throw ended()
    await requireMembership(at, user)
    // An address can be given to somebody else; an identifier of the directory cannot.
    if (attribute === 'userName' && (await hasOtherIdentityHere(at, user))) {
      return pendingFor(at, [user])
    }
    return await link(at, user)
  }

  return {
    admit,
    confirm: async (connection, pending, userId, actor) =>
      await attempt(connection, pending.person, actor, async (at) => {
        if (!pending.candidates.includes(userId)) {
          throw new Problem(
            'sso_confirmation_required',
            'This is not the account with that e-mail address.',
          )
        }
        const known = await findIdentity(at)
        if (known && known.userId !== userId) {
          throw new Problem(
            'sso_confirmation_required',
            'Somebody else has confirmed this sign-in.',
          )
        }
        if (known) return await admitKnown(at, known)
        const user = await users.find(at.tx, userId)
        if (!user) throw ended()
        await requireOwnDomain(at)
        await ensureMembership(at, user)
        return await link(at, user)
      }),
  }
}

/** The way of an identity that is known: it stays whose it is, whatever address the provider says today. */
async function admitKnown(at: Attempt, known: IdentityRecord): Promise<Admitted> {
  const user = await users.find(at.tx, known.userId)
  if (!user) throw new Error(`identity ${known.id} belongs to nobody`)
  const membership = await requireMembership(at, user)
  await keepRole(at, membership)
  await identities.noteUse(at.tx, known.id, seen(at.person))
  return { kind: 'admitted', user, identityId: known.id, isNew: false }
}

/** The way of somebody new where no directory decides: verified address of a verified domain of this organization. */
async function admitByDomain(at: Attempt): Promise<Admitted | PendingLink> {
  const address = await requireOwnDomain(at)
  const candidates = await users.listByEmail(at.tx, address)
  const [candidate] = candidates
  if (candidate === undefined) return await admitNew(at, address)
  if (candidates.length > 1 || !(await mayLinkUnasked(at, candidate))) {
    await refuseDeactivated(at, candidates)
    return pendingFor(at, candidates)
  }
  await ensureMembership(at, candidate)
  return await link(at, candidate)
}

async function admitNew(at: Attempt, address: string): Promise<Admitted> {
  const { tx, person } = at
  const user = await users.insert(tx, {
    id: createId('usr', tx.now),
    name: person.name ?? address,
    email: address,
  })
  await ensureMembership(at, user)
  return { ...(await link(at, user)), isNew: true }
}

/** An account with no other identity, that nobody reaches through another organization. */
async function mayLinkUnasked(at: Attempt, user: UserRecord): Promise<boolean> {
  if (user.deactivatedAt !== undefined) return false
  if ((await identities.listOf(at.tx, user.id)).length > 0) return false
  const joined = await memberships.listOfUser(at.tx, user.id)
  return joined.every(({ organization }) => organization.id === at.connection.organizationId)
}

async function requireOwnDomain(at: Attempt): Promise<string> {
  const { mail, mailVerified } = at.person
  const { claims } = at.connection.settings
  if (mail === undefined) {
    throw new Problem('sso_email_missing', `The claim ${claims.email} holds no e-mail address.`)
  }
  if (!mailVerified) {
    throw new Problem(
      'sso_email_unverified',
      `The identity provider does not say that ${mail.address} is verified (claim ${claims.emailVerified}).`,
    )
  }
  const domain = await domains.findHeld(at.tx, mail.domain)
  const ours = domain?.organizationId === at.connection.organizationId
  const elsewhere = domain?.connectionId !== undefined && domain.connectionId !== at.connection.id
  if (!ours || elsewhere) {
    throw new Problem(
      'sso_domain_mismatch',
      `${mail.domain} is not verified for this connection of the organization.`,
    )
  }
  return mail.address
}

/** The connection as the browser left it: still on, still the same provider and client. */
async function requireUnchanged(tx: Transaction, connection: Connection): Promise<void> {
  const now = await connections.find(tx, connection.organizationId, connection.id)
  const same = now?.issuer === connection.issuer && now.clientId === connection.clientId
  if (!same || now.disabledAt !== undefined) {
    throw new Problem(
      'sso_connection_disabled',
      'The connection was switched off or changed meanwhile.',
    )
  }
}

function requireGroup(at: Attempt): void {
  const { requiredGroup } = at.connection.settings
  if (requiredGroup === undefined || at.person.groups?.includes(requiredGroup) === true) return
  throw new Problem(
    'sso_group_missing',
    at.person.groups === undefined
      ? `The identity provider sent no list of groups (claim ${at.connection.settings.claims.groups}).`
      : 'You are not in the group that this connection requires.',
  )
}

/** No way back in for who was deactivated or removed (SECURITY.md O12). */
async function requireMembership(at: Attempt, user: UserRecord): Promise<MembershipRecord> {
  const found = await memberships.findByUser(at.tx, at.connection.organizationId, user.id)
  if (user.deactivatedAt !== undefined || !found || found.deactivatedAt !== undefined) throw ended()
  return found
}

async function refuseDeactivated(at: Attempt, candidates: readonly UserRecord[]): Promise<void> {
  for (const user of candidates) {
    const found = await memberships.findByUser(at.tx, at.connection.organizationId, user.id)
    if (found?.deactivatedAt !== undefined) throw ended()
  }
}

/** A member already, invited, or let in by the domain: in this order. */
async function ensureMembership(at: Attempt, user: UserRecord): Promise<void> {
  const { tx, connection, actor, person } = at
  const { organizationId, settings } = connection
  const found = await memberships.findByUser(tx, organizationId, user.id)
  if (found || user.deactivatedAt !== undefined) return void (await requireMembership(at, user))
  const self: Actor = { ...actor, kind: 'user', id: user.id, name: user.name }
  const address = person.mail?.address
  const open = address === undefined ? [] : await invitations.listOpenFor(tx, address, tx.now)
  const invitation = open.find((one) => one.organizationId === organizationId)
  if (invitation) return void (await joinByInvitation(tx, invitation, user, self))
  if (!settings.admitsNewPeople || at.directoryIsOn) {
    throw new Problem(
      'sso_not_admitted',
      'People join this organization by invitation or by its directory only.',
    )
  }
  const role = roleOf(settings, person.groups)
  const { name, email } = user
  await join(tx, { organizationId, userId: user.id, role, source: 'sso', name, email }, self)
}

/** Groups decide the role of who came in by them; owners and others are never touched. */
async function keepRole(at: Attempt, membership: MembershipRecord): Promise<void> {
  const { settings, organizationId } = at.connection
  if (at.directoryIsOn || membership.source !== 'sso' || settings.groupRoles.length === 0) return
  const role = roleOf(settings, at.person.groups)
  if (membership.role === 'owner' || membership.role === role) return
  await memberships.update(at.tx, organizationId, membership.id, { role })
  record(at.tx, {
    organizationId,
    actor: { kind: 'system' },
    action: 'member.role_changed',
    subject: { kind: 'membership', id: membership.id },
    detail: { user_id: membership.userId, before: membership.role, after: role, by: 'groups' },
  })
  at.tx.event({
    organizationId,
    type: 'member.role_changed',
    data: {
      membership_id: membership.id,
      user_id: membership.userId,
      before: membership.role,
      after: role,
    },
  })
  at.tx.changed({ kind: 'membership', organizationId, subjectId: membership.userId })
}

/** The highest role that the groups give; the lowest where they give none. */
export function roleOf(
  settings: Pick<ConnectionSettings, 'groupRoles'>,
  groups: readonly string[] | undefined,
): 'admin' | 'developer' | 'viewer' {
  const given = settings.groupRoles.filter(({ group }) => groups?.includes(group))
  const found = (['admin', 'developer', 'viewer'] as const).find((role) =>
    given.some((one) => one.role === role),
  )
  return found ?? 'viewer'
}

async function link(at: Attempt, user: UserRecord): Promise<Admitted> {
  const { tx, connection, person } = at
  const identity = await identities.insert(tx, {
    id: createId('idn', tx.now),
    userId: user.id,
    provider: 'sso',
    connectionId: connection.id,
    issuer: person.issuer,
    subject: person.subject,
    ...seen(person),
  })
  if (!identity)
    throw new Problem('sso_confirmation_required', 'This identity was taken meanwhile.')
  await identities.noteUse(tx, identity.id, seen(person))
  record(tx, {
    organizationId: connection.organizationId,
    actor: { ...at.actor, kind: 'user', id: user.id, name: user.name },
    action: 'identity.added',
    subject: { kind: 'user', id: user.id },
    detail: { connection_id: connection.id, issuer: person.issuer, subject: person.subject },
  })
  return { kind: 'admitted', user, identityId: identity.id, isNew: false }
}

async function findIdentity(at: Attempt): Promise<IdentityRecord | undefined> {
  const { issuer, subject } = at.person
  return await identities.find(at.tx, { connectionId: at.connection.id, issuer, subject })
}

async function hasOtherIdentityHere(at: Attempt, user: UserRecord): Promise<boolean> {
  const all = await identities.listOf(at.tx, user.id)
  return all.some((identity) => identity.connectionId === at.connection.id)
}

function pendingFor(at: Attempt, candidates: readonly UserRecord[]): PendingLink {
  return {
    kind: 'confirm',
    connectionId: at.connection.id,
    organizationId: at.connection.organizationId,
    person: at.person,
    candidates: candidates.map(({ id }) => id),
  }
}

function seen(person: CompanyPerson) {
  return { email: person.mail?.address, emailVerified: person.mailVerified, name: person.name }
}

function ended(): Problem {
  return new Problem('sso_membership_ended', 'Your membership in this organization has ended.')
}
