import { Type, type Static } from '../../http/index.ts'
import type { MemberRecord } from '../../store/index.ts'
import { checkFreshCaller } from '../core/admit.ts'
import { route } from '../core/route.ts'
import { Session, toSession } from './sessions.ts'
import { idCursor, limitOf, pageOf, pageQuery, toPageById } from '../core/paging.ts'
import { Confirmed, toConfirmed } from '../core/confirmed.ts'
import { input, nullable, Role, Time, time, timeOrNull } from '../core/schemas.ts'

const Member = Type.Object(
  {
    id: Type.String(),
    user_id: Type.String(),
    name: Type.String(),
    email: nullable(Type.String()),
    role: Role,
    /** How the member joined; `directory` means that SCIM keeps the membership in sync. */
    source: Type.String(),
    joined_at: Time,
    last_seen_at: nullable(Time),
    deactivated_at: nullable(Time),
    version: Type.Integer(),
  },
  { title: 'Member' },
)

const Ended = Type.Object(
  { sessions: Type.Integer(), keys: Type.Integer(), confirmation: Confirmed },
  { title: 'Ended' },
)

export const memberRoutes = {
  'GET /organizations/:organization/members': route({
    summary: 'Members, oldest first',
    permission: 'members.manage',
    query: Type.Object({
      ...pageQuery,
      role: Type.Optional(Role),
      /** An id, or part of a name or e-mail address. */
      search: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    }),
    answer: pageOf(Member),
    handle: async ({ organization, query }, services) => {
      const { role, search } = query
      const after = idCursor('mem', query.after)
      const page = { after, role, search, limit: limitOf(query) + 1 }
      return toPageById(query, await services.members.list(organization.id, page), toMember)
    },
  }),

  'GET /organizations/:organization/members/:member': route({
    summary: 'A member with their role and state',
    permission: 'members.manage',
    answer: Member,
    handle: async ({ organization, param }, services) =>
      toMember(await services.members.get(organization.id, param('member'))),
  }),

  'PATCH /organizations/:organization/members/:member': route({
    summary:
      "Change a member's role, or deactivate or reactivate them; a new role or a deactivation ends their sessions that reach the organization",
    permission: 'members.manage',
    body: input({ role: Type.Optional(Role), active: Type.Optional(Type.Boolean()) }),
    answer: Member,
    handle: async (request, services) => {
      const { organization, body, actor, expectedVersion } = request
      const id = request.param('member')
      const stepUp = (): void => checkFreshCaller(request.caller, services)
      const change = { organizationId: organization.id, id, actor, stepUp, expectedVersion }
      return toMember(await services.members.change({ ...change, ...body }))
    },
  }),

  'DELETE /organizations/:organization/members/:member': route({
    summary:
      'Remove a member; their sessions that reach the organization end, and their personal keys and access tokens are revoked',
    permission: 'members.manage',
    status: 200,
    answer: Ended,
    handle: async (request, services) => {
      const { organization, actor, expectedVersion } = request
      const id = request.param('member')
      const stepUp = (): void => checkFreshCaller(request.caller, services)
      const ended = await services.members.remove({
        organizationId: organization.id,
        id,
        actor,
        stepUp,
        expectedVersion,
      })
      return { ...ended, confirmation: toConfirmed(ended.confirmation) }
    },
  }),

  'GET /organizations/:organization/members/:member/sessions': route({
    summary: "A member's active sessions that reach the organization",
    permission: 'members.manage',
    answer: Type.Object({ items: Type.Array(Session) }),
    handle: async ({ organization, param, caller }, services) => {
      const living = await services.members.sessionsOf(organization.id, param('member'))
      return { items: living.map((session) => toSession(session, caller)) }
    },
  }),

  'DELETE /organizations/:organization/members/:member/sessions': route({
    summary: "End all of a member's sessions that reach the organization",
    permission: 'members.manage',
    status: 200,
    answer: Ended,
    handle: async ({ organization, param, actor }, services) => {
      const change = { organizationId: organization.id, id: param('member'), actor }
      const ended = await services.members.endSessions(change)
      return { ...ended, confirmation: toConfirmed(ended.confirmation) }
    },
  }),

  'DELETE /organizations/:organization/members/:member/sessions/:session': route({
    summary: 'End one session of a member',
    permission: 'members.manage',
    status: 200,
    answer: Ended,
    handle: async ({ organization, param, actor }, services) => {
      const change = { organizationId: organization.id, id: param('member'), actor }
      const ended = await services.members.endSessions(change, param('session'))
      return { ...ended, confirmation: toConfirmed(ended.confirmation) }
    },
  }),
}

function toMember(member: MemberRecord): Static<typeof Member> {
  return {
    id: member.id,
    user_id: member.userId,
    name: member.name,
    email: member.email ?? null,
    role: member.role,
    source: member.source,
    joined_at: time(member.createdAt),
    last_seen_at: timeOrNull(member.lastSeenAt),
    deactivated_at: timeOrNull(member.deactivatedAt),
    version: member.version,
  }
}
