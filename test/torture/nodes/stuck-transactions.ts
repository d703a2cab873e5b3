import { wait } from '../torture.ts'
import { neighbour } from './fleet.ts'
import type { Trials } from './misfortunes.ts'

const answeredWithinMs = 3000
const writers = 8

/**
 * Revokes while another node hangs in the middle of its transactions, in the same organization or in another one.
 * Returns how many milliseconds the revocation took.
 */
export async function revokeBesideStuck(
  { fleet, check, findings, random }: Trials,
  { trial, isOther }: { trial: number; isOther: boolean },
): Promise<number> {
  const stuck = fleet.nodes.at(-1)
  const [revoking] = fleet.nodes
  if (stuck === undefined || revoking === undefined) return 0
  const organization = isOther ? neighbour : 'torture'
  const isPaused = trial % 2 === 1
  const [key] = await check.keysInUse(1)
  if (key === undefined) return 0
  if (!isPaused) stuck.proxy.blackHoleAfter('organization_head')
  const over = new AbortController()
  const writing = Array.from({ length: writers }, async () => {
    while (!over.signal.aborted) {
      await fleet.issue(stuck, 'work', organization).catch(() => undefined)
    }
  })
  await wait(100 + random() * 200)
  if (isPaused) stuck.server.kill('SIGSTOP')
  over.abort()
  const { status, tookMs } = await check.revoke(revoking, key)
  const what = `beside a node that is ${isPaused ? 'paused' : 'black-holed'} in ${organization}`
  if (status !== 200) findings.push(`a revocation ${what} got ${status}`)
  else if (tookMs > answeredWithinMs) {
    findings.push(`a revocation ${what} took ${Math.round(tookMs)} ms`)
  }
  stuck.server.kill('SIGCONT')
  stuck.proxy.heal()
  await Promise.all(writing)
  await fleet.allReady()
  return Math.round(tookMs)
}
