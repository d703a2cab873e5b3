import type { KeyId, OrganizationId, UserId } from '../ids.ts'
import type { Rate } from '../rate.ts'
import type { Grant, Quota, Scheme } from './schemes.ts'

/** Who is calling by an API key, proven. */
export interface KeyPrincipal {
  readonly kind: 'key'
  readonly organizationId: OrganizationId
  readonly organizationSlug: string
  readonly keyId: KeyId
  readonly name: string
  readonly hint: string
  readonly scheme: Scheme
  /** The digest of the secret that was used: it tells old from new during a rotation. */
  readonly digest: string
  /** The secret has been rotated and works only for the overlap. */
  readonly isOldSecret: boolean
  /** Undefined = every target, every method. */
  readonly grants: readonly Grant[] | undefined
  /** Undefined = every address. */
  readonly cidrs: readonly string[] | undefined
  readonly rateLimit: Rate | undefined
  /** What all calls of the organization share. */
  readonly organizationRate: Rate | undefined
  readonly quota: Quota | undefined
  readonly personalUserId: UserId | undefined
  /** Milliseconds since 1970 at which key and secret stop, whichever comes first. */
  readonly expiresAt: number | undefined
}
