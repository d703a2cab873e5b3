import { isRole, type Role, type SignedIn } from '../access/index.ts'
import { record } from '../audit/index.ts'
import type { Clock } from '../clock.ts'
import { Problem } from '../errors.ts'
import { createId, type OrganizationId } from '../ids.ts'
import { digest, randomToken } from '../secrets/index.ts'
import {
  connections,
  identities,
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
import { joinByInvitation } from './join.ts'
import type { Post } from './mail.ts'
import { emailOf } from './name.ts'
import { organizationBehind } from './own-account.ts'
import { requireActingOwner } from './owners.ts'

const lifetimeMs = 7 * 24 * 3600 * 1000
const tokenBytes = 32
const onlyOwners = {
  permission: 'owners.manage',
  detail: 'Only an owner invites owners.',
} as const

/** Invitations: by link, and by mail where a mail server is set. */
export interface Invitations {
  /** The link is in this answer (and the mail) and nowhere else. `invalid_input`, `permission_required`. */
  invite(
    organizationId: OrganizationId,
    wish: { email: string; role: Role },
    actor: Actor,
  ): Promise<{ invitation: InvitationRecord; link: string; mailed: boolean }>
  list(
    organizationId: OrganizationId,
    page: { before?: string | undefined; limit: number },
  ): Promise<InvitationRecord[]>
  /** `not_found` for one that is not open. */
  revoke(organizationId: OrganizationId, id: string, actor: Actor): Promise<InvitationRecord>
  /** What an invitation's link leads to. `invitation_invalid`. */
  look(token: string): Promise<{ invitation: InvitationRecord; organization: OrganizationRecord }>
  /** Joins by link. `invitation_invalid`, `invitation_for_other`, `conflict`. */
  accept(token: string, person: SignedIn, actor: Actor): Promise<MembershipRecord>
  /** Joins by an invitation found through a verified address of one's own. `not_found`, `conflict`. */
  acceptOwn(id: string, person: SignedIn, actor: Actor): Promise<MembershipRecord>
  /** Open invitations for a person's verified addresses. */
  openFor(
    person: SignedIn,
  ): Promise<{ invitation: InvitationRecord; organization: OrganizationRecord }[]>
}

/** An address that a provider has verified, and the invitations that its word opens. */
interface Proof {
  readonly email: string
  readonly opens: (invitation: InvitationRecord) => boolean
}

/** Opens the invitations' rules. */
export function createInvitations(deps: {
  store: Store
  clock: Clock
  baseUrl: string
  post: Post
}): Invitations {
  const { store, clock, baseUrl } = deps

  async function find(token: string): Promise<InvitationRecord> {
    const invitation = await invitations.findByDigest(store, digest(token))
    const open =
      invitation !== undefined &&
      invitation.acceptedAt === undefined &&
      invitation.revokedAt === undefined &&
      invitation.expiresAt > clock.now()
    if (!open) throw invalid()
    return invitation
  }

  async function organizationOf(invitation: InvitationRecord): Promise<OrganizationRecord> {
    const organization = await organizations.find(store, invitation.organizationId)
    if (!organization) throw invalid()
    return organization
  }

  /**
   * Identities that prove an address of this person; what they typed themselves counts for nothing. An organization's
   * own provider speaks for its invitations only, and for one as owner only if an owner stands behind the connection;
   * a session that it vouched for takes up no other organization's, whatever else the person has proven.
   */
  async function proofsOf(person: SignedIn): Promise<Proof[]> {
    const proofs: Proof[] = []
    const behind = await organizationBehind(store, person)
    for (const identity of await identities.listLiving(store, person.userId)) {
      const { email, emailVerified, connectionId, awaitsOwner } = identity
      if (!emailVerified || email === undefined) continue
      const connection =
        connectionId === '' ? undefined : await connections.findForSignIn(store, connectionId)
      const isOwners = connection?.setByOwner === true && awaitsOwner === undefined
      proofs.push({
        email,
        opens: ({ organizationId, role }) =>
          (behind === undefined || behind === organizationId) &&
          (connectionId === '' ||
            (connection?.organizationId === organizationId && (role !== 'owner' || isOwners))),
      })
    }
    return proofs
  }

  async function openFor(person: SignedIn) {
    const found: InvitationRecord[] = []
    for (const { email, opens } of await proofsOf(person)) {
      found.push(...(await invitations.listOpenFor(store, email, clock.now())).filter(opens))
    }
    const open = [...new Map(found.map((one) => [one.id, one])).values()]
    return await Promise.all(
      open.map(async (invitation) => ({
        invitation,
        organization: await organizationOf(invitation),
      })),
    )
  }

  async function join(
    invitation: InvitationRecord,
    person: SignedIn,
    actor: Actor,
  ): Promise<MembershipRecord> {
    return await store.transaction(async (tx) => {
      const user = await users.find(tx, person.userId)
      if (!user) throw invalid()
      return await joinByInvitation(tx, invitation, user, actor)
    })
  }

  return {
    openFor,
    async invite(organizationId, wish, actor) {
      const email = emailOf(wish.email)
      if (!isRole(wish.role)) throw new Problem('invalid_input', 'There is no such role.')
      const token = randomToken(tokenBytes)
      const invitation = await store.transaction(async (tx) => {
        if (wish.role === 'owner') {
          await requireActingOwner(tx, { organizationId, actor }, onlyOwners)
        }
        await requirePowerToGive(tx, { organizationId, actor }, { role: wish.role })
        await invitations.revokeOpenFor(tx, organizationId, email)
        const made = await invitations.insert(tx, {
          id: createId('inv', clock.now()),
          organizationId,
          email,
          role: wish.role,
          createdBy: actor.id,
          expiresAt: tx.now + lifetimeMs,
          digest: digest(token),
        })
        announceInvited(tx, made, actor)
        return made
      })
      const organization = await organizationOf(invitation)
      const link = `${baseUrl}/invitations/${token}`
      const letter = { to: email, organization: organization.name, role: wish.role, link }
      const mailed = await deps.post.sendInvitation(letter)
      return { invitation, link, mailed }
    },
    list: async (organizationId, page) => await invitations.list(store, organizationId, page),
    async revoke(organizationId, id, actor) {
      return await store.transaction(async (tx) => {
        const revoked = await invitations.revoke(tx, organizationId, id)
        if (!revoked) throw new Problem('not_found', 'There is no such open invitation.')
        recordInvitation(tx, 'invitation.revoked', revoked, actor)
        return revoked
      })
    },
    async look(token) {
      const invitation = await find(token)
      return { invitation, organization: await organizationOf(invitation) }
    },
    async accept(token, person, actor) {
      const invitation = await find(token)
      const key = users.emailKey(invitation.email)
      const own = (await proofsOf(person)).some(
        ({ email, opens }) => users.emailKey(email) === key && opens(invitation),
      )
      if (!own) {
        throw new Problem(
          'invitation_for_other',
          `The invitation is for ${invitation.email}. Sign in with an identity whose provider has verified that address.`,
        )
      }
      return await join(invitation, person, actor)
    },
    async acceptOwn(id, person, actor) {
      const open = await openFor(person)
      const found = open.find(({ invitation }) => invitation.id === id)
      if (!found) throw new Problem('not_found', 'There is no such invitation for you.')
      return await join(found.invitation, person, actor)
    },
  }
}

function announceInvited(tx: Tx, invitation: InvitationRecord, actor: Actor): void {
  recordInvitation(tx, 'member.invited', invitation, actor)
  publish(tx, {
    organizationId: invitation.organizationId,
    type: 'member.invited',
    data: { invitation_id: invitation.id, email: invitation.email, role: invitation.role },
  })
}

function recordInvitation(
  tx: Tx,
  action: string,
  invitation: InvitationRecord,
  actor: Actor,
): void {
  record(tx, {
    organizationId: invitation.organizationId,
    actor,
    action,
    subject: { kind: 'invitation', id: invitation.id },
    detail: { email: invitation.email, role: invitation.role },
  })
}

function invalid(): Problem {
  return new Problem(
    'invitation_invalid',
    'The invitation was used, withdrawn, or is older than 7 days. Ask for a new one.',
  )
}
