import { readKeyDefaults, requireOwnSignIn } from '../../access/index.ts'
import { Problem } from '../../errors.ts'
import { Type, type Static } from '../../http/index.ts'
import type { OrganizationRecord } from '../../store/index.ts'
import { route } from '../core/route.ts'
import type { Rooms } from '../core/services.ts'
import { input, nullable, oneOf, Role, Time, time } from '../core/schemas.ts'

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

const KeyDefaults = {
  scheme: oneOf(['x-api-key', 'bearer']),
  /** Days from a key's issue to its end; null = no end. */
  expiresAfterDays: nullable(Type.Integer({ minimum: 1, maximum: 3650 })),
  /** null = any address. */
  cidrs: nullable(Type.Array(Type.String({ maxLength: 50 }), { minItems: 1, maxItems: 100 })),
}
const OrganizationWithSettings = Type.Object(
  {
    ...Organization.properties,
    /** What a key that is issued without saying otherwise is like. */
    keyDefaults: Type.Object(KeyDefaults, { title: 'KeyDefaults' }),
    /** How long this Intercept keeps things, in seconds; the operator's settings. */
    retention: Type.Object(
      {
        callsSeconds: Type.Integer(),
        deliveriesSeconds: Type.Integer(),
        auditSeconds: Type.Integer(),
      },
      { title: 'Retention' },
    ),
  },
  { title: 'OrganizationWithSettings' },
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
    check: async ({ person }, rooms) => {
      requireOwnSignIn(person)
      if (rooms.signUp !== 'open') {
        throw new Problem(
          'permission_required',
          'The operator makes organizations here: npx intercept org create <slug>.',
        )
      }
    },
    handle: async ({ person, body, actor }, rooms) =>
      toOrganization(await rooms.members.createOrganization(person.userId, body, actor)),
  }),

  'GET /organizations/:organization': route({
    summary: 'One organization, the defaults of its keys, and how long things are kept',
    permission: 'traffic.see',
    answer: OrganizationWithSettings,
    handle: async ({ organization }, rooms) =>
      withSettings(await rooms.organizations.get(organization.id), rooms),
  }),

  'PATCH /organizations/:organization': route({
    summary: "Change an organization's name or the defaults of its keys; what is left out stays",
    permission: 'organization.manage',
    body: input({
      name: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
      keyDefaults: Type.Optional(
        Type.Object(
          {
            scheme: Type.Optional(KeyDefaults.scheme),
            expiresAfterDays: Type.Optional(KeyDefaults.expiresAfterDays),
            cidrs: Type.Optional(KeyDefaults.cidrs),
          },
          { title: 'KeyDefaultsWish', additionalProperties: false },
        ),
      ),
    }),
    answer: OrganizationWithSettings,
    handle: async ({ organization, body, actor, expectedVersion }, rooms) => {
      const wish = {
        name: body.name,
        keyDefaults: body.keyDefaults && toDefaults(body.keyDefaults),
      }
      const { change } = rooms.organizations
      return withSettings(await change(organization.id, wish, actor, expectedVersion), rooms)
    },
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

const dayMs = 86_400_000

/** Only what is named changes; null takes a default away. */
function toDefaults(body: {
  scheme?: 'x-api-key' | 'bearer'
  expiresAfterDays?: number | null
  cidrs?: string[] | null
}) {
  const { scheme, expiresAfterDays: days, cidrs } = body
  return {
    ...(scheme === undefined ? {} : { scheme }),
    ...(days === undefined ? {} : { expiresAfterMs: days === null ? undefined : days * dayMs }),
    ...(cidrs === undefined ? {} : { cidrs: cidrs ?? undefined }),
  }
}

function withSettings(
  organization: OrganizationRecord,
  { retention }: Rooms,
): Static<typeof OrganizationWithSettings> {
  const { scheme, expiresAfterMs, cidrs } = readKeyDefaults(organization.settings)
  return {
    ...toOrganization(organization),
    keyDefaults: {
      scheme,
      expiresAfterDays: expiresAfterMs === undefined ? null : Math.round(expiresAfterMs / dayMs),
      cidrs: cidrs === undefined ? null : [...cidrs],
    },
    retention: {
      callsSeconds: Math.round(retention.callsMs / 1000),
      deliveriesSeconds: Math.round(retention.deliveriesMs / 1000),
      auditSeconds: Math.round(retention.auditMs / 1000),
    },
  }
}
