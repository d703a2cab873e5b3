import type { KeyId, OrganizationId, UserId } from '../ids.ts'
import type { Rate } from '../rate.ts'
import type { KeyRecord, KeySecretRecord } from '../store/index.ts'
import type { Grant, Quota, Scheme } from './schemes.ts'

/** A caller whom an API key has identified. */
export interface KeyPrincipal {
  readonly kind: 'key'
  readonly organizationId: OrganizationId
  readonly organizationSlug: string
  readonly keyId: KeyId
  readonly name: string
  readonly hint: string
  readonly scheme: Scheme
  /** The digest of the secret that was used; it distinguishes the old secret from the new one during a rotation. */
  readonly digest: string
  /** Whether the secret was rotated out and works only until the overlap ends. */
  readonly isOldSecret: boolean
  /** Undefined = every target, every method. */
  readonly grants: readonly Grant[] | undefined
  /** Undefined = every address. */
  readonly cidrs: readonly string[] | undefined
  readonly rateLimit: Rate | undefined
  /** The rate that all calls of the organization share. */
  readonly organizationRate: Rate | undefined
  readonly quota: Quota | undefined
  readonly personalUserId: UserId | undefined
  /** When the key or the secret expires, whichever comes first; milliseconds since 1970. */
  readonly expiresAt: number | undefined
}

/** The part of a principal that all keys of an organization have in common. */
export type OrganizationPart = Pick<
  KeyPrincipal,
  'organizationId' | 'organizationSlug' | 'organizationRate'
>

/** The principal that a secret of a key proves; the caller decides whether key and secret are still good. */
export function keyPrincipal(
  key: KeyRecord,
  secret: Pick<KeySecretRecord, 'digest' | 'hint' | 'validUntil'>,
  organization: OrganizationPart,
): KeyPrincipal {
  return {
    kind: 'key',
    organizationId: organization.organizationId,
    organizationSlug: organization.organizationSlug,
    keyId: key.id,
    name: key.name,
    hint: secret.hint,
    // Uses the constant: a string from the database would be one more copy in memory for every key.
    scheme: key.scheme === 'bearer' ? 'bearer' : 'x-api-key',
    digest: secret.digest,
    isOldSecret: secret.validUntil !== undefined,
    grants: key.grants,
    cidrs: key.cidrs,
    rateLimit: key.rateLimit,
    organizationRate: organization.organizationRate,
    quota: key.quota,
    personalUserId: key.personalUserId,
    expiresAt: earlier(key.expiresAt, secret.validUntil),
  }
}

function earlier(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)
}
