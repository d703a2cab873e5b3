import { limitLocks } from '../../db/brief-locks.ts'
import type { Tx } from '../../db/db.ts'

/**
 * Locks an organization's head until the transaction ends, so that no other transaction publishes an event or records an
 * audit entry of the organization meanwhile. Call it before locking anything else, to avoid deadlocks.
 */
export async function lockHead(tx: Tx, organizationId: string): Promise<void> {
  await limitLocks(tx)
  await tx.query
    .updateTable('organization_head')
    .set((eb) => ({ event_sequence: eb.ref('event_sequence') }))
    .where('organization_id', '=', organizationId)
    .execute()
}
