import { hostname } from 'node:os'
import type { Clock } from '../../clock.ts'
import { endpointLeases, type Store } from '../../store/index.ts'

/** Returns this node's name in its leases: host, process id, process start (ms since 1970) and a random part. */
export function leaseOwner(uniqueId: string): string {
  return [hostname(), process.pid, processStart(), uniqueId].join('/')
}

/**
 * Ends the leases of this machine's dead processes, so that a restart need not wait for them to expire. If a process
 * was not dead after all, it loses its leases: a delivery may then be sent twice, but none is lost.
 */
export async function endDeadLeases(store: Store, clock: Clock, self: string): Promise<void> {
  const owners = await endpointLeases.listLeaseOwners(store, clock.now())
  const dead = owners.filter((owner) => owner !== self && isDead(owner))
  if (dead.length === 0) return
  await store.transaction(async (tx) => {
    for (const owner of dead) await endpointLeases.endLeasesOf(tx, owner)
  })
}

function isDead(owner: string): boolean {
  const [host, pidText, start] = owner.split('/')
  if (host !== hostname()) return false
  const other = Number(pidText)
  // An earlier process may have had our process id.
  if (other === process.pid) return start !== String(processStart())
  try {
    process.kill(other, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

function processStart(): number {
  return Math.round(performance.timeOrigin)
}
