import {
  everyField,
  fieldsFromJson,
  fieldsToJson,
  keyStateAt,
  type Key,
  type KeyFieldsJson,
  type KeyInput,
  type Keys,
} from '../../access/index.ts'
import { Type, type Static, type TSchema } from '../../http/index.ts'
import { keys } from '../../store/index.ts'
import { momentOf } from '../core/moments.ts'
import { nullable, oneOf, Time, time, timeOrNull } from '../core/schemas.ts'

/** The fields of a key as a response shows them; null means that no value is set. */
const editableColumns = eachField((schema) => nullable(schema)) as {
  readonly [Name in keyof KeyFieldsJson]: Type.TUnsafe<KeyFieldsJson[Name]>
}
/** Members of a key that a response shows and nobody can edit. */
const shownColumns = Object.fromEntries(
  Object.entries(keys.shownSchemas).map(([name, schema]) => [name, Type.Unsafe(schema)]),
) as { readonly [Name in keyof keys.KeyShown]: Type.TUnsafe<keys.KeyShown[Name]> }
/** The fields of a key as a request sends them; null means that the key gets no value. */
const askedFields = eachField((schema) => Type.Optional(nullable(schema))) as {
  readonly [Name in keyof KeyFieldsJson]: Type.TOptional<Type.TUnsafe<KeyFieldsJson[Name]>>
}

function eachField(change: (schema: TSchema) => TSchema): unknown {
  const schemas = everyField.map(([name, { schema }]) => [name, change(Type.Unsafe(schema))])
  return Object.fromEntries(schemas)
}

/**
 * The fields of a key that a request may set. A missing optional field means the same as null, except that a new key
 * takes the organization's default if there is one.
 */
export const keyInputProperties = {
  name: Type.String({ minLength: 1, maxLength: 100 }),
  ...askedFields,
  expires_at: Type.Optional(nullable(Time)),
}

const KeyBody = Type.Object(keyInputProperties)

export function toKeyInput(body: Static<typeof KeyBody>): KeyInput {
  return {
    name: body.name,
    ...fieldsFromJson(body),
    expiresAt: body.expires_at == null ? undefined : momentOf(body.expires_at),
  }
}

const KeySecret = Type.Object(
  {
    hint: Type.String(),
    created_at: Time,
    /** null for the current secret. */
    valid_until: nullable(Time),
    last_used_at: nullable(Time),
    last_used_address: nullable(Type.String()),
    last_used_agent: nullable(Type.String()),
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
    ...editableColumns,
    expires_at: nullable(Time),
    ...shownColumns,
    secrets: Type.Array(KeySecret),
    version: Type.Integer(),
  },
  { title: 'ApiKey' },
)

/** Converts a key to the API's form, with only the hints of its secrets. */
export function toApiKey(key: Key, nowMs: number): Static<typeof ApiKey> {
  return {
    id: key.id,
    name: key.name,
    hint: key.secrets[0]?.hint ?? '',
    scheme: key.scheme,
    state: keyStateAt(key, nowMs),
    ...fieldsToJson(key),
    expires_at: timeOrNull(key.expiresAt),
    ...keys.shownOf(key),
    secrets: key.secrets.map((secret) => ({
      hint: secret.hint,
      created_at: time(secret.createdAt),
      valid_until: timeOrNull(secret.validUntil),
      last_used_at: timeOrNull(secret.lastUsedAt),
      last_used_address: secret.lastUsedAddress ?? null,
      last_used_agent: secret.lastUsedAgent ?? null,
    })),
    version: key.version,
  }
}

const callerProperties = {
  address: Type.String(),
  agent: nullable(Type.String()),
  /** The slug of a target that the caller called lately; null if none is known or it no longer exists. */
  target: nullable(Type.String()),
  calls: Type.Integer(),
  last_seen_at: Time,
}

export const KeyCallers = Type.Object(
  {
    /** Up to 200 callers that have used an old but still valid secret of the key, most recent first. */
    stragglers: Type.Array(
      Type.Object(
        { hint: Type.String(), ...callerProperties, first_seen_at: Time },
        { title: 'KeyStraggler' },
      ),
    ),
    /** Callers of the newest calls, most recent first. */
    recent: Type.Array(Type.Object(callerProperties, { title: 'KeyCaller' })),
    /** How many of the key's newest calls were examined to find the callers in `recent`. */
    recent_calls: Type.Integer(),
  },
  { title: 'KeyCallers' },
)

export function toKeyCallers(
  { recent, stragglers }: Awaited<ReturnType<Keys['callers']>>,
  slugOf: (targetId: string) => string | undefined,
): Static<typeof KeyCallers> {
  const caller = (one: (typeof recent)['callers'][number]) => ({
    address: one.address,
    agent: one.agent ?? null,
    target: (one.targetId === undefined ? undefined : slugOf(one.targetId)) ?? null,
    calls: one.calls,
    last_seen_at: time(one.lastSeenAt),
  })
  return {
    stragglers: stragglers.map((one) => ({
      hint: one.hint,
      ...caller(one),
      first_seen_at: time(one.firstSeenAt),
    })),
    recent: recent.callers.map(caller),
    recent_calls: recent.of,
  }
}
