// npm run bench -- limits [keys] [seconds]: measures the CPU time of the database while three nodes share the rate
// limits of that many keys (10,000 by default), and, for comparison, while the nodes get no calls. The nodes run the
// product's own code, without HTTP. A measurement takes the given number of seconds (30 by default).
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { SharedRates } from '../src/access/index.ts'
import { systemClock } from '../src/clock.ts'
import { createId } from '../src/ids.ts'
import type { Rate } from '../src/rate.ts'
import { openStore } from '../src/store/index.ts'
import { postgresCluster } from '../test/harness/postgres-cluster.ts'
import { cpuSeconds } from './processes.ts'

const keys = Number(process.argv[2] ?? 10_000)
const seconds = Number(process.argv[3] ?? 30)
const nodes = 3
const turnMs = 50

interface Load {
  readonly rate: Rate
  /** How many calls per second a key gets on each node. */
  readonly perSecond: readonly number[]
  /** How long the load runs before the main measurement, so that all keys are called and their shares settle. */
  readonly settlingSeconds: number
}

const loads: Readonly<Record<string, Load>> = {
  'a call a second on each node, of 100/s': {
    rate: { calls: 100, perSeconds: 1 },
    perSecond: [1, 1, 1],
    settlingSeconds: 20,
  },
  'two calls a second on one node and rare ones elsewhere, of 10/s': {
    rate: { calls: 10, perSeconds: 1 },
    perSecond: [2, 0.2, 0.1],
    settlingSeconds: 20,
  },
  'a call a minute on each node, of 100/m': {
    rate: { calls: 100, perSeconds: 60 },
    perSecond: [1 / 60, 1 / 60, 1 / 60],
    settlingSeconds: 80,
  },
}

const folder = mkdtempSync(join(tmpdir(), 'intercept-limits-'))
await using opened = new AsyncDisposableStack()
opened.defer(() => rmSync(folder, { recursive: true, force: true }))
const cluster = opened.use(await postgresCluster())
const all: SharedRates[] = []
for (let at = 0; at < nodes; at++) {
  const options = { databaseUrl: cluster.url, folder, clock: systemClock, isNode: true }
  const store = opened.use(await openStore(options))
  const rates = opened.use(new SharedRates({ store, clock: systemClock, onError: report }))
  await rates.start()
  all.push(rates)
}
console.log(`${nodes} nodes on one PostgreSQL; load of the machine ${loadavg()[0]?.toFixed(1)}`)
await untilJoined()
print('no limited key', await cpuDuring(async () => await pause(seconds * 1000)))
for (const [name, { rate, perSecond, settlingSeconds }] of Object.entries(loads)) {
  const subjects = Array.from({ length: keys }, () => ({
    ...{ id: createId('key'), organizationId: createId('org') },
  }))
  const offer = async (forSeconds: number): Promise<Offered> =>
    await offerFor(forSeconds, { subjects, rate, perSecond })
  const first = await cpuDuring(async () => void (await offer(settlingSeconds)))
  let offered: Offered | undefined
  const used = await cpuDuring(async () => {
    offered = await offer(seconds)
  })
  const calls = `${offered?.calls} calls, ${offered?.refused} refused`
  const before = `${percent(first.database)} in the ${settlingSeconds} s before, with each key's first calls`
  print(`${keys} keys, ${name}`, used, `; ${calls}; PostgreSQL ${before}`)
}

interface Offered {
  calls: number
  refused: number
}

/** Calls every key on each node as often as `perSecond` says, with the calls of all keys spread evenly over time. */
async function offerFor(
  forSeconds: number,
  load: {
    readonly subjects: readonly { readonly id: string; readonly organizationId: string }[]
    readonly rate: Rate
    readonly perSecond: readonly number[]
  },
): Promise<Offered> {
  const offered = { calls: 0, refused: 0 }
  const { subjects, rate, perSecond } = load
  const open = new Set<Promise<void>>()
  const offerOne = async (ask: () => Promise<boolean>): Promise<void> => {
    if (!(await ask())) offered.refused++
  }
  const next = perSecond.map(() => 0)
  const startedAt = performance.now()
  for (let elapsed = 0; elapsed < forSeconds; elapsed = (performance.now() - startedAt) / 1000) {
    for (const [at, node] of all.entries()) {
      const due = elapsed * (perSecond[at] ?? 0) * subjects.length
      for (; (next[at] ?? 0) < due; next[at] = (next[at] ?? 0) + 1) {
        const subject = subjects[(next[at] ?? 0) % subjects.length]
        if (subject === undefined) continue
        offered.calls++
        const call = offerOne(async () => await pass(node, subject, rate))
        open.add(call)
        void call.finally(() => open.delete(call))
      }
    }
    await pause(turnMs)
  }
  await Promise.all(open)
  return offered
}

async function pass(
  node: SharedRates,
  subject: { readonly id: string; readonly organizationId: string },
  rate: Rate,
): Promise<boolean> {
  const verdict = await node.askUntilKnown(subject, rate)
  if (verdict.admitted) node.spend({ subject, rate })
  return verdict.admitted
}

interface Used {
  readonly database: number
  readonly nodes: number
}

/**
 * Measures the CPU seconds per second that PostgreSQL and this process (the nodes and their load) use during some work.
 */
async function cpuDuring(work: () => Promise<void>): Promise<Used> {
  const [database, own, startedAt] = [
    cpuSeconds(cluster.pid()),
    process.cpuUsage(),
    performance.now(),
  ]
  await work()
  const elapsed = (performance.now() - startedAt) / 1000
  const { user, system } = process.cpuUsage(own)
  return {
    database: (cpuSeconds(cluster.pid()) - database) / elapsed,
    nodes: (user + system) / 1_000_000 / elapsed,
  }
}

function print(name: string, { database, nodes: own }: Used, more = ''): void {
  console.log(
    `${name}: PostgreSQL ${percent(database)} of a core, the nodes and their load ${percent(own)}${more}`,
  )
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}

async function untilJoined(): Promise<void> {
  while (!all.every((node) => node.state().nodes === nodes)) await pause(turnMs)
}

async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms))
}

function report(error: unknown): void {
  console.error(error)
}
