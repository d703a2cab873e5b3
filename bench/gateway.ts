// Measures the cost of a guarded call, compared with nginx and HAProxy in the same run: CPU µs per call (user and
// system time of each peer's processes) and latency. The result is the median of the rounds' ratios. nginx and wrk are
// required, HAProxy and taskset are not.
// Usage: `npm run bench -- gateway [seconds] [rounds] [--quick] [--only part-of-a-name] [--profile] [--beside
// checkout]`. By default, 9 rounds of 2 seconds for each load and peer, with --quick 3 rounds of 1 second; rounds four
// times as long where the p99 counts, two or three times as many where only the CPU time counts and is close to a bar,
// and four times as many of half the length (at least 1 second) where Intercept is compared with its own forwarding
// (gateway-workloads.ts). --profile prints where Intercept spent its time; --beside compares with another checkout,
// whose dependencies must be installed.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { measureFull, median, type Measured, type Task } from './gateway-measure.ts'
import { startPacedLoad } from './gateway-paced-load.ts'
import {
  startDecisions,
  startHaproxy,
  startIntercept,
  startNginx,
  startRelay,
  startUpstream,
} from './gateway-peers.ts'
import type { Peer } from './gateway-peers.ts'
import { workloads, type Workload } from './gateway-workloads.ts'
import { findProgram, pin, residentBytes } from './processes.ts'
import { topOf } from './profile.ts'

const { values, positionals } = parseArgs({
  options: {
    beside: { type: 'string' },
    only: { type: 'string' },
    profile: { type: 'boolean' },
    quick: { type: 'boolean' },
  },
  allowPositionals: true,
})
const isQuick = values.quick === true
const seconds = Number(positionals[0] ?? (isQuick ? 1 : 2))
// On a shared host, cores change their speed within seconds, so medians of only a few rounds differ from run to run.
const rounds = Number(positionals[1] ?? (isQuick ? 3 : 9))
/** Seconds of warm-up before each load but the first. */
const warmUp = 1
/**
 * How many warm-ups the very first load has, so that only compiled code is measured. There are several, with the turns of
 * other peers between, because V8 compiles functions without the parts that have not run so far and must compile them
 * again when these run: what happens between loads, such as the end of connections, must have happened before anything is
 * measured.
 */
const firstWarmUps = isQuick ? 2 : 3
/** Seconds of each of them. */
const firstWarmUp = 2
/**
 * How many warm-ups follow that are as long as the rounds. In the pauses between these, which are longer, a node closes
 * connections and stops asking for changes, so the calls after them take other ways through the code.
 */
const longWarmUps = isQuick ? 0 : 2
const baseNames = new Map([
  ['nginx map, access log', 'nginx'],
  ['HAProxy SHA-256 map', 'HAProxy'],
  ['Intercept beside', 'the code beside'],
  ['Intercept, forwarding', 'a forwarded call'],
])
/** Seconds for which the slowest peer's capacity is measured. */
const capacitySeconds = 3
/** The name of the peer that can handle the fewest calls; Intercept until this is measured. */
let slowest = 'Intercept'
let warmed = false
const folder = mkdtempSync(join(tmpdir(), 'intercept-bench-'))
const nginx = findProgram('nginx')
const haproxy = findProgram('haproxy')
const wrk = findProgram('wrk')
for (const [name, path] of Object.entries({
  nginx,
  haproxy,
  wrk,
  taskset: findProgram('taskset'),
})) {
  if (path === undefined)
    console.log(`missing: ${name} (apt-get install -y nginx-light haproxy wrk util-linux)`)
}
if (wrk === undefined || nginx === undefined) process.exit(1)

const peers: Peer[] = []
let upstream: Peer | undefined
const paced = await startPacedLoad()
try {
  upstream = await startUpstream(nginx, folder)
  const upstreamPort = upstream.port
  const ports = { upstreamPort, pacedPort: paced.port }
  // The peers that the bars name come right before Intercept, HAProxy last: the host's speed may change within seconds.
  peers.push(await startRelay(ports))
  peers.push(await startNginx(nginx, folder, { ...ports, accessLog: false }))
  peers.push(await startNginx(nginx, folder, { ...ports, accessLog: true }))
  if (haproxy !== undefined) peers.push(await startHaproxy(haproxy, folder, ports))
  const profile = values.profile === true
  const intercept = await startIntercept(folder, { ...ports, profile })
  peers.push(intercept, ...(await startDecisions(nginx, folder, { intercept, upstreamPort })))
  const { beside } = values
  if (beside !== undefined) {
    peers.push(await startIntercept(folder, { ...ports, profile: false, beside }))
  }
  peers.push({
    ...{ ...upstream, name: 'the upstream alone', kind: 'upstream', end: async () => {} },
    paced: { port: paced.port, prefix: '' },
  })
  for (const peer of peers) if (peer.kind !== 'upstream') pin(peer.pid, 'peer')
  for (const workload of workloads) {
    if (values.only === undefined || workload.name.includes(values.only)) await compare(workload)
  }
} finally {
  paced.end()
  for (const peer of peers) await peer.end()
  await upstream?.end()
  if (values.profile === true) {
    console.log(`\nwhere Intercept's main thread spent its time:`)
    for (const line of topOf(join(folder, 'profile'))) console.log(`  ${line}`)
  }
  rmSync(folder, { recursive: true, force: true })
}

async function compare(workload: Workload): Promise<void> {
  const taking = peers.filter((peer) => workload.isFor(peer))
  const runs = taking.map((peer) => ({
    name: peer.name,
    run: async (task: Task) => await workload.run(peer, task),
  }))
  const forwarding = peers.find(({ name }) => name === 'Intercept')
  if (workload.isBesideForwarding === true && forwarding !== undefined) {
    const run = async (task: Task): Promise<Measured> => await measureFull(forwarding, task, {})
    runs.unshift({ name: 'Intercept, forwarding', run })
  }
  const results = new Map<string, Measured[]>(runs.map(({ name }) => [name, []]))
  const task: Task = { folder, seconds, wrk: wrk ?? '', paced }
  // wrk takes whole seconds only.
  const roundSeconds = Math.ceil(seconds * (workload.lengthFactor ?? 1))
  const needsCapacity = workload.needsCapacity === true
  // The peer whose capacity was measured comes right after that, because the host's speed may change within seconds.
  const isFirst = ({ name }: { name: string }): boolean => needsCapacity && name === slowest
  const turns = [...runs.filter(isFirst), ...runs.filter((run) => !isFirst(run))]
  const beginLoop = async () => (warmed || needsCapacity ? undefined : await loopOf(taking))
  for (const warmUpSeconds of warmUps(roundSeconds)) {
    const capacity = await capacityFor(workload, task)
    for (const { run } of turns) await run({ ...task, capacity, seconds: warmUpSeconds })
    // The code that renders the metrics must not run for the first time between the rounds either.
    await beginLoop()
  }
  const loop = await beginLoop()
  warmed = true
  const offered: number[] = []
  const made = rounds * (workload.countFactor ?? 1)
  for (let round = 0; round < made; round++) {
    const capacity = await capacityFor(workload, task)
    if (capacity !== undefined) offered.push(capacity / 2)
    for (const { name, run } of turns) {
      results.get(name)?.push(await run({ ...task, capacity, seconds: roundSeconds }))
    }
  }
  if (workload.tellsSlowest === true) {
    const handled = (list: readonly Measured[]): number =>
      median(list.map(({ perSecond }) => perSecond))
    const [least] = [...results].toSorted(([, a], [, b]) => handled(a) - handled(b))
    slowest = least?.[0] ?? slowest
  }
  console.log(`\n${workload.name}, ${made} × ${roundSeconds} s`)
  if (offered.length > 0)
    console.log(`  calls a second offered in each round: ${offered.map(Math.round).join(', ')}`)
  const bases = [...baseNames.keys()].flatMap((name) => {
    const list = results.get(name)
    return list === undefined ? [] : [[name, list] as const]
  })
  for (const [name, list] of results) {
    const ratios = bases
      .filter(([base]) => base !== name && !list.some(({ cpuUs: us }) => Number.isNaN(us)))
      .map(([base, others]) => `${ratioText(list, others, cpuUs)} × ${baseNames.get(base)}`)
    console.log(`  ${name.padEnd(24)} ${lineOf(list)}   ${ratios.join('  ')}`)
  }
  const p99 = (workload.lengthFactor ?? 1) > 1 ? p99Line(results) : undefined
  if (p99 !== undefined) console.log(p99)
  if (loop !== undefined) console.log(await loop.text())
}

/** Returns the seconds of each warm-up. */
function warmUps(roundSeconds: number): number[] {
  if (warmed) return [warmUp]
  const short = Array.from({ length: firstWarmUps }, () => firstWarmUp)
  return [...short, ...Array.from({ length: longWarmUps }, () => roundSeconds)]
}

/**
 * Returns how many calls per second the slowest peer can handle just before a round, if this workload's rate depends on
 * it. A shared host may have become much slower within minutes; half of its earlier capacity could then be nearly all of
 * its present one.
 */
async function capacityFor(workload: Workload, task: Task): Promise<number | undefined> {
  const peer = peers.find(({ name }) => name === slowest)
  if (workload.needsCapacity !== true || peer === undefined) return undefined
  return (await measureFull(peer, { ...task, seconds: capacitySeconds }, {})).perSecond
}

/**
 * Starts measuring how late the event loop of Intercept runs; returns undefined if Intercept is not among the peers.
 */
async function loopOf(taking: readonly Peer[]): Promise<{ text(): Promise<string> } | undefined> {
  const own = taking.find(({ metricsPort }) => metricsPort !== undefined)
  if (own === undefined) return undefined
  // Each reading starts a new measuring window; this one discards what was measured before.
  await loopDelays(own)
  return {
    async text() {
      const delays = await loopDelays(own)
      const megabytes = Math.round(residentBytes(own.pid) / 1e6)
      return `  Intercept meanwhile: ${megabytes} MB resident, event loop late by ${delays.join(', ')}`
    },
  }
}

async function loopDelays(own: Peer): Promise<string[]> {
  const response = await fetch(`http://127.0.0.1:${own.metricsPort}/metrics`)
  const text = await response.text()
  const found = text.matchAll(/^nodejs_eventloop_lag_(p\d+|max)_seconds(?:\{[^}]*\})? (\S+)$/gm)
  return [...found].map(([, name = '', value]) => {
    return `${name.replace('p999', 'p99.9')} ${(Number(value) * 1000).toFixed(1)} ms`
  })
}

function cpuUs(one: Measured): number {
  return one.cpuUs
}

function p99Ms(one: Measured): number {
  return one.p99Ms ?? Number.NaN
}

function p99OfAllMs(one: Measured): number {
  return one.p99OfAllMs ?? Number.NaN
}

/** Renders the median of the rounds' ratios, with the lowest and the highest. */
function ratioText(
  list: readonly Measured[],
  others: readonly Measured[],
  of: (one: Measured) => number,
): string {
  const ratios = list.flatMap((one, round) => {
    const other = others[round]
    return other === undefined ? [] : [of(one) / of(other)]
  })
  const [least, most] = [Math.min(...ratios), Math.max(...ratios)]
  return `${median(ratios).toFixed(2)} (${least.toFixed(2)} to ${most.toFixed(2)})`
}

/** Compares Intercept's p99 with HAProxy's or, if the upstream was measured too, with the upstream's own. */
function p99Line(results: ReadonlyMap<string, readonly Measured[]>): string | undefined {
  const own = results.get('Intercept')
  const proxied = results.get('HAProxy SHA-256 map')
  const direct = results.get('the upstream alone')
  if (own === undefined) return undefined
  if (direct !== undefined) {
    const beyond = (of: (one: Measured) => number): string =>
      (median(own.map(of)) - median(direct.map(of))).toFixed(2)
    return `  Intercept's p99 is ${beyond(p99Ms)} ms beyond the upstream's own, ${beyond(p99OfAllMs)} ms with the calls that the machine delayed`
  }
  if (proxied === undefined) return undefined
  return `  Intercept's p99 is ${ratioText(own, proxied, p99Ms)} × HAProxy's`
}

function lineOf(list: readonly Measured[]): string {
  const of = (pick: (one: Measured) => number): number => median(list.map(pick))
  const used = of(cpuUs)
  const cpu = Number.isNaN(used) ? ' '.repeat(15) : `${used.toFixed(1).padStart(8)} µs CPU`
  const latency =
    list[0]?.p50Ms === undefined
      ? ''
      : `p50 ${of((one) => one.p50Ms ?? 0).toFixed(2)} ms  p99 ${of(p99Ms).toFixed(2)} ms`
  const undelayed =
    list[0]?.p99OfAllMs === undefined
      ? ''
      : ` of the ${Math.round(of((one) => one.undelayedShare ?? 0) * 100)} % that the machine did not delay, ${of((one) => one.p99OfAllMs ?? 0).toFixed(2)} ms of all`
  return `${cpu}  ${latency}${undelayed}  ${Math.round(of(({ perSecond }) => perSecond))}/s`
}
