import { isAllowed } from '../core/caller.ts'
import { Problem } from '../../errors.ts'
import { Type, type Static } from '../../http/index.ts'
import type { OrganizationId } from '../../ids.ts'
import type { InvitationRecord, OrganizationRecord } from '../../store/index.ts'
import { checkFreshCaller } from '../core/admit.ts'
import { route } from '../core/route.ts'
import type { Services } from '../core/services.ts'
import { idCursor, limitOf, pageOf, pageQuery, toPageById } from '../core/paging.ts'
import { input, nullable, oneOf, Role, Time, time, timeOrNull } from '../core/schemas.ts'

const OrganizationInvitation = Type.Object(
  {
    id: Type.String(),
    email: Type.String(),
    role: Role,
    state: oneOf(['open', 'accepted', 'revoked', 'expired']),
    created_at: Time,
    created_by: nullable(Type.String()),
    expires_at: Time,
    accepted_at: nullable(Time),
  },
  { title: 'Invitation' },
)

/** An invitation as the invited person sees it. */
export const OwnInvitation = Type.Object(
  {
    id: Type.String(),
    email: Type.String(),
    role: Role,
    expires_at: Time,
    organization: Type.Object({ slug: Type.String(), name: Type.String() }),
  },
  { title: 'OwnInvitation' },
)

/** Invitations to an organization, and the routes for people who open an invitation's link. */
export const invitationRoutes = {
  'GET /organizations/:organization/invitations': route({
    summary: 'Invitations, newest first',
    permission: 'members.manage',
    query: Type.Object(pageQuery),
    answer: pageOf(OrganizationInvitation),
    handle: async ({ organization, query }, services) => {
      const page = { before: idCursor('inv', query.after), limit: limitOf(query) + 1 }
      return toPageById(query, await services.invitations.list(organization.id, page), (one) =>
        toInvitation(one, services.clock.now()),
      )
    },
  }),

  'POST /organizations/:organization/invitations': route({
    summary: 'Invite an e-mail address; the link is shown once',
    permission: 'members.manage',
    status: 201,
    body: input({ email: Type.String({ minLength: 3, maxLength: 254 }), role: Role }),
    answer: Type.Object({
      invitation: OrganizationInvitation,
      link: Type.String(),
      /** Whether the operator's mail server accepted the invitation's e-mail. */
      mailed: Type.Boolean(),
    }),
    check: async ({ organization, body, caller }, services) => {
      if (body.role !== 'owner') return
      if (!isAllowed(organization, 'owners.manage')) {
        throw new Problem('permission_required', 'Only an owner invites owners.', {
          members: { permission: 'owners.manage', role: organization.role },
        })
      }
      checkFreshCaller(caller, services)
    },
    handle: async ({ organization, body, actor }, services) => {
      const made = await services.invitations.invite(organization.id, body, actor)
      return { ...made, invitation: toInvitation(made.invitation, services.clock.now()) }
    },
  }),

  'DELETE /organizations/:organization/invitations/:invitation': route({
    summary: 'Withdraw an open invitation',
    permission: 'members.manage',
    handle: async ({ organization, param, actor }, services) => {
      await services.invitations.revoke(organization.id, param('invitation'), actor)
      return undefined
    },
  }),

  'GET /organizations/:organization/invitations/ways-in': route({
    summary:
      'The ways in which invited people can sign in; without one, an invitation cannot be accepted',
    permission: 'members.manage',
    answer: Type.Object(
      {
        /** The built-in providers that the operator has configured. */
        providers: Type.Array(Type.String()),
        /** Whether people can sign in through the organization's own provider. */
        company: Type.Boolean(),
      },
      { title: 'WaysIn' },
    ),
    handle: async ({ organization }, services) => ({
      providers: [...services.providers],
      company: await hasCompanySignIn(organization.id, services),
    }),
  }),

  'POST /invitations/look': route({
    summary: 'The invitation behind a link',
    permission: 'anyone',
    status: 200,
    body: input({ token: Type.String({ minLength: 20, maxLength: 100 }) }),
    answer: Type.Intersect([OwnInvitation, Type.Object({ company: Type.Boolean() })], {
      title: 'InvitationByLink',
    }),
    handle: async ({ body }, services) => {
      const found = await services.invitations.find(body.token)
      const company = await hasCompanySignIn(found.organization.id, services)
      return { ...toOwnInvitation(found), company }
    },
  }),

  'POST /invitations/accept': route({
    summary:
      'Join through an invitation link, with an identity whose provider has verified the invited address',
    permission: 'signed-in',
    status: 200,
    body: input({ token: Type.String({ minLength: 20, maxLength: 100 }) }),
    answer: Type.Object({ organization_id: Type.String(), role: Role }),
    handle: async ({ body, person, actor }, services) => {
      const joined = await services.invitations.accept(body.token, person, actor)
      return { organization_id: joined.organizationId, role: joined.role }
    },
  }),
}

/** Whether the organization has an enabled connection to its own provider. */
async function hasCompanySignIn(id: OrganizationId, services: Services): Promise<boolean> {
  const connections = await services.sso.connections.list(id)
  return connections.some(({ disabledAt }) => disabledAt === undefined)
}

export function toOwnInvitation(found: {
  invitation: InvitationRecord
  organization: OrganizationRecord
}): Static<typeof OwnInvitation> {
  const { invitation, organization } = found
  return {
    id: invitation.id,
    email: invitation.email,
    role: invitation.role,
    expires_at: time(invitation.expiresAt),
    organization: { slug: organization.slug, name: organization.name },
  }
}

function toInvitation(
  invitation: InvitationRecord,
  nowMs: number,
): Static<typeof OrganizationInvitation> {
  return {
    id: invitation.id,
    email: invitation.email,
    role: invitation.role,
    state: stateOf(invitation, nowMs),
    created_at: time(invitation.createdAt),
    created_by: invitation.createdBy ?? null,
    expires_at: time(invitation.expiresAt),
    accepted_at: timeOrNull(invitation.acceptedAt),
  }
}

function stateOf(
  invitation: InvitationRecord,
  nowMs: number,
): 'open' | 'accepted' | 'revoked' | 'expired' {
  if (invitation.acceptedAt !== undefined) return 'accepted'
  if (invitation.revokedAt !== undefined) return 'revoked'
  return invitation.expiresAt <= nowMs ? 'expired' : 'open'
}
