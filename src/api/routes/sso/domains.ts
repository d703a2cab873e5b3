import { Type, type Static } from '../../../http/index.ts'
import { challengeRecord } from '../../../sso/index.ts'
import type { DomainRecord } from '../../../store/index.ts'
import { route } from '../../core/route.ts'
import { input, nullable, oneOf, Time, time, timeOrNull } from '../../core/schemas.ts'

const Domain = Type.Object(
  {
    id: Type.String(),
    /** The domain's name in lower-case ASCII (IDNA). */
    name: Type.String(),
    state: oneOf(['waiting', 'verified', 'lost']),
    /** The connection for people with an address at this domain; null means the default one. */
    connection_id: nullable(Type.String()),
    /**
     * The DNS record that proves ownership. DNS panels ask for its complete name (`name`) or for the name without the
     * domain (`relative_name`).
     */
    record: Type.Object({
      type: Type.String(),
      name: Type.String(),
      relative_name: Type.String(),
      value: Type.String(),
    }),
    created_at: Time,
    verified_at: nullable(Time),
    verified_by: nullable(oneOf(['dns', 'operator'])),
    lost_at: nullable(Time),
    checked_at: nullable(Time),
    next_check_at: nullable(Time),
    /** The result of the last DNS check. */
    seen: nullable(
      Type.Object({
        kind: Type.String(),
        sentence: Type.String(),
        values: Type.Array(Type.String()),
      }),
    ),
  },
  { title: 'Domain' },
)

const collection = '/organizations/:organization/domains'
const one = `${collection}/:domain`

/** An organization's mail domains. */
export const domainRoutes = {
  [`GET ${collection}` as const]: route({
    summary: 'Domains, ordered by name',
    permission: 'sso.manage',
    answer: Type.Object({ items: Type.Array(Domain) }),
    handle: async ({ organization }, services) => ({
      items: (await services.sso.domains.list(organization.id)).map(toDomain),
    }),
  }),

  [`POST ${collection}` as const]: route({
    summary:
      'Add a domain, which takes effect once its TXT record is found or the operator verifies it',
    permission: 'sso.manage',
    freshSignIn: true,
    status: 201,
    body: input({
      name: Type.String({ minLength: 1, maxLength: 253 }),
      connection_id: Type.Optional(Type.String({ maxLength: 40 })),
    }),
    answer: Domain,
    handle: async ({ organization, body, actor }, services) => {
      if (body.connection_id !== undefined) {
        await services.sso.connections.get(organization.id, body.connection_id)
      }
      return toDomain(await services.sso.domains.add(organization.id, body, actor))
    },
  }),

  [`GET ${one}` as const]: route({
    summary: 'A domain with its DNS record and the last check',
    permission: 'sso.manage',
    answer: Domain,
    handle: async ({ organization, param }, services) =>
      toDomain(await services.sso.domains.get(organization.id, param('domain'))),
  }),

  [`PATCH ${one}` as const]: route({
    summary: 'Route sign-ins from a domain to another connection',
    permission: 'sso.manage',
    managed: { section: 'domains', param: 'domain' },
    freshSignIn: true,
    body: input({ connection_id: nullable(Type.String({ maxLength: 40 })) }),
    answer: Domain,
    handle: async ({ organization, param, body, actor }, services) => {
      const connectionId = body.connection_id ?? undefined
      const { connections, domains } = services.sso
      if (connectionId !== undefined) await connections.get(organization.id, connectionId)
      const route = { connectionId, actor }
      return toDomain(await domains.route(organization.id, param('domain'), route))
    },
  }),

  [`POST ${one}/check` as const]: route({
    summary: "Look up a domain's TXT record now; the response contains what DNS returned",
    permission: 'sso.manage',
    status: 200,
    answer: Domain,
    handle: async ({ organization, param, actor }, services) =>
      toDomain(await services.sso.domains.check(organization.id, param('domain'), actor)),
  }),

  [`DELETE ${one}` as const]: route({
    summary:
      'Remove a domain; sign-ins with its e-mail addresses are no longer routed to a connection',
    permission: 'sso.manage',
    managed: { section: 'domains', param: 'domain' },
    freshSignIn: true,
    handle: async ({ organization, param, actor }, services) => {
      await services.sso.domains.remove(organization.id, param('domain'), actor)
      return undefined
    },
  }),
}

function toDomain(domain: DomainRecord): Static<typeof Domain> {
  const values = domain.seen?.['values']
  const record = challengeRecord(domain)
  return {
    id: domain.id,
    name: domain.name,
    state: stateOf(domain),
    connection_id: domain.connectionId ?? null,
    record: {
      type: record.type,
      name: record.name,
      relative_name: record.relativeName,
      value: record.value,
    },
    created_at: time(domain.createdAt),
    verified_at: timeOrNull(domain.verifiedAt),
    verified_by: domain.verifiedBy ?? null,
    lost_at: timeOrNull(domain.lostAt),
    checked_at: timeOrNull(domain.checkedAt),
    next_check_at: timeOrNull(domain.nextCheckAt),
    seen:
      domain.seen === undefined
        ? null
        : {
            kind: String(domain.seen['kind']),
            sentence: String(domain.seen['sentence']),
            values: Array.isArray(values) ? values.map(String) : [],
          },
  }
}

function stateOf(domain: DomainRecord): 'waiting' | 'verified' | 'lost' {
  if (domain.verifiedAt !== undefined) return 'verified'
  return domain.lostAt === undefined ? 'waiting' : 'lost'
}
