// npm run bench -- workers [seconds] [rounds]: measures how much more a node with WORKERS=2 can handle than one with
// WORKERS=1, in interleaved rounds. There are not enough cores for two workers, the upstream and the load generator, so
// both nodes run on the core for peers, and upstream and load generator on the others. The figure that counts is calls
// per second of the busiest worker's CPU time, which is what the node could handle if each worker had its own core.
// Workers that take turns on one core lose time when they change, but never wait for each other's memory or locks as
// they would on two cores. nginx and wrk are required.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { measureFull, median } from './gateway-measure.ts'
import { startIntercept, startUpstream, type Peer } from './gateway-peers.ts'
import { childrenOf, cpuSeconds, findProgram, pin } from './processes.ts'

const seconds = Number(process.argv[2] ?? 2)
const rounds = Number(process.argv[3] ?? 5)
const warmUp = 6
const nginx = findProgram('nginx')
const wrk = findProgram('wrk')
if (nginx === undefined || wrk === undefined) {
  console.log('missing: nginx or wrk (apt-get install -y nginx-light wrk)')
  process.exit(1)
}

/** What a node with this many workers did in one round. */
interface Round {
  /** Calls per second of CPU time of the busiest worker. */
  readonly capacity: number
  /** CPU µs of all processes of the node for each call. */
  readonly cpuUs: number
  /** The busiest worker's share of the workers' CPU time. */
  readonly share: number
  readonly perSecond: number
}

const folder = mkdtempSync(join(tmpdir(), 'intercept-bench-'))
const ends: (() => Promise<void>)[] = []
try {
  const upstream = await startUpstream(nginx, folder)
  ends.push(upstream.end)
  const nodes = new Map<number, { peer: Peer; results: Round[] }>()
  for (const workers of [1, 2]) {
    const home = mkdtempSync(join(folder, 'node-'))
    const given = { upstreamPort: upstream.port, profile: false, workers }
    const peer = await startIntercept(home, given)
    ends.push(peer.end)
    pin(peer.pid, 'peer')
    nodes.set(workers, { peer, results: [] })
    await measureFull(peer, { folder, seconds: warmUp, wrk }, {})
  }
  for (let round = 0; round < rounds; round++) {
    for (const { peer, results } of nodes.values()) results.push(await measure(peer, wrk))
  }
  print(nodes)
} finally {
  for (const end of ends.toReversed()) await end()
  rmSync(folder, { recursive: true, force: true })
}

async function measure(peer: Peer, program: string): Promise<Round> {
  const workers = childrenOf(peer.pid)
  const pids = workers.length === 0 ? [peer.pid] : workers
  const before = pids.map(cpuSeconds)
  const { cpuUs, perSecond } = await measureFull(peer, { folder, seconds, wrk: program }, {})
  const used = pids.map((pid, at) => cpuSeconds(pid) - (before[at] ?? 0))
  const [busiest, all] = [Math.max(...used), used.reduce((sum, each) => sum + each, 0)]
  return {
    capacity: (perSecond * seconds) / busiest,
    ...{ cpuUs, perSecond, share: busiest / all },
  }
}

function print(nodes: ReadonlyMap<number, { readonly results: readonly Round[] }>): void {
  const alone = nodes.get(1)?.results ?? []
  console.log(`\nGET 1 KB on SQLite, ${rounds} × ${seconds} s, medians`)
  for (const [workers, { results }] of nodes) {
    const ratios = results.map(({ capacity }, at) => capacity / (alone[at]?.capacity ?? Number.NaN))
    const [least, most] = [Math.min(...ratios), Math.max(...ratios)]
    const of = (pick: (one: Round) => number): number => median(results.map(pick))
    console.log(
      `  WORKERS=${workers}  ${of(({ cpuUs }) => cpuUs).toFixed(1)} µs CPU a call  busiest worker ${(100 * of(({ share }) => share)).toFixed(0)} %  ${Math.round(of(({ perSecond }) => perSecond))}/s here  ${Math.round(of(({ capacity }) => capacity))}/s if each has a core: ${median(ratios).toFixed(2)} × (${least.toFixed(2)} to ${most.toFixed(2)})`,
    )
  }
}
