import { Problem } from '../errors.ts'
import type { OrganizationRecord } from '../store/index.ts'
import type { Key } from './keys.ts'
import { readOrganizationRate } from './rates/organization-rate.ts'
import type { KeyPrincipal } from './principal.ts'

/** Who would be calling with the current secret of a key, or why the key would be refused; for trials, not for calls. */
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
  return {
    kind: 'key',
    organizationId: key.organizationId,
    organizationSlug: organization.slug,
    keyId: key.id,
    name: key.name,
    hint: current.hint,
    scheme: key.scheme,
    digest: current.digest,
    isOldSecret: false,
    grants: key.grants,
    cidrs: key.cidrs,
    rateLimit: key.rateLimit,
    organizationRate: readOrganizationRate(organization.settings),
    quota: key.quota,
    personalUserId: key.personalUserId,
    expiresAt: key.expiresAt,
  }
}
