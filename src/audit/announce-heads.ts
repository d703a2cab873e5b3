import { auditExport, type Store } from '../store/index.ts'
import { publish } from '../webhooks/events/index.ts'
import { signedHead } from './chain.ts'
import { eachApart } from '../timers.ts'
import { dayMs } from '../units.ts'

const announceEveryMs = dayMs
const headsInTurn = 1000

/**
 * Publishes the signed head of each organization's chain, at most once a day and only if it moved: a receiver then
 * holds an anchor that nobody with mere access to the database can forge or take back. Returns how many.
 */
export async function announceHeads(store: Store): Promise<number> {
  const before = store.clock.now() - announceEveryMs
  const due = await auditExport.listUnannounced(store.slowReads, { before, limit: headsInTurn })
  let announced = 0
  await eachApart(due, async (organizationId) => {
    // One transaction per organization, so that none waits for a lock while holding another's.
    const isOurs = await store.transaction(async (tx) => {
      const { sequence, hash, seal } = await signedHead(tx, organizationId)
      if (!(await auditExport.setAnnounced(tx, { organizationId, sequence, before }))) return false
      const data = { organization_id: organizationId, sequence, hash, seal }
      publish(tx, { organizationId, type: 'audit.head_sealed', data })
      return true
    })
    if (isOurs) announced += 1
  })
  return announced
}
