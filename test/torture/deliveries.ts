// Nodes that publish and deliver are killed at random moments; every acknowledged event must arrive.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Webhook } from 'standardwebhooks'
import { systemClock } from '../../src/clock.ts'
import { createOutbound } from '../../src/http/index.ts'
import { createLog } from '../../src/telemetry/index.ts'
import { createSealer } from '../../src/secrets/index.ts'
import { createWebhooks } from '../../src/webhooks/index.ts'
import { postgresForTests, postgresProcess, type TestDatabase } from '../harness/postgres.ts'
import { startReceiver, type Receiver } from '../harness/receiver.ts'
import { randomFrom } from '../harness/random.ts'
import { prefixed, wait, type Torture, type TortureReport } from './torture.ts'
import { openPlace, prepare, type Place } from './writers.ts'

const endpointCount = 3
const failingShare = 0.04
const aheadMs = 30 * 3_600_000
const drainWithinMs = 180_000
// An upper bound of the deliveries that a node has in progress at an endpoint: requests, and outcomes not written yet.
const maxUnderWay = 8 + 64

interface Plan {
  readonly nodes: number
  readonly kills: number
  readonly events: number
  /** The pause after each transaction of ten events; a node has two loops of such transactions. */
  readonly pauseMs: number
  /** The share of deliveries that may be repeated; undefined if a backlog keeps all slots busy. */
  readonly maxRepeatedShare?: number
  readonly database?: TestDatabase
}

/**
 * Runs on SQLite with one node, and on PostgreSQL with three (two in the short form), where the database also crashes
 * or hangs now and then.
 */
export const deliveries: Torture = {
  about: 'kill -9 of nodes that deliver webhooks, on both engines',
  async run(options) {
    const folder = mkdtempSync(join(tmpdir(), 'intercept-deliveries-'))
    await using database = await postgresForTests()
    const kills = options.size ?? 200
    const size = options.short
      ? { kills: 3, events: 600, pauseMs: 12 }
      : { kills, events: kills * 100, pauseMs: 100 }
    try {
      const sqlite = await torture({ folder }, { nodes: 1, ...size }, options)
      const place = { folder, databaseUrl: database.url }
      const nodes = options.short ? 2 : 3
      const pauseMs = size.pauseMs * nodes
      // A backlog keeps all slots busy in the short form and, after each kill, on a single node. So the share is checked
      // only with three nodes.
      const share = options.short ? {} : { maxRepeatedShare: 0.02 }
      const plan = { ...size, ...share, nodes, pauseMs, database }
      const postgres = await torture(place, plan, options)
      return {
        figures: {
          ...prefixed('sqlite', sqlite.figures),
          ...prefixed('postgres', postgres.figures),
        },
        findings: [...sqlite.findings, ...postgres.findings],
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
}

async function torture(
  place: Place,
  plan: Plan,
  options: Parameters<Torture['run']>[0],
): Promise<TortureReport> {
  const random = randomFrom(options.seed)
  const organizationId = await prepare(place)
  await using receiver = await startReceiver()
  const secret = await addEndpoints(place, organizationId, receiver)
  const received = countArrivals(receiver, secret, random)
  const acknowledged = new Set<string>()
  const running: ChildProcess[] = []
  const begin = async (words: readonly string[]): Promise<void> => {
    running.push(await startNode(place, organizationId, words, acknowledged))
  }

  let kills = 0
  const publishing = ['publish', '0', String(plan.pauseMs)]
  for (let at = 0; at < plan.nodes; at++) await begin(publishing)
  while (kills < plan.kills || acknowledged.size < plan.events) {
    await wait(200 + random() * (options.short ? 400 : 900))
    const [victim] = running.splice(Math.floor(random() * running.length), 1)
    victim?.kill('SIGKILL')
    kills += 1
    if (plan.database && kills % Math.max(2, Math.ceil(plan.kills / 3)) === 1) {
      await disturb(plan.database, random() < 0.5)
    }
    await begin(acknowledged.size < plan.events * 1.2 ? publishing : ['deliver'])
  }
  for (const node of running) {
    node.kill('SIGKILL')
    kills += 1
    await once(node, 'close')
  }
  received.heal()
  options.say(`${acknowledged.size} events acknowledged before ${kills} kills`)

  const last = await startNode(place, organizationId, ['deliver', String(aheadMs)], acknowledged)
  const left = await drain(place, organizationId)
  last.kill('SIGKILL')
  await once(last, 'close')

  const { accepted, badSignatures, differing } = received
  const lost = [...acknowledged].filter((id) => accepted.get(id)?.size !== endpointCount)
  const repeated = received.accepts() - [...accepted.values()].reduce((sum, at) => sum + at.size, 0)
  const findings = [...left]
  if (lost.length > 0) findings.push(`${lost.length} acknowledged events did not arrive everywhere`)
  if (badSignatures() > 0) findings.push(`${badSignatures()} signatures did not verify`)
  if (differing() > 0) findings.push(`${differing()} attempts had other bytes`)
  const share = repeated / Math.max(1, received.accepts())
  if (
    repeated > kills * endpointCount * maxUnderWay ||
    (plan.maxRepeatedShare !== undefined && share > plan.maxRepeatedShare)
  ) {
    findings.push(`${repeated} deliveries were repeated in ${kills} kills`)
  }
  return {
    findings,
    figures: {
      kills,
      acknowledged: acknowledged.size,
      lost: lost.length,
      accepted: received.accepts(),
      repeated,
      repeated_percent: Math.round(share * 10_000) / 100,
    },
  }
}

/** Waits until no delivery is pending or held, for three minutes at most; then lists what is wrong with the counts. */
export async function drain(place: Place, organizationId: string): Promise<string[]> {
  await using opened = await openServices(place)
  const until = performance.now() + drainWithinMs
  for (;;) {
    const books = await opened.webhooks.books(organizationId)
    const waiting = books.reduce((sum, book) => sum + book.pending + book.held, 0)
    if (waiting === 0 || performance.now() > until) {
      return books.flatMap(({ committed, delivered, dead, pending, held, skipped }) => [
        ...(committed === delivered + dead + pending + held + skipped
          ? []
          : ['the books do not balance']),
        ...(pending + held > 0 ? [`${pending + held} deliveries still wait`] : []),
        ...(dead + skipped > 0 ? [`${dead} are dead and ${skipped} skipped`] : []),
      ])
    }
    await wait(100)
  }
}

/** Makes a receiver fail now and then, until `heal` is called, and counts what it accepts. */
export function countArrivals(receiver: Receiver, secret: string, random: () => number) {
  const library = new Webhook(secret.slice(4))
  const accepted = new Map<string, Set<string>>()
  const bodies = new Map<string, string>()
  let failing = failingShare
  let accepts = 0
  let bad = 0
  let differing = 0
  receiver.answer = (response, { path, headers, body }) => {
    receiver.arrivals.length = 0
    const id = String(headers['webhook-id'])
    const text = body.toString()
    if ((bodies.get(id) ?? text) !== text) differing += 1
    bodies.set(id, text)
    try {
      // After `heal`, the clock of the last node may run ahead, and then its timestamps would not verify.
      if (failing > 0) library.verify(text, headers as Record<string, string>)
    } catch {
      bad += 1
    }
    if (random() < failing) {
      response.writeHead(500).end()
      return
    }
    accepts += 1
    accepted.set(id, (accepted.get(id) ?? new Set()).add(path))
    response.writeHead(204).end()
  }
  return {
    accepted,
    accepts: () => accepts,
    badSignatures: () => bad,
    differing: () => differing,
    heal: () => void (failing = 0),
  }
}

/** Kills a backend with -9 (the server then recovers as after a crash), or suspends the whole server for 2 s. */
async function disturb(database: TestDatabase, crash: boolean): Promise<void> {
  const postmaster = await postgresProcess()
  if (crash) {
    const { rows } = await database.sql(
      "select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid() and datname = current_database() limit 1",
    )
    const [row] = rows as { pid: number }[]
    if (row) signal(row.pid, 'SIGKILL')
    return
  }
  const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8')
  const family = [postmaster, ...children.split(' ').filter(Boolean).map(Number)]
  for (const pid of family) signal(pid, 'SIGSTOP')
  await wait(2000)
  for (const pid of family) signal(pid, 'SIGCONT')
}

/** Sends a signal, unless the process has ended by itself in the meantime. */
function signal(pid: number, name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** Adds three endpoints at a receiver; returns the secret that signs their deliveries. */
export async function addEndpoints(
  place: Place,
  organizationId: string,
  receiver: Receiver,
): Promise<string> {
  await using opened = await openServices(place)
  const { endpoints, secrets } = opened.webhooks
  for (let at = 0; at < endpointCount; at++) {
    await endpoints.create(organizationId, { url: `${receiver.url}/${at}` }, { kind: 'operator' })
  }
  return (await secrets.reveal(organizationId, { kind: 'operator' })).reveal()
}

async function openServices(place: Place) {
  await using opened = new AsyncDisposableStack()
  const store = opened.use(await openPlace(place))
  const outbound = opened.use(createOutbound({ allowLoopback: true }))
  const webhooks = createWebhooks({
    store,
    sealer: createSealer(['the master secret of the torture of deliveries']),
    clock: systemClock,
    outbound,
    log: createLog({ level: 'silent' }),
  })
  const closing = opened.move()
  return { webhooks, [Symbol.asyncDispose]: async () => await closing.disposeAsync() }
}

/** Starts a node in a separate process; the events that it acknowledges are added to `acknowledged`. */
export async function startNode(
  place: Place,
  organizationId: string,
  words: readonly string[],
  acknowledged: Set<string>,
  wrap: readonly string[] = [],
): Promise<ChildProcess> {
  const file = join(import.meta.dirname, 'delivery-node.ts')
  const own = [file, place.folder, place.databaseUrl ?? '-', organizationId, ...words]
  const [program = '', ...rest] = [...wrap, process.execPath, ...own]
  for (;;) {
    const child = spawn(program, rest, { stdio: ['ignore', 'pipe', 'ignore'] })
    const ready = Promise.withResolvers<boolean>()
    createInterface(child.stdout).on('line', (line) => {
      const [what, ...ids] = line.split(' ')
      if (what === 'ready') ready.resolve(true)
      if (what === 'acknowledged') for (const id of ids) acknowledged.add(id)
    })
    child.on('close', () => ready.resolve(false))
    // A recovering database refuses connections for a moment, and the node ends. Start it again, as a supervisor would.
    if (await ready.promise) return child
    await wait(200)
  }
}
