import { hostname } from 'node:os'
import { kill, pid } from 'node:process'
import type { Clock } from '../../clock.ts'
import { deliveryWork, type Store } from '../../store/index.ts'

/** The name of this node in its leases: host, process, the process's start (ms since 1970), and a random part. */
export function leaseOwner(uniqueId: string): string {
  return [hostname(), pid, processStart(), uniqueId].join('/')
}

/**
 * Ends the leases of processes of this machine that are dead so that a restart need not
 * wait for their end. If the guess is wrong, the token fences the other off: something is sent twice, nothing is lost.
 */
export async function endDeadLeases(store: Store, clock: Clock, self: string): Promise<void> {
  const owners = await deliveryWork.listLeaseOwners(store, clock.now())
  const dead = owners.filter((owner) => owner !== self && isDead(owner))
  if (dead.length === 0) return
  await store.transaction(async (tx) => {
    for (const owner of dead) await deliveryWork.endLeasesOf(tx, owner)
  })
}

function isDead(owner: string): boolean {
  const [host, pidText, start] = owner.split('/')
  if (host !== hostname()) return false
  const other = Number(pidText)
  // Our own number: somebody may have had it before us.
  if (other === pid) return start !== String(processStart())
  try {
    kill(other, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

function processStart(): number {
  return Math.round(performance.timeOrigin)
}
