import type { Key, KeyInput, Keys } from '../../access/index.ts'
import { snakeCased } from '../../store/index.ts'
import type { Remote } from './connection.ts'
import { part } from './organizations.ts'
import {
  createSecret,
  msOf,
  organizationFor,
  timeOf,
  toConfirmation,
  type Confirmed,
} from './values.ts'

type IssueInput = Parameters<Keys['issue']>[1]

interface WhoAmIJson {
  readonly organization: { readonly slug: string }
  readonly key: {
    readonly id: string
    readonly name: string
    readonly hint: string
    readonly expires_at: string | null
  }
}

interface KeyJson {
  readonly [name: string]: unknown
  readonly rate_limit: { calls: number; per_seconds: number; burst?: number } | null
  readonly secrets: readonly { readonly hint: string }[]
}

/** What commands do with keys, over the API. */
export function remoteKeys(remote: Remote) {
  const at = (organizationId: string, id?: string): string =>
    `/organizations/${part(organizationId)}/keys${id === undefined ? '' : `/${part(id)}`}`
  return {
    organizationOf: async () => organizationFor(remote) as Key['organizationId'],
    list: async (organizationId, { limit }) =>
      (await remote.list<KeyJson>(at(organizationId), limit)).map(toKey),
    get: async (organizationId, id) => toKey(await remote.call(`GET ${at(organizationId, id)}`)),
    async issue(organizationId, input) {
      const body = { ...bodyOf(input), scheme: input.scheme }
      const made = await remote.call<{ key: KeyJson; secret: string }>(
        `POST ${at(organizationId)}`,
        body,
      )
      return { key: toKey(made.key), secret: createSecret(made.secret) }
    },
    edit: async (organizationId, id, input) =>
      toKey(await remote.call(`PUT ${at(organizationId, id)}`, bodyOf(input))),
    async rotate(organizationId, id, overlapMs) {
      const done = await remote.call<{ key: KeyJson; secret: string; confirmation: Confirmed }>(
        `POST ${at(organizationId, id)}/rotate`,
        { overlap_seconds: Math.round(overlapMs / 1000) },
      )
      const { key, secret, confirmation } = done
      return {
        key: toKey(key),
        secret: createSecret(secret),
        confirmation: toConfirmation(confirmation),
      }
    },
    async revoke(organizationId, id) {
      const { key, confirmation } = await remote.call<{ key: KeyJson; confirmation: Confirmed }>(
        `POST ${at(organizationId, id)}/revoke`,
        {},
      )
      return { key: toKey(key), confirmation: toConfirmation(confirmation) }
    },
  } satisfies Partial<Keys>
}

/** Whose a key is that works, as the guarded area answers it. */
export async function whoIs(remote: Remote, credential: Readonly<Record<string, string>>) {
  const { organization, key } = await remote.whoAmI<WhoAmIJson>(credential)
  const { id, name, hint } = key
  return { id, name, hint, organization: organization.slug, expiresAt: msOf(key.expires_at) }
}

/** What is undefined is left out: for a new key the default, for an edit no limit. */
function bodyOf(input: KeyInput | IssueInput) {
  const { name, grants, cidrs, rateLimit, quota, expiresAt } = input
  return {
    ...{ name, grants, cidrs, quota },
    rate_limit: snakeCased(rateLimit),
    expires_at: timeOf(expiresAt),
  }
}

function toKey(json: KeyJson): Key {
  const text = (name: string): string | undefined => (json[name] as string | null) ?? undefined
  const { rate_limit: rate } = json
  return {
    id: json['id'],
    organizationId: '',
    name: json['name'],
    scheme: json['scheme'],
    createdAt: msOf(json['created_at']),
    createdBy: text('created_by'),
    personalUserId: text('personal_user_id'),
    grants: json['grants'] ?? undefined,
    cidrs: json['cidrs'] ?? undefined,
    rateLimit: rate
      ? {
          calls: rate.calls,
          perSeconds: rate.per_seconds,
          ...(rate.burst === undefined ? {} : { burst: rate.burst }),
        }
      : undefined,
    quota: json['quota'] ?? undefined,
    expiresAt: msOf(json['expires_at']),
    revokedAt: msOf(json['revoked_at']),
    revokedBy: text('revoked_by'),
    suspendedAt: json['state'] === 'suspended' ? 0 : undefined,
    lastUsedAt: msOf(json['last_used_at']),
    lastUsedAddress: text('last_used_address'),
    lastUsedAgent: text('last_used_agent'),
    lastUsedTargetId: text('last_used_target_id'),
    version: json['version'],
    secrets: json.secrets,
  } as unknown as Key
}
