import { wait } from '../torture.ts'
import type { AcceptanceCheck } from './acceptance-check.ts'
import { nodeCount, type Fleet, type FleetNode } from './fleet.ts'

export interface Trials {
  readonly fleet: Fleet
  readonly check: AcceptanceCheck
  readonly findings: string[]
  readonly random: () => number
}

/** A fault of nodes or of the database server; `befall` causes the fault and ends it. */
export interface Misfortune {
  readonly name: string
  befall(trials: Trials): Promise<void>
}

const hourMs = 3_600_000
const skewsMs = [30_000, -30_000, hourMs, -hourMs]

/** Faults that leave the database unchanged. */
export const misfortunes: readonly Misfortune[] = [
  ofOneNode('delayed', 2000, {
    begin: ({ proxy }) => proxy.delay(300),
    end: ({ proxy }) => proxy.heal(),
  }),
  ofOneNode('cut off', 3000, {
    begin: ({ proxy }) => proxy.cut(),
    end: ({ proxy }) => proxy.heal(),
  }),
  ofOneNode('black-holed', 4000, {
    begin: ({ proxy }) => proxy.blackHole(),
    end: ({ proxy }) => proxy.heal(),
  }),
  ofOneNode('paused', 3000, { begin: pause, end: resume }),
  ofOneNode('paused for long', 22_000, { begin: pause, end: resume }),
  {
    name: 'killed',
    async befall({ fleet, random }) {
      const node = anyOf(fleet, random)
      node.isDown = true
      node.server.kill('SIGKILL')
      await node.server.ended
      await fleet.restart(node)
    },
  },
  {
    name: 'server restarted',
    async befall({ fleet, random }) {
      await fleet.cluster.kill()
      await wait(random() * 2000)
      await fleet.cluster.start()
    },
  },
  { name: 'clocks stepping', befall: stepClocks },
  { name: 'clock wrong beside a cut node', befall: skewBesideCut },
]

function ofOneNode(
  name: string,
  lastsMs: number,
  change: { begin: (node: FleetNode) => void; end: (node: FleetNode) => void },
): Misfortune {
  return {
    name,
    async befall({ fleet, random }) {
      const node = anyOf(fleet, random)
      change.begin(node)
      await wait(lastsMs)
      change.end(node)
    },
  }
}

function pause(node: FleetNode): void {
  node.isDown = true
  node.server.kill('SIGSTOP')
}

function resume(node: FleetNode): void {
  node.server.kill('SIGCONT')
  node.isDown = false
}

async function stepClocks({ fleet, random }: Trials): Promise<void> {
  for (let step = 0; step < 5; step++) {
    for (const node of fleet.nodes) node.setClock((random() - 0.5) * 2 * hourMs)
    await wait(500)
  }
  for (const node of fleet.nodes) node.setClock(0)
}

/**
 * Revokes a key at a node whose clock is wrong while another node is disconnected. Before the revocation is answered,
 * the disconnected node must have stopped trusting its cache.
 */
async function skewBesideCut({ fleet, check, findings, random }: Trials): Promise<void> {
  const [revoking, , cut] = fleet.nodes
  if (revoking === undefined || cut === undefined) return
  const [key] = await check.keysInUse(1)
  if (key === undefined) return
  revoking.setClock(skewsMs[Math.floor(random() * skewsMs.length)] ?? 0)
  // Give the node time to read the offset of its clock.
  await wait(200)
  cut.proxy.blackHole()
  const { status, nodes, silentNodes } = await check.revoke(revoking, key)
  if (status !== 200) findings.push(`a revocation beside a wrong clock got ${status}`)
  // More than one node may be silent: a node that was killed a moment ago may still be registered.
  else if (nodes !== nodeCount - 1 || silentNodes < 1) {
    findings.push(`beside a wrong clock ${nodes} + ${silentNodes} nodes were counted`)
  }
  await wait(1500)
  cut.proxy.heal()
  revoking.setClock(0)
}

export function anyOf({ nodes }: Fleet, random: () => number): FleetNode {
  const node = nodes[Math.floor(random() * nodes.length)]
  if (node === undefined) throw new Error('there is no node')
  return node
}
