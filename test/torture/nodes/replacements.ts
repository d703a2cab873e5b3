import type { FleetNode, IssuedKey } from './fleet.ts'
import type { Misfortune, Trials } from './misfortunes.ts'
import { wait } from '../torture.ts'

const keysInTrial = 3
const watchForMs = 1500
const askEveryMs = 20

/** Faults that replace the database with a copy; each copy lacks the latest changes. */
export const replacements: readonly Misfortune[] = [
  replacedBy('failover to a lagging copy', async ({ cluster }) => ({
    data: await cluster.copy(),
  })),
  replacedBy('standby promoted', async ({ cluster }) => ({
    data: await cluster.copy(),
    promoted: true,
  })),
  replacedBy('another system identifier', async ({ cluster }) => ({
    data: await cluster.copyAnew(),
  })),
  {
    name: 'point-in-time restore',
    // This backup is older than the copies above: every node has read many newer changes.
    befall: async (trials) => await replace(trials, await makeBackup(trials)),
  },
]

interface Replacement {
  readonly data: string
  readonly promoted?: boolean
}

/** A copy to replace the database with, and `victims`: keys that are in this copy and that every node has cached. */
interface Prepared {
  readonly replacement: Replacement
  readonly victims: readonly IssuedKey[]
}

function replacedBy(
  name: string,
  make: (fleet: Trials['fleet']) => Promise<Replacement>,
): Misfortune {
  return {
    name,
    async befall(trials) {
      await trials.check.pause()
      const victims = await trials.check.keysInUse(keysInTrial)
      await replace(trials, { victims, replacement: await make(trials.fleet) })
    },
  }
}

async function makeBackup({ fleet, check }: Trials): Promise<Prepared> {
  await check.pause()
  const victims = await check.keysInUse(keysInTrial)
  const replacement = { data: await fleet.cluster.copy() }
  check.resume()
  await wait(2000)
  return { victims, replacement }
}

/**
 * Replaces the database server. Changes made after the copy are lost, although they were confirmed. Changes that the
 * new database server confirms must hold.
 */
async function replace(trials: Trials, { replacement, victims }: Prepared): Promise<void> {
  const { fleet, check, findings } = trials
  await check.pause()
  const lost = await check.keysInUse(keysInTrial)
  await Promise.all(victims.map(async (key) => await check.use(key)))
  const linesBefore = fleet.nodes.map(({ server }) => server.lines.length)
  await fleet.cluster.kill()
  const looking = new AbortController()
  const readiness = fleet.nodes.map(
    async (node) => await watchReadiness({ trials, node, lost, until: looking.signal }),
  )
  await fleet.cluster.start(replacement)
  // Revoke immediately, while some nodes may not have connected to the new database server yet.
  await Promise.all(victims.map(async (key) => await check.revokeUntilAnswered(key)))
  await fleet.allReady()
  await wait(watchForMs)
  looking.abort()
  await Promise.all(readiness)
  for (const [at, node] of fleet.nodes.entries()) {
    const lines = node.server.lines.slice(linesBefore[at])
    if (!lines.some(saysWentBack)) {
      findings.push(`${node.name} does not say that the database went back`)
    }
  }
  check.resume()
}

/**
 * Checks that a node notices the replacement, and from then on accepts no lost key while it is ready. A node has
 * noticed once it is unready or says so in its log; our checks may miss that it was unready for a moment.
 */
async function watchReadiness(watch: {
  trials: Trials
  node: FleetNode
  lost: readonly IssuedKey[]
  until: AbortSignal
}): Promise<void> {
  const { trials, node, lost, until } = watch
  const { fleet, findings } = trials
  const linesBefore = node.server.lines.length
  let hasNoticed = false
  while (!until.aborted) {
    const hasSaidSo = node.server.lines.slice(linesBefore).some(saysWentBack)
    const isReady = await fleet.isReady(node)
    hasNoticed ||= hasSaidSo || !isReady
    if (hasNoticed && isReady) {
      for (const { id, secret } of lost) {
        if ((await fleet.call(node, secret)) !== 200) continue
        findings.push(`${node.name} was ready and accepted ${id}, which the database has lost`)
        return
      }
    }
    await wait(askEveryMs)
  }
  if (!hasNoticed) findings.push(`${node.name} did not notice the replacement`)
}

function saysWentBack(line: string): boolean {
  return line.includes('the database went back in time')
}
