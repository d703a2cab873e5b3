import type { OrganizationId, UserId } from '../../ids.ts'
import {
  accessTokens,
  memberships,
  users,
  type Actor,
  type Db,
  type Tx,
} from '../../store/index.ts'
import { permissions, permissionsOf, type Permission } from './permissions.ts'
import { permissionsOfToken } from './token-permissions.ts'

/**
 * Returns the permissions that an actor has in an organization right now, which may be fewer than when its request was
 * authorized.
 */
export async function permissionsNow(
  db: Db,
  organizationId: OrganizationId,
  { actor, nowMs }: { readonly actor: Pick<Actor, 'kind' | 'id'>; readonly nowMs: number },
): Promise<readonly Permission[]> {
  if (actor.kind === 'operator') return Object.keys(permissions) as Permission[]
  if (actor.id === undefined) return []
  if (actor.kind === 'token') {
    const known = await accessTokens.findKnown(db, organizationId, actor.id)
    return known ? permissionsOfToken(known, nowMs) : []
  }
  if (actor.kind !== 'user') return []
  const membership = await memberships.findByUser(db, organizationId, actor.id as UserId)
  if (!membership || membership.deactivatedAt !== undefined) return []
  const user = await users.find(db, membership.userId)
  return user?.deactivatedAt === undefined ? permissionsOf(membership.role) : []
}

/**
 * Like `permissionsNow`, but for a transaction that goes on to write: locks the membership and the token from which the
 * permissions come.
 */
export async function heldPermissions(
  tx: Tx,
  organizationId: OrganizationId,
  actor: Actor,
): Promise<readonly Permission[]> {
  if (actor.id === undefined)
    return await permissionsNow(tx, organizationId, { actor, nowMs: tx.now })
  const token =
    actor.kind === 'token' ? await accessTokens.findKnown(tx, organizationId, actor.id) : undefined
  // The removal of a member locks the member before the token; locking them in another order here could cause a
  // deadlock.
  const userId = actor.kind === 'user' ? actor.id : token?.token.creatorUserId
  if (userId !== undefined) await memberships.lock(tx, organizationId, { userId })
  if (token !== undefined) await accessTokens.lock(tx, organizationId, actor.id)
  return await permissionsNow(tx, organizationId, { actor, nowMs: tx.now })
}
