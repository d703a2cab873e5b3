import type { KeyId, OrganizationId } from '../../ids.ts'
import type { DigestBytes } from '../../secrets/index.ts'
import type { Rate } from '../../rate.ts'
import type { Grant, KeySharedPart, Quota, Scheme } from '../../store/index.ts'

export interface KeyPrincipal {
  readonly kind: 'key'
  readonly organizationId: OrganizationId
  readonly organizationSlug: string
  readonly keyId: KeyId
  readonly scheme: Scheme
  /** The digest of the secret that was used; it distinguishes the old secret from the new one during a rotation. */
  readonly digest: DigestBytes
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
  /** When the key or the secret expires, whichever comes first; milliseconds since 1970. */
  readonly expiresAt: number | undefined
}

/** The part of a principal that all keys of an organization have in common. */
export type OrganizationPart = Pick<
  KeyPrincipal,
  'organizationId' | 'organizationSlug' | 'organizationRate'
>

/** The part of a principal that many keys have in common. Shapes of one organization are equal if their texts are. */
export interface KeyShape extends OrganizationPart, KeySharedPart {
  readonly text: string
}

/** The part of a principal that is stored for each key. */
type OwnPart = Pick<KeyPrincipal, 'keyId' | 'digest' | 'expiresAt'>

/** A principal as it is remembered, whether or not its key still works. */
export interface KnownKey extends KeyPrincipal {
  readonly shape: KeyShape
}

/** Does not check whether the key and its secret are still valid. */
export function keyPrincipal(shape: KeyShape, { keyId, digest, expiresAt }: OwnPart): KnownKey {
  return {
    kind: 'key',
    shape,
    organizationId: shape.organizationId,
    organizationSlug: shape.organizationSlug,
    keyId,
    scheme: shape.scheme,
    digest,
    isOldSecret: shape.isOldSecret,
    grants: shape.grants,
    cidrs: shape.cidrs,
    rateLimit: shape.rateLimit,
    organizationRate: shape.organizationRate,
    quota: shape.quota,
    expiresAt,
  }
}
