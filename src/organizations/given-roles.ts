import { heldPermissions, permissionsOf, type Permission, type Role } from '../access/index.ts'
import { Problem } from '../errors.ts'
import type { OrganizationId } from '../ids.ts'
import type { Actor, Tx } from '../store/index.ts'

/**
 * Throws `permission_required` for a role with a permission that the giver lacks, unless the member already has that
 * permission (`had`). Call this function inside the transaction that writes the role.
 */
export async function requirePowerToGive(
  tx: Tx,
  by: { readonly organizationId: OrganizationId; readonly actor: Actor },
  given: { readonly role: Role; readonly had?: Role | undefined },
): Promise<void> {
  const { organizationId, actor } = by
  // Roles do not limit the operator; directories, providers and Intercept itself carry out what people have decided.
  if (actor.kind !== 'user' && actor.kind !== 'token') return
  const had = given.had === undefined ? [] : permissionsOf(given.had)
  const gained = permissionsOf(given.role).filter((permission) => !had.includes(permission))
  if (gained.length === 0) return
  const own: readonly Permission[] = await heldPermissions(tx, organizationId, actor)
  const missing = gained.find((permission) => !own.includes(permission))
  if (missing === undefined) return
  throw new Problem(
    'permission_required',
    `You cannot give the role ${given.role}: it includes ${missing}, which you do not have.`,
    { members: { permission: missing } },
  )
}

/**
 * Like `requirePowerToGive`, for the roles that groups of a directory or a provider grant; members of such groups are
 * at least viewers anyway.
 */
export async function requirePowerOfGroups(
  tx: Tx,
  by: { readonly organizationId: OrganizationId; readonly actor: Actor },
  roles: readonly Role[],
): Promise<void> {
  for (const role of new Set(roles)) await requirePowerToGive(tx, by, { role, had: 'viewer' })
}
