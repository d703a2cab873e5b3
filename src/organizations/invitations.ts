import { isRole, type Role, type SignedIn } from '../access/index.ts'
import type { Clock } from '../clock.ts'
import { Problem } from '../errors.ts'
import { createId, type OrganizationId } from '../ids.ts'
import { digest, randomToken } from '../secrets/index.ts'
import {
  invitations,
  organizations,
  users,
  type Actor,
  type InvitationRecord,
  type MembershipRecord,
  type OrganizationRecord,
  type Store,
  type Tx,
} from '../store/index.ts'
import { publish } from '../webhooks/events/index.ts'
import { requirePowerToGive } from './given-roles.ts'
import { verifiedAddressesOf } from './invitation-access.ts'
import { recordInvitation } from './audit-entries.ts'
import { joinByInvitation } from './join.ts'
import type { Mailer } from './mail.ts'
import { emailOf } from './name.ts'
import { requireActingOwner } from './owners.ts'
import { dayMs } from '../units.ts'

const lifetimeMs = 7 * dayMs
const tokenBytes = 32
const onlyOwners = {
  permission: 'owners.manage',
  detail: 'Only an owner invites owners.',
} as const

export interface OpenInvitation {
  readonly invitation: InvitationRecord
  readonly organization: OrganizationRecord
}

export interface InvitationsDeps {
  readonly store: Store
  readonly clock: Clock
  readonly baseUrl: string
  readonly mailer: Pick<Mailer, 'sendInvitation'>
}

/** Invitations by link, and by mail if a mail server is configured. */
export class Invitations {
  readonly #deps: InvitationsDeps
  readonly #store: Store

  constructor(deps: InvitationsDeps) {
    this.#deps = deps
    this.#store = deps.store
  }

  /**
   * Creates an invitation and revokes the organization's open invitations for the same address; the link is stored
   * nowhere. Throws `invalid_input`, `permission_required`.
   */
  async invite(
    organizationId: OrganizationId,
    input: { readonly email: string; readonly role: Role },
    actor: Actor,
  ): Promise<{ invitation: InvitationRecord; link: string; mailed: boolean }> {
    const { clock, baseUrl, mailer } = this.#deps
    const { role } = input
    const email = emailOf(input.email)
    if (!isRole(role)) throw new Problem('invalid_input', 'There is no such role.')
    const token = randomToken(tokenBytes)
    const invitation = await this.#store.transaction(async (tx) => {
      if (role === 'owner') await requireActingOwner(tx, { organizationId, actor }, onlyOwners)
      await requirePowerToGive(tx, { organizationId, actor }, { role })
      await invitations.revokeOpenFor(tx, organizationId, email)
      const made = await invitations.insert(tx, {
        ...{ organizationId, email, role },
        id: createId('inv', clock.now()),
        createdBy: actor.id,
        expiresAt: tx.now + lifetimeMs,
        digest: digest(token),
      })
      announceInvited(tx, made, actor)
      return made
    })
    const { name } = await this.#organizationOf(invitation)
    const link = `${baseUrl}/invitations/${token}`
    const mailed = await mailer.sendInvitation({ to: email, organization: name, role, link })
    return { invitation, link, mailed }
  }

  async list(
    organizationId: OrganizationId,
    page: { before?: string | undefined; limit: number },
  ): Promise<InvitationRecord[]> {
    return await invitations.list(this.#store, organizationId, page)
  }

  /** Revokes an open invitation; throws `not_found` for any other. */
  async revoke(
    organizationId: OrganizationId,
    id: string,
    actor: Actor,
  ): Promise<InvitationRecord> {
    return await this.#store.transaction(async (tx) => {
      const revoked = await invitations.revoke(tx, organizationId, id)
      if (!revoked) throw new Problem('not_found', 'There is no such open invitation.')
      recordInvitation(tx, revoked, { actor, action: 'invitation.revoked' })
      return revoked
    })
  }

  /** Returns the open invitation behind a link. Throws `invitation_invalid`. */
  async find(token: string): Promise<OpenInvitation> {
    const invitation = await this.#findOpen(token)
    return { invitation, organization: await this.#organizationOf(invitation) }
  }

  /** Joins through a link. Throws `invitation_invalid`, `invitation_for_other` or `conflict`. */
  async accept(token: string, person: SignedIn, actor: Actor): Promise<MembershipRecord> {
    const invitation = await this.#findOpen(token)
    const key = users.emailKey(invitation.email)
    const addresses = await verifiedAddressesOf(this.#store, person)
    const isTheirs = addresses.some(
      ({ email, opens }) => users.emailKey(email) === key && opens(invitation),
    )
    if (!isTheirs) {
      throw new Problem(
        'invitation_for_other',
        `The invitation is for ${invitation.email}. Sign in with an identity whose provider has verified that address.`,
      )
    }
    return await this.#join(invitation, person, actor)
  }

  /**
   * Joins by an invitation to one of the person's own verified addresses, without its link. Throws `not_found`,
   * `invitation_invalid`, `conflict`.
   */
  async acceptOwn(id: string, person: SignedIn, actor: Actor): Promise<MembershipRecord> {
    const open = await this.openFor(person)
    const found = open.find(({ invitation }) => invitation.id === id)
    if (!found) throw new Problem('not_found', 'There is no such invitation for you.')
    return await this.#join(found.invitation, person, actor)
  }

  /** Lists the open invitations to a person's verified addresses that the person may accept in this session. */
  async openFor(person: SignedIn): Promise<OpenInvitation[]> {
    const nowMs = this.#deps.clock.now()
    const found = new Map<string, InvitationRecord>()
    for (const { email, opens } of await verifiedAddressesOf(this.#store, person)) {
      const open = await invitations.listOpenFor(this.#store, email, nowMs)
      for (const invitation of open.filter(opens)) found.set(invitation.id, invitation)
    }
    return await Promise.all(
      [...found.values()].map(async (invitation) => ({
        invitation,
        organization: await this.#organizationOf(invitation),
      })),
    )
  }

  async #findOpen(token: string): Promise<InvitationRecord> {
    const invitation = await invitations.findByDigest(this.#store, digest(token))
    const isOpen =
      invitation !== undefined &&
      invitation.acceptedAt === undefined &&
      invitation.revokedAt === undefined &&
      invitation.expiresAt > this.#deps.clock.now()
    if (!isOpen) throw invalid()
    return invitation
  }

  async #join(
    invitation: InvitationRecord,
    person: SignedIn,
    actor: Actor,
  ): Promise<MembershipRecord> {
    return await this.#store.transaction(async (tx) => {
      const user = await users.find(tx, person.userId)
      if (!user) throw invalid()
      return await joinByInvitation(tx, { invitation, user }, actor)
    })
  }

  async #organizationOf(invitation: InvitationRecord): Promise<OrganizationRecord> {
    const organization = await organizations.find(this.#store, invitation.organizationId)
    if (!organization) throw invalid()
    return organization
  }
}

function announceInvited(tx: Tx, invitation: InvitationRecord, actor: Actor): void {
  recordInvitation(tx, invitation, { actor, action: 'member.invited' })
  publish(tx, {
    organizationId: invitation.organizationId,
    type: 'member.invited',
    data: { invitation_id: invitation.id, email: invitation.email, role: invitation.role },
  })
}

function invalid(): Problem {
  return new Problem(
    'invitation_invalid',
    'The invitation was used, withdrawn, or is older than 7 days. Ask for a new one.',
  )
}
