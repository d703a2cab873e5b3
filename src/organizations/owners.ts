import { heldPermissions, type Permission } from '../access/index.ts'
import { Problem } from '../errors.ts'
import type { OrganizationId, UserId } from '../ids.ts'
import { memberships, users, type Actor, type Tx } from '../store/index.ts'

/** Whether a person is an owner who can act: neither the membership nor the person is deactivated. */
export async function isActiveOwner(
  tx: Tx,
  organizationId: OrganizationId,
  userId: UserId,
): Promise<boolean> {
  const membership = await memberships.findByUser(tx, organizationId, userId)
  const user = await users.find(tx, userId)
  return (
    membership?.role === 'owner' &&
    membership.deactivatedAt === undefined &&
    user?.deactivatedAt === undefined
  )
}

/**
 * Whether the actor has an owner's power (`owners.manage`); locks the membership and the token from which the power
 * comes.
 */
export async function isOwner(
  tx: Tx,
  organizationId: OrganizationId,
  actor: Actor,
): Promise<boolean> {
  return (await heldPermissions(tx, organizationId, actor)).includes('owners.manage')
}

/**
 * Throws `permission_required` unless the actor has an owner's power at this moment. Call this function inside the
 * transaction that then writes.
 */
export async function requireActingOwner(
  tx: Tx,
  act: { readonly organizationId: OrganizationId; readonly actor: Actor },
  refusal: { readonly permission: Permission; readonly detail: string },
): Promise<void> {
  const { organizationId, actor } = act
  if (await isOwner(tx, organizationId, actor)) return
  const own = await memberships.findByUser(tx, organizationId, (actor.id ?? '') as UserId)
  const role = own === undefined ? {} : { role: own.role }
  const members = { permission: refusal.permission, ...role }
  throw new Problem('permission_required', refusal.detail, { members })
}
