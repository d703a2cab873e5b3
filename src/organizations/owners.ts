import type { OrganizationId, UserId } from '../ids.ts'
import { memberships, users, type Actor, type Transaction } from '../store/index.ts'

/** Whether somebody is an owner who can act: neither the membership nor the person is deactivated. */
export async function isActiveOwner(
  tx: Transaction,
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

/** Whether an owner of the organization does this, or the operator, who stands above owners. */
export async function isOwner(
  tx: Transaction,
  organizationId: OrganizationId,
  actor: Actor,
): Promise<boolean> {
  if (actor.kind === 'operator') return true
  if (actor.kind !== 'user' || actor.id === undefined) return false
  return await isActiveOwner(tx, organizationId, actor.id as UserId)
}
