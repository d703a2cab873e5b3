import { Problem } from '../errors.ts'
import type { UserId } from '../ids.ts'
import {
  connections,
  directoryTokens,
  domains,
  invitations,
  memberships,
  type Actor,
  type AwaitsOwner,
  type InvitationRecord,
  type MembershipRecord,
  type Tx,
  type UserRecord,
} from '../store/index.ts'
import type { CompanyPerson } from './connection-claims.ts'
import type { ConnectionSettings } from './connection-settings.ts'
import type { Connection } from './connections.ts'
import { isActiveOwner, joinByInvitation, lifecycle } from '../organizations/index.ts'

/** One sign-in, in the transaction that decides whether it is admitted. */
export interface Attempt {
  readonly tx: Tx
  readonly connection: Connection
  readonly person: CompanyPerson
  readonly actor: Actor
  readonly directoryIsOn: boolean
}

/**
 * Returns the person's verified e-mail address in a domain of the organization; throws `sso_email_missing`,
 * `sso_email_unverified` or `sso_domain_mismatch`.
 */
export async function requireOwnDomain(at: Attempt): Promise<string> {
  const { mail, mailVerified } = at.person
  const { claims } = at.connection.settings
  await requireOwnWorkspace(at)
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

/**
 * Refuses personal Google accounts. Google calls any confirmed address verified; only the claim `hd` shows that the
 * account belongs to a Workspace.
 */
export function requireWorkspace({ connection, person }: Attempt): void {
  if (connection.kind !== 'google' || person.hostedDomain !== undefined) return
  throw new Problem(
    'sso_domain_mismatch',
    'This is a personal Google account (it has no claim hd). Sign in with the account of your organization.',
  )
}

async function requireOwnWorkspace(at: Attempt): Promise<void> {
  const { hostedDomain } = at.person
  if (at.connection.kind !== 'google' || hostedDomain === undefined) return
  const held = await domains.findHeld(at.tx, hostedDomain)
  if (held?.organizationId === at.connection.organizationId) return
  throw new Problem(
    'sso_domain_mismatch',
    `Your Google account belongs to ${hostedDomain}, a domain that this organization has not verified.`,
  )
}

/**
 * Throws `sso_connection_disabled` if the connection was disabled, deleted, or given another issuer or client id since
 * `connection` was read.
 */
export async function requireUnchanged(tx: Tx, connection: Connection): Promise<void> {
  const now = await connections.find(tx, connection.organizationId, connection.id)
  const same = now?.issuer === connection.issuer && now.clientId === connection.clientId
  if (!same || now.disabledAt !== undefined) {
    throw new Problem(
      'sso_connection_disabled',
      'The connection was switched off or changed meanwhile.',
    )
  }
}

export function requireGroup(at: Attempt): void {
  const { requiredGroup } = at.connection.settings
  if (requiredGroup === undefined || at.person.groups?.includes(requiredGroup) === true) return
  throw new Problem(
    'sso_group_missing',
    at.person.groups === undefined
      ? `The identity provider sent no list of groups (claim ${at.connection.settings.claims.groups})${
          at.person.groupsLeftOut
            ? ', because you are in more groups than its tokens hold. Ask an administrator to send only the groups of this application.'
            : '.'
        }`
      : 'You are not in the group that this connection requires.',
  )
}

/** Returns the person's membership, if any; throws if the membership or the user was deactivated. */
export async function membershipOf(
  at: Attempt,
  user: UserRecord,
): Promise<MembershipRecord | undefined> {
  const found = await memberships.findByUser(at.tx, at.connection.organizationId, user.id)
  if (user.deactivatedAt !== undefined || found?.deactivatedAt !== undefined)
    throw membershipEnded()
  return found
}

/**
 * Returns what an owner must still approve before this sign-in may be linked to an owner's account. An administrator
 * may have set up the directory or the connection, and must not gain an owner's account through it.
 */
export async function awaitsOwner(at: Attempt): Promise<AwaitsOwner | undefined> {
  const { organizationId, setByOwner } = at.connection
  if (at.directoryIsOn) {
    for (const { createdBy, revokedAt } of await directoryTokens.list(at.tx, organizationId)) {
      // A token without a creator was issued by the operator.
      if (revokedAt !== undefined || createdBy === undefined) continue
      if (!(await isActiveOwner(at.tx, organizationId, createdBy as UserId))) return 'directory'
    }
  }
  return setByOwner ? undefined : 'connection'
}

/** Whether linking this sign-in to a person needs the person's confirmation because they are an owner. */
export async function ownerMustConfirm(at: Attempt, user: UserRecord): Promise<boolean> {
  if (!(await isActiveOwner(at.tx, at.connection.organizationId, user.id))) return false
  return (await awaitsOwner(at)) !== undefined
}

export async function refuseDeactivated(
  at: Attempt,
  candidates: readonly UserRecord[],
): Promise<void> {
  for (const user of candidates) {
    const found = await memberships.findByUser(at.tx, at.connection.organizationId, user.id)
    if (found?.deactivatedAt !== undefined) throw membershipEnded()
  }
}

/** Makes the person a member if they are not: by an open invitation, otherwise by their domain. */
export async function ensureMembership(at: Attempt, user: UserRecord): Promise<void> {
  const { tx, connection, actor, person } = at
  const { organizationId, settings } = connection
  if (await membershipOf(at, user)) return
  const self: Actor = { ...actor, kind: 'user', id: user.id, name: user.name }
  const invitation = await findInvitation(at)
  if (invitation) {
    await requirePowerFor(at, invitation)
    return void (await joinByInvitation(tx, { invitation, user }, self))
  }
  if (!settings.admitsNewPeople || at.directoryIsOn) {
    throw new Problem(
      'sso_not_admitted',
      'People join this organization by invitation or by its directory only.',
    )
  }
  const role = roleOf(settings, person.groups)
  const { name, email } = user
  await lifecycle.join(
    tx,
    { organizationId, userId: user.id, role, source: 'sso', name, email },
    self,
  )
}

/** Finds the organization's open invitation for the address that this sign-in has proven. */
export async function findInvitation(at: Attempt): Promise<InvitationRecord | undefined> {
  const { email, emailVerified } = await profileOf(at)
  if (email === undefined || !emailVerified) return undefined
  const open = await invitations.listOpenFor(at.tx, email, at.tx.now)
  return open.find((one) => one.organizationId === at.connection.organizationId)
}

/**
 * Refuses to make an invited person an owner while an owner must still approve the connection or the directory, because
 * an administrator may have set up either.
 */
async function requirePowerFor(at: Attempt, invitation: InvitationRecord): Promise<void> {
  if (invitation.role !== 'owner' || (await awaitsOwner(at)) === undefined) return
  throw new Problem(
    'sso_not_admitted',
    'Your invitation is for an owner, and no owner has set up this company sign-in. Open the link of the invitation and sign in another way, or ask an owner to save the connection.',
  )
}

/**
 * Gives a member who joined through company sign-in the role of their groups, unless the directory is on; never changes
 * other members or owners.
 */
export async function keepRole(at: Attempt, membership: MembershipRecord): Promise<void> {
  const { settings } = at.connection
  // Without a list of groups (which differs from an empty list) the role stays; the sign-in's audit entry says so.
  if (at.person.groups === undefined) return
  if (at.directoryIsOn || membership.source !== 'sso' || settings.groupRoles.length === 0) return
  const role = roleOf(settings, at.person.groups)
  if (membership.role === 'owner' || membership.role === role) return
  const member = {
    ...(await lifecycle.memberOf(at.tx, membership)),
    before: membership.role,
    after: role,
  }
  await lifecycle.changeRoles(at.tx, [member], { kind: 'system', name: at.connection.name })
}

/** Returns the highest role that the groups map to, or viewer if they map to none. */
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

/**
 * An address outside the organization's verified domains counts as unverified, because the organization's provider
 * cannot vouch for it.
 */
export async function profileOf(at: Attempt) {
  const { mail, mailVerified, name } = at.person
  const domain = mail && (await domains.findHeld(at.tx, mail.domain))
  const ours = domain?.organizationId === at.connection.organizationId
  return { email: mail?.address, emailVerified: mailVerified && ours, name }
}

export function membershipEnded(): Problem {
  return new Problem('sso_membership_ended', 'Your membership in this organization has ended.')
}
