import type { Key, Keys } from '../../access/index.ts'
import { Type, type Static } from '../../http/index.ts'
import { nullable, oneOf, Time, time, timeOrNull } from '../core/schemas.ts'

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

const Grant = Type.Object(
  {
    target: Type.String({ minLength: 1, maxLength: 60 }),
    /** Missing = every method. */
    methods: Type.Optional(Type.Array(oneOf(methods), { minItems: 1, maxItems: 10 })),
  },
  { title: 'Grant', additionalProperties: false },
)
const RateLimit = Type.Object(
  {
    calls: Type.Integer({ minimum: 1, maximum: 1_000_000_000 }),
    perSeconds: Type.Integer({ minimum: 1, maximum: 86_400 }),
  },
  { title: 'RateLimit', additionalProperties: false },
)
const Quota = Type.Object(
  {
    calls: Type.Integer({ minimum: 1, maximum: 1_000_000_000_000 }),
    period: oneOf(['day', 'month']),
  },
  { title: 'Quota', additionalProperties: false },
)

/** What a person decides about a key; null or missing means no limit, every target, every address, no end. */
export const keyWishProperties = {
  name: Type.String({ minLength: 1, maxLength: 100 }),
  grants: Type.Optional(nullable(Type.Array(Grant, { minItems: 1, maxItems: 100 }))),
  cidrs: Type.Optional(
    nullable(Type.Array(Type.String({ maxLength: 50 }), { minItems: 1, maxItems: 100 })),
  ),
  rateLimit: Type.Optional(nullable(RateLimit)),
  quota: Type.Optional(nullable(Quota)),
  expiresAt: Type.Optional(nullable(Time)),
}

const KeySecret = Type.Object(
  {
    hint: Type.String(),
    createdAt: Time,
    /** null for the current one. */
    validUntil: nullable(Time),
    lastUsedAt: nullable(Time),
    lastUsedAddress: nullable(Type.String()),
    lastUsedAgent: nullable(Type.String()),
  },
  { title: 'KeySecret' },
)

export const ApiKey = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    hint: Type.String(),
    scheme: oneOf(['x-api-key', 'bearer']),
    state: oneOf(['active', 'suspended', 'expired', 'revoked']),
    grants: nullable(Type.Array(Grant)),
    cidrs: nullable(Type.Array(Type.String())),
    rateLimit: nullable(RateLimit),
    quota: nullable(Quota),
    createdAt: Time,
    createdBy: nullable(Type.String()),
    personalUserId: nullable(Type.String()),
    expiresAt: nullable(Time),
    revokedAt: nullable(Time),
    revokedBy: nullable(Type.String()),
    lastUsedAt: nullable(Time),
    lastUsedAddress: nullable(Type.String()),
    lastUsedAgent: nullable(Type.String()),
    lastUsedTargetId: nullable(Type.String()),
    secrets: Type.Array(KeySecret),
    version: Type.Integer(),
  },
  { title: 'ApiKey' },
)

/** A key as it is answered: hints, never secrets. */
export function toApiKey(key: Key, nowMs: number): Static<typeof ApiKey> {
  return {
    id: key.id,
    name: key.name,
    hint: key.secrets[0]?.hint ?? '',
    scheme: key.scheme,
    state: stateOf(key, nowMs),
    grants: key.grants?.map(toGrant) ?? null,
    cidrs: key.cidrs ? [...key.cidrs] : null,
    rateLimit: key.rateLimit ?? null,
    quota: key.quota ?? null,
    createdAt: time(key.createdAt),
    createdBy: key.createdBy ?? null,
    personalUserId: key.personalUserId ?? null,
    expiresAt: timeOrNull(key.expiresAt),
    revokedAt: timeOrNull(key.revokedAt),
    revokedBy: key.revokedBy ?? null,
    lastUsedAt: timeOrNull(key.lastUsedAt),
    lastUsedAddress: key.lastUsedAddress ?? null,
    lastUsedAgent: key.lastUsedAgent ?? null,
    lastUsedTargetId: key.lastUsedTargetId ?? null,
    secrets: key.secrets.map((secret) => ({
      hint: secret.hint,
      createdAt: time(secret.createdAt),
      validUntil: timeOrNull(secret.validUntil),
      lastUsedAt: timeOrNull(secret.lastUsedAt),
      lastUsedAddress: secret.lastUsedAddress ?? null,
      lastUsedAgent: secret.lastUsedAgent ?? null,
    })),
    version: key.version,
  }
}

function toGrant(grant: NonNullable<Key['grants']>[number]): Static<typeof Grant> {
  const known = methods.filter((method) => grant.methods?.includes(method))
  return grant.methods ? { target: grant.target, methods: known } : { target: grant.target }
}

function stateOf(key: Key, nowMs: number): 'active' | 'suspended' | 'expired' | 'revoked' {
  if (key.revokedAt !== undefined) return 'revoked'
  if (key.expiresAt !== undefined && key.expiresAt <= nowMs) return 'expired'
  return key.suspendedAt === undefined ? 'active' : 'suspended'
}

const callerProperties = {
  address: Type.String(),
  agent: nullable(Type.String()),
  /** The target of the last call, as long as it exists. */
  target: nullable(Type.String()),
  calls: Type.Integer(),
  lastSeenAt: Time,
}

export const KeyCallers = Type.Object(
  {
    /** Callers that still use the old secret of a rotation, the last seen first. */
    stragglers: Type.Array(
      Type.Object(
        { hint: Type.String(), ...callerProperties, firstSeenAt: Time },
        { title: 'KeyStraggler' },
      ),
    ),
    /** Callers of the newest calls, the last seen first. */
    recent: Type.Array(Type.Object(callerProperties, { title: 'KeyCaller' })),
    /** How many calls were looked at for them. */
    recentCalls: Type.Integer(),
  },
  { title: 'KeyCallers' },
)

/** Who calls with a key, as it is answered. */
export function toKeyCallers(
  { recent, stragglers }: Awaited<ReturnType<Keys['callers']>>,
  slugOf: (targetId: string) => string | undefined,
): Static<typeof KeyCallers> {
  const caller = (one: (typeof recent)['callers'][number]) => ({
    address: one.address,
    agent: one.agent ?? null,
    target: (one.targetId === undefined ? undefined : slugOf(one.targetId)) ?? null,
    calls: one.calls,
    lastSeenAt: time(one.lastSeenAt),
  })
  return {
    stragglers: stragglers.map((one) => ({
      hint: one.hint,
      ...caller(one),
      firstSeenAt: time(one.firstSeenAt),
    })),
    recent: recent.callers.map(caller),
    recentCalls: recent.of,
  }
}
