import { Type } from '../http/index.ts'
import type { UserId } from '../ids.ts'
import { route, type RouteRequest } from './route.ts'
import type { Rooms } from './rooms.ts'
import { input, nullable } from './shapes.ts'

const Policy = Type.Object(
  {
    required: Type.Boolean(),
    /** Owners who may sign in another way in an emergency. */
    breakGlass: Type.Array(
      Type.Object({ userId: Type.String(), name: Type.String(), email: nullable(Type.String()) }),
    ),
    /** Whether the directory (SCIM) decides who is a member; joining by domain is then off. */
    directoryIsOn: Type.Boolean(),
    /** What people open, or bookmark, to sign in. */
    loginUri: Type.String(),
  },
  { title: 'SsoPolicy' },
)

/** Whether the company sign-in is required. */
export const ssoRoutes = {
  'GET /organizations/:organization/sso': route({
    summary: 'Whether the company sign-in is required, and who is excepted',
    permission: 'sso.manage',
    answer: Policy,
    handle: async (request, rooms) => await answer(request, rooms),
  }),

  'PUT /organizations/:organization/sso': route({
    summary: 'Require the company sign-in, or not; at least one owner is excepted',
    permission: 'sso.manage',
    freshSignIn: true,
    body: input({
      required: Type.Boolean(),
      breakGlass: Type.Array(Type.String({ maxLength: 40 }), { maxItems: 10 }),
    }),
    answer: Policy,
    handle: async (request, rooms) => {
      const { organization, body, actor } = request
      const breakGlass = body.breakGlass as UserId[]
      await rooms.sso.policies.set(organization.id, { required: body.required, breakGlass }, actor)
      return await answer(request, rooms)
    },
  }),
}

async function answer({ organization }: Pick<RouteRequest, 'organization'>, rooms: Rooms) {
  const policy = await rooms.sso.policies.get(organization.id)
  const people = await Promise.all(policy.breakGlass.map(async (id) => await rooms.people.get(id)))
  return {
    required: policy.required,
    breakGlass: people.map(({ id, name, email }) => ({ userId: id, name, email: email ?? null })),
    directoryIsOn: await rooms.sso.policies.directoryIsOn(organization.id),
    loginUri: `${rooms.baseUrl}/api/v1/auth/sso/login?organization=${organization.slug}`,
  }
}
