import { requireEnterprise } from '../organizations/index.ts'
import {
  connections,
  identities,
  memberships,
  users,
  type Tx,
  type UserRecord,
} from '../store/index.ts'
import { membershipEnded, requireUnchanged } from './admission-conditions.ts'
import type { Connection } from './connections.ts'

/**
 * Refuses an admitted sign-in whose connection, membership or identity is no longer valid. The locks keep a session
 * from beginning just after a removal, a deactivation or a change of the provider has ended the other sessions.
 */
export async function requireStanding(
  tx: Tx,
  connection: Connection,
  { user, identityId }: { readonly user: UserRecord; readonly identityId: string },
): Promise<void> {
  const { organizationId } = connection
  await connections.lock(tx, organizationId, connection.id)
  await memberships.lock(tx, organizationId, { userId: user.id })
  await requireEnterprise(tx, organizationId)
  await requireUnchanged(tx, connection)
  const membership = await memberships.findByUser(tx, organizationId, user.id)
  const isMember = membership !== undefined && membership.deactivatedAt === undefined
  const now = await users.find(tx, user.id)
  if (!isMember || now === undefined || now.deactivatedAt !== undefined) throw membershipEnded()
  const living = await identities.listLiving(tx, user.id)
  if (!living.some(({ id }) => id === identityId)) throw membershipEnded()
}
