import { readKeyDefaults, readOrganizationRate, requireOwnSignIn } from '../../access/index.ts'
import { Problem } from '../../errors.ts'
import { Type, type Static } from '../../http/index.ts'
import type { OrganizationRecord } from '../../store/index.ts'
import { route } from '../core/route.ts'
import type { Services } from '../core/services.ts'
import { input, nullable, oneOf, Role, Time, time } from '../core/schemas.ts'
import { Rate } from './target-schema.ts'
import { dayMs } from '../../units.ts'

export const Organization = Type.Object(
  {
    id: Type.String(),
    slug: Type.String(),
    name: Type.String(),
    plan: Type.String(),
    created_at: Time,
    version: Type.Integer(),
  },
  { title: 'Organization' },
)

const KeyDefaults = {
  scheme: oneOf(['x-api-key', 'bearer']),
  /** Days from a key's issue to its expiry; null means no expiry. */
  expires_after_days: nullable(Type.Integer({ minimum: 1, maximum: 3650 })),
  /** null means any address. */
  cidrs: nullable(Type.Array(Type.String({ maxLength: 50 }), { minItems: 1, maxItems: 100 })),
}
const OrganizationWithSettings = Type.Object(
  {
    ...Organization.properties,
    key_defaults: Type.Object(KeyDefaults, { title: 'KeyDefaults' }),
    /** The rate that all calls of the organization share, whatever their key or target; null means no limit. */
    rate_limit: nullable(Rate),
    /** How long this installation keeps data, in seconds; set by the operator. */
    retention: Type.Object(
      {
        calls_seconds: Type.Integer(),
        deliveries_seconds: Type.Integer(),
        audit_seconds: Type.Integer(),
      },
      { title: 'Retention' },
    ),
  },
  { title: 'OrganizationWithSettings' },
)

/** Organizations as their members see them. */
export const organizationRoutes = {
  'GET /organizations': route({
    summary: "The caller's organizations",
    permission: 'signed-in',
    answer: Type.Object({
      items: Type.Array(
        Type.Intersect([Organization, Type.Object({ role: Role })], { title: 'OwnOrganization' }),
      ),
    }),
    handle: async ({ person }, services) => ({
      items: (await services.members.organizationsOf(person)).map(({ organization, role }) => ({
        ...toOrganization(organization),
        role,
      })),
    }),
  }),

  'POST /organizations': route({
    summary: 'Create an organization and become its owner (if sign-up is open)',
    permission: 'signed-in',
    status: 201,
    body: input({
      slug: Type.String({ minLength: 1, maxLength: 40 }),
      name: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    }),
    answer: Organization,
    check: async ({ person }, services) => {
      requireOwnSignIn(person)
      if (services.signUp !== 'open') {
        throw new Problem(
          'permission_required',
          'The operator makes organizations here: npx interceptd org create <slug>.',
        )
      }
    },
    handle: async ({ person, body, actor }, services) =>
      toOrganization(await services.members.createOrganization(person.userId, body, actor)),
  }),

  'GET /organizations/:organization': route({
    summary:
      'One organization, with the defaults for new keys, its rate limit and the retention periods',
    permission: 'traffic.see',
    answer: OrganizationWithSettings,
    handle: async ({ organization }, services) =>
      withSettings(await services.organizations.get(organization.id), services),
  }),

  'PATCH /organizations/:organization': route({
    summary:
      "Change an organization's name, its rate limit or the defaults for new keys; omitted fields stay unchanged",
    permission: 'organization.manage',
    managed: { section: 'organization', param: 'organization' },
    body: input({
      name: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
      key_defaults: Type.Optional(
        Type.Object(
          {
            scheme: Type.Optional(KeyDefaults.scheme),
            expires_after_days: Type.Optional(KeyDefaults.expires_after_days),
            cidrs: Type.Optional(KeyDefaults.cidrs),
          },
          { title: 'KeyDefaultsInput', additionalProperties: false },
        ),
      ),
      rate_limit: Type.Optional(nullable(Rate)),
    }),
    answer: OrganizationWithSettings,
    handle: async ({ organization, body, actor, expectedVersion }, services) => {
      const { rate_limit: rate } = body
      const change = {
        name: body.name,
        keyDefaults: body.key_defaults && toDefaults(body.key_defaults),
        rateLimit: rate && { calls: rate.calls, perSeconds: rate.per_seconds, burst: rate.burst },
        expectedVersion,
      }
      const changed = await services.organizations.change(organization.id, change, actor)
      return withSettings(changed, services)
    },
  }),

  'DELETE /organizations/:organization': route({
    summary: 'Delete an organization; its keys are refused from now on',
    permission: 'organization.delete',
    freshSignIn: true,
    body: input({ slug: Type.String() }),
    handle: async ({ organization, body, actor }, services) => {
      if (body.slug !== organization.slug) {
        throw new Problem('invalid_input', `Type ${organization.slug} to delete it.`)
      }
      await services.organizations.remove(organization.id, actor)
      return undefined
    },
  }),
}

export function toOrganization(organization: OrganizationRecord): Static<typeof Organization> {
  return {
    id: organization.id,
    slug: organization.slug,
    name: organization.name,
    plan: organization.plan,
    created_at: time(organization.createdAt),
    version: organization.version,
  }
}

/** Converts the defaults for new keys from a request: omitted fields stay unchanged, and null removes a default. */
function toDefaults(body: {
  scheme?: 'x-api-key' | 'bearer'
  expires_after_days?: number | null
  cidrs?: string[] | null
}) {
  const { scheme, expires_after_days: days, cidrs } = body
  return {
    ...(scheme === undefined ? {} : { scheme }),
    ...(days === undefined ? {} : { expiresAfterMs: days === null ? undefined : days * dayMs }),
    ...(cidrs === undefined ? {} : { cidrs: cidrs ?? undefined }),
  }
}

function withSettings(
  organization: OrganizationRecord,
  { retention }: Services,
): Static<typeof OrganizationWithSettings> {
  const { scheme, expiresAfterMs, cidrs } = readKeyDefaults(organization.settings)
  const rate = readOrganizationRate(organization.settings)
  return {
    ...toOrganization(organization),
    key_defaults: {
      scheme,
      expires_after_days: expiresAfterMs === undefined ? null : Math.round(expiresAfterMs / dayMs),
      cidrs: cidrs === undefined ? null : [...cidrs],
    },
    rate_limit: rate
      ? {
          calls: rate.calls,
          per_seconds: rate.perSeconds,
          ...(rate.burst === undefined ? {} : { burst: rate.burst }),
        }
      : null,
    retention: {
      calls_seconds: Math.round(retention.callsMs / 1000),
      deliveries_seconds: Math.round(retention.deliveriesMs / 1000),
      audit_seconds: Math.round(retention.auditMs / 1000),
    },
  }
}
