import { Problem } from '../errors.ts'
import type { OrganizationRecord } from '../store/index.ts'
import type { Key } from './keys.ts'
import { readOrganizationRate } from './rates/organization-rate.ts'
import { keyPrincipal, type KeyPrincipal } from './key-memory/index.ts'

/** The principal that the current secret of a key would prove, or why it would be refused; for trials, not for calls. */
export function principalOf(
  key: Key,
  organization: Pick<OrganizationRecord, 'slug' | 'settings'>,
  nowMs: number,
): KeyPrincipal | Problem {
  const [current] = key.secrets
  if (!current || key.revokedAt !== undefined || key.suspendedAt !== undefined) {
    return new Problem('credential_revoked', 'The API key was revoked.')
  }
  if (key.expiresAt !== undefined && key.expiresAt <= nowMs) {
    return new Problem('credential_expired', 'The API key has expired.')
  }
  const { scheme, grants, cidrs, rateLimit, quota } = key
  const shape = {
    ...{ scheme, grants, cidrs, rateLimit, quota, isOldSecret: false, isRevoked: false },
    organizationId: key.organizationId,
    organizationSlug: organization.slug,
    organizationRate: readOrganizationRate(organization.settings),
    text: '',
  }
  const { expiresAt } = key
  return keyPrincipal(shape, { keyId: key.id, digest: current.digest, expiresAt })
}
