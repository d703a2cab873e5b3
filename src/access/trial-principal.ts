import { Problem } from '../errors.ts'
import { digestBytes, digestFromHex } from '../secrets/index.ts'
import type { OrganizationRecord } from '../store/index.ts'
import { keyFault } from './key-fault.ts'
import type { Key } from './keys.ts'
import { readOrganizationRate } from './rates/organization-rate.ts'
import { keyPrincipal, type KeyPrincipal } from './key-memory/index.ts'

/** Returns the principal that a call with the key's current secret would have, or the refusal that it would get. */
export function principalOf(
  key: Key,
  organization: Pick<OrganizationRecord, 'slug' | 'settings'>,
  nowMs: number,
): KeyPrincipal | Problem {
  const [current] = key.secrets
  const { scheme, grants, cidrs, rateLimit, quota, expiresAt } = key
  const isRevoked =
    current === undefined || key.revokedAt !== undefined || key.suspendedAt !== undefined
  const shape = {
    ...{ scheme, grants, cidrs, rateLimit, quota, isOldSecret: false, isRevoked },
    organizationId: key.organizationId,
    organizationSlug: organization.slug,
    organizationRate: readOrganizationRate(organization.settings),
    text: '',
  }
  const principal = keyPrincipal(shape, {
    keyId: key.id,
    digest: current === undefined ? digestBytes('') : digestFromHex(current.digest),
    expiresAt,
  })
  const fault = keyFault(principal, { now: () => nowMs })
  return fault === undefined ? principal : new Problem(fault.code, fault.sentence)
}
