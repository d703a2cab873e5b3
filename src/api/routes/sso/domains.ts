import { Type, type Static } from '../../../http/index.ts'
import { challengeRecord } from '../../../sso/index.ts'
import type { DomainRecord } from '../../../store/index.ts'
import { route } from '../../core/route.ts'
import { input, nullable, oneOf, Time, time, timeOrNull } from '../../core/schemas.ts'

const Domain = Type.Object(
  {
    id: Type.String(),
    /** ASCII (IDNA), lower case. */
    name: Type.String(),
    state: oneOf(['waiting', 'verified', 'lost']),
    /** Where its people sign in; null means the default connection. */
    connectionId: nullable(Type.String()),
    /** The proof, in both forms that DNS panels take. */
    record: Type.Object({
      type: Type.String(),
      name: Type.String(),
      relativeName: Type.String(),
      value: Type.String(),
    }),
    createdAt: Time,
    verifiedAt: nullable(Time),
    verifiedBy: nullable(oneOf(['dns', 'operator'])),
    lostAt: nullable(Time),
    checkedAt: nullable(Time),
    nextCheckAt: nullable(Time),
    /** What the DNS showed at the last check. */
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

/** Mail domains of an organization. */
export const domainRoutes = {
  [`GET ${collection}` as const]: route({
    summary: 'Domains by name',
    permission: 'sso.manage',
    answer: Type.Object({ items: Type.Array(Domain) }),
    handle: async ({ organization }, rooms) => ({
      items: (await rooms.sso.domains.list(organization.id)).map(toDomain),
    }),
  }),

  [`POST ${collection}` as const]: route({
    summary: 'Add a domain; it counts once its TXT record is seen',
    permission: 'sso.manage',
    freshSignIn: true,
    status: 201,
    body: input({
      name: Type.String({ minLength: 1, maxLength: 253 }),
      connectionId: Type.Optional(Type.String({ maxLength: 40 })),
    }),
    answer: Domain,
    handle: async ({ organization, body, actor }, rooms) => {
      if (body.connectionId !== undefined) {
        await rooms.sso.connections.get(organization.id, body.connectionId)
      }
      return toDomain(await rooms.sso.domains.add(organization.id, body, actor))
    },
  }),

  [`GET ${one}` as const]: route({
    summary: 'One domain',
    permission: 'sso.manage',
    answer: Domain,
    handle: async ({ organization, param }, rooms) =>
      toDomain(await rooms.sso.domains.get(organization.id, param('domain'))),
  }),

  [`PATCH ${one}` as const]: route({
    summary: 'Send people of this domain to another connection',
    permission: 'sso.manage',
    freshSignIn: true,
    body: input({ connectionId: nullable(Type.String({ maxLength: 40 })) }),
    answer: Domain,
    handle: async ({ organization, param, body, actor }, rooms) => {
      const id = body.connectionId ?? undefined
      if (id !== undefined) await rooms.sso.connections.get(organization.id, id)
      return toDomain(await rooms.sso.domains.route(organization.id, param('domain'), id, actor))
    },
  }),

  [`POST ${one}/check` as const]: route({
    summary: 'Ask the DNS now; the answer says what it saw',
    permission: 'sso.manage',
    status: 200,
    answer: Domain,
    handle: async ({ organization, param, actor }, rooms) =>
      toDomain(await rooms.sso.domains.check(organization.id, param('domain'), actor)),
  }),

  [`DELETE ${one}` as const]: route({
    summary: 'Remove a domain; its addresses are no longer routed',
    permission: 'sso.manage',
    freshSignIn: true,
    handle: async ({ organization, param, actor }, rooms) => {
      await rooms.sso.domains.remove(organization.id, param('domain'), actor)
      return undefined
    },
  }),
}

function toDomain(domain: DomainRecord): Static<typeof Domain> {
  const values = domain.seen?.['values']
  return {
    id: domain.id,
    name: domain.name,
    state: stateOf(domain),
    connectionId: domain.connectionId ?? null,
    record: challengeRecord(domain),
    createdAt: time(domain.createdAt),
    verifiedAt: timeOrNull(domain.verifiedAt),
    verifiedBy: domain.verifiedBy ?? null,
    lostAt: timeOrNull(domain.lostAt),
    checkedAt: timeOrNull(domain.checkedAt),
    nextCheckAt: timeOrNull(domain.nextCheckAt),
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
