import { Problem } from '../../errors.ts'
import type { KnownAccessToken } from '../../store/index.ts'
import { permissionsOf, type Permission, type Role } from './permissions.ts'

/** Returns the permissions that an organization's access token has right now; none if the token would be refused. */
export function permissionsOfToken(known: KnownAccessToken, nowMs: number): readonly Permission[] {
  const { token, creatorRole } = known
  if (tokenFault(known, nowMs) !== undefined || token.organizationId === undefined) return []
  const granted = token.permissions as readonly Permission[]
  if (token.creatorUserId === undefined) return granted
  const bound = permissionsOf(creatorRole as Role)
  return granted.filter((permission) => bound.includes(permission))
}

/** Returns undefined if the token is accepted. */
export function tokenFault(known: KnownAccessToken, nowMs: number): Problem | undefined {
  const { token, creatorRole } = known
  if (token.revokedAt !== undefined) {
    return new Problem('credential_revoked', 'The access token was revoked.')
  }
  if (token.expiresAt !== undefined && token.expiresAt <= nowMs) {
    return new Problem('credential_expired', 'The access token has expired.')
  }
  if (token.organizationId !== undefined && token.creatorUserId !== undefined && !creatorRole) {
    return new Problem(
      'credential_revoked',
      'The member who issued this access token is no longer in the organization.',
    )
  }
  return undefined
}
