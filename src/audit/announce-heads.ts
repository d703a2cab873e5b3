import { auditExport, type Store } from '../store/index.ts'
import { publish } from '../webhooks/events/index.ts'
import { signedHead } from './chain.ts'
import { eachApart } from '../timers.ts'
import { dayMs } from '../units.ts'

const announceEveryMs = dayMs
const headsInTurn = 1000

/**
 * Publishes the signed heads of up to 1000 organizations' chains, each at most once a day and only if entries were
 * added. Returns how many heads were published.
 */
export async function announceHeads(store: Store): Promise<number> {
  const before = store.clock.now() - announceEveryMs
  const due = await auditExport.listUnannounced(store.slowReads, { before, limit: headsInTurn })
  let announced = 0
  await eachApart(due, async (organizationId) => {
    // Each organization gets its own transaction, so that no transaction waits for one organization's lock while it
    // holds another's.
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
