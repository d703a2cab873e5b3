import { requireOwnSignIn } from '../access/index.ts'
import { Problem } from '../errors.ts'
import { Type, type Static } from '../http/index.ts'
import type { OrganizationRecord } from '../store/index.ts'
import { route } from './route.ts'
import { input, Role, Time, time } from './shapes.ts'

const Organization = Type.Object(
  {
    id: Type.String(),
    slug: Type.String(),
    name: Type.String(),
    plan: Type.String(),
    createdAt: Time,
    version: Type.Integer(),
  },
  { title: 'Organization' },
)

/** Organizations as their members see them. */
export const organizationRoutes = {
  'GET /organizations': route({
    summary: 'The organizations of the caller',
    permission: 'signed-in',
    answer: Type.Object({
      items: Type.Array(
        Type.Intersect([Organization, Type.Object({ role: Role })], { title: 'OwnOrganization' }),
      ),
    }),
    handle: async ({ person }, rooms) => ({
      items: (await rooms.members.organizationsOf(person)).map(({ organization, role }) => ({
        ...toOrganization(organization),
        role,
      })),
    }),
  }),

  'POST /organizations': route({
    summary: 'Make an organization and own it (where sign-up is open)',
    permission: 'signed-in',
    status: 201,
    body: input({
      slug: Type.String({ minLength: 1, maxLength: 40 }),
      name: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    }),
    answer: Organization,
    handle: async ({ person, body, actor }, rooms) => {
      requireOwnSignIn(person)
      if (rooms.signUp !== 'open') {
        throw new Problem(
          'permission_required',
          'The operator makes organizations here: npx intercept org create <slug>.',
        )
      }
      return toOrganization(await rooms.members.createOrganization(person.userId, body, actor))
    },
  }),

  'GET /organizations/:organization': route({
    summary: 'One organization',
    permission: 'traffic.see',
    answer: Organization,
    handle: async ({ organization }, rooms) =>
      toOrganization(await rooms.organizations.get(organization.id)),
  }),

  'PATCH /organizations/:organization': route({
    summary: "Change an organization's name",
    permission: 'organization.manage',
    body: input({ name: Type.String({ minLength: 1, maxLength: 100 }) }),
    answer: Organization,
    handle: async ({ organization, body, actor, expectedVersion }, rooms) =>
      toOrganization(
        await rooms.organizations.rename(organization.id, body.name, actor, expectedVersion),
      ),
  }),

  'DELETE /organizations/:organization': route({
    summary: 'Delete an organization; its keys are refused from now on',
    permission: 'organization.delete',
    freshSignIn: true,
    body: input({ slug: Type.String() }),
    handle: async ({ organization, body, actor }, rooms) => {
      if (body.slug !== organization.slug) {
        throw new Problem('invalid_input', `Type ${organization.slug} to delete it.`)
      }
      await rooms.organizations.remove(organization.id, actor)
      return undefined
    },
  }),
}

function toOrganization(organization: OrganizationRecord): Static<typeof Organization> {
  return {
    id: organization.id,
    slug: organization.slug,
    name: organization.name,
    plan: organization.plan,
    createdAt: time(organization.createdAt),
    version: organization.version,
  }
}
