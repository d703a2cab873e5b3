import type { Role as MemberRole } from '../../../access/index.ts'
import { Type } from '../../../http/index.ts'
import type { OrganizationId, UserId } from '../../../ids.ts'
import { sessions } from '../../../store/index.ts'
import { route, type RouteRequest } from '../../core/route.ts'
import type { Services } from '../../core/services.ts'
import { input, nullable, Role } from '../../core/schemas.ts'

const Policy = Type.Object(
  {
    required: Type.Boolean(),
    /** Owners who may sign in another way in an emergency. */
    break_glass: Type.Array(
      Type.Object({ user_id: Type.String(), name: Type.String(), email: nullable(Type.String()) }),
    ),
    /** Whether the directory (SCIM) decides who is a member; joining by domain is then off. */
    directory_is_on: Type.Boolean(),
    /** The URL that people open or bookmark to sign in. */
    login_uri: Type.String(),
  },
  { title: 'SsoPolicy' },
)

/** Whether company sign-in is required. */
export const ssoRoutes = {
  'GET /organizations/:organization/sso': route({
    summary: 'Whether company sign-in is required, and who is exempt',
    permission: 'sso.manage',
    answer: Policy,
    handle: async (request, services) => await answer(request, services),
  }),

  'PUT /organizations/:organization/sso': route({
    summary: 'Set whether company sign-in is required; if it is, at least one owner must be exempt',
    permission: 'sso.manage',
    freshSignIn: true,
    body: input({
      required: Type.Boolean(),
      break_glass: Type.Array(Type.String({ maxLength: 40 }), { maxItems: 10 }),
    }),
    answer: Policy,
    handle: async (request, services) => {
      const { organization, body, actor } = request
      const breakGlass = body.break_glass as UserId[]
      await services.sso.policies.set(
        organization.id,
        { required: body.required, breakGlass },
        actor,
      )
      return await answer(request, services)
    },
  }),

  'POST /organizations/:organization/sso/preview': route({
    summary: 'Who would be signed out of the organization if company sign-in were required',
    permission: 'sso.manage',
    status: 200,
    body: input({ break_glass: Type.Array(Type.String({ maxLength: 40 }), { maxItems: 10 }) }),
    answer: Type.Object(
      {
        /** The people who would be affected, the most recently seen first. */
        people: Type.Array(
          Type.Object({
            user_id: Type.String(),
            name: Type.String(),
            role: Role,
            sessions: Type.Integer(),
          }),
        ),
        sessions: Type.Integer(),
        /** True if the limit of sessions to examine was reached. */
        more: Type.Boolean(),
      },
      { title: 'SsoPreview' },
    ),
    handle: async ({ organization, body }, services) =>
      await preview(organization.id, body.break_glass, services),
  }),
}

const maxLookedAt = 2000

/** Lists the people whose sessions would lose access if company sign-in were required. */
async function preview(organizationId: OrganizationId, breakGlass: string[], services: Services) {
  const organization = await services.organizations.get(organizationId)
  const sso = { required: true, breakGlass }
  const afterwards = { ...organization, settings: { ...organization.settings, sso } }
  // This is a slow read, because sorting the sessions of all members takes a while in a large organization.
  const found = await sessions.listOfMembers(services.store.slowReads, {
    organizationId,
    nowMs: services.clock.now(),
    limit: maxLookedAt,
  })
  const people = new Map<
    string,
    { user_id: string; name: string; role: MemberRole; sessions: number }
  >()
  let out = 0
  for (const session of found) {
    const { userId, userName: name, role } = session
    if ((await services.sso.policies.reachOf(session, afterwards, { role })) !== 'sso_required')
      continue
    out++
    const one = people.get(userId) ?? { user_id: userId, name, role, sessions: 0 }
    people.set(userId, { ...one, sessions: one.sessions + 1 })
  }
  return { people: [...people.values()], sessions: out, more: found.length === maxLookedAt }
}

async function answer({ organization }: Pick<RouteRequest, 'organization'>, services: Services) {
  const policy = await services.sso.policies.get(organization.id)
  const people = await Promise.all(
    policy.breakGlass.map(async (id) => await services.people.get(id)),
  )
  return {
    required: policy.required,
    break_glass: people.map(({ id, name, email }) => ({ user_id: id, name, email: email ?? null })),
    directory_is_on: await services.sso.policies.directoryIsOn(organization.id),
    login_uri: `${services.baseUrl}/api/v1/auth/sso/login?organization=${organization.slug}`,
  }
}
