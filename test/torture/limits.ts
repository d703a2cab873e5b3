// One limit on three nodes of two workers each, on PostgreSQL. Calls are spread evenly, go to one node, or move between
// nodes; then one node is paused, disconnected and killed.
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDatabaseProxy } from '../harness/database-proxy.ts'
import { postgresForTests, type TestDatabase } from '../harness/postgres.ts'
import { startServerProcess, type ServerProcess } from '../harness/server-process.ts'
import { command, prepareGuarded, startUpstream } from './guarded.ts'
import { useUp } from './quota.ts'
import { wait, type Torture } from './torture.ts'

const nodes = 3
const limitPerSecond = 100
const offeredPerSecond = 600
const burst = limitPerSecond
const slackMs = 50
const recordedWithinMs = 10_000
/** A call given up may still pass and be recorded, so calls compared with records wait long. */
const patientMs = 60_000
/** Calls to a node in trouble may get no response. */
const hastyMs = 5000

/** Chooses the node for a call. */
type Spread = (call: number, elapsedMs: number) => number

const spreads: Record<string, Spread> = {
  even: (call) => call % nodes,
  'one node': () => 0,
  moving: (_call, elapsedMs) => Math.floor(elapsedMs / 5000) % nodes,
}

/** Checks that rates are not exceeded, that quotas are exact, and that enough of a rate can be used. */
export const limits: Torture = {
  about: 'one limit over three nodes with two workers each',
  async run({ short, say }) {
    const seconds = short ? 4 : 60
    /** The time in which the other nodes take over the share of a node in trouble. */
    const takeOverMs = 2000
    // Short runs are less strict: other tests run at the same time, so timings say little about the nodes.
    const leastShare = short ? 0.4 : 0.95
    const isWindowExact = !short
    const folder = mkdtempSync(join(tmpdir(), 'intercept-limits-'))
    const findings: string[] = []
    const figures: Record<string, number> = {}
    await using database = await postgresForTests()
    await using opened = new AsyncDisposableStack()
    opened.defer(() => rmSync(folder, { recursive: true, force: true }))
    const direct = { DATA_DIR: folder, DATABASE_URL: database.url }
    const upstream = opened.use(await startUpstream((_request, response) => response.end('fine')))
    await prepareGuarded({ ...direct, OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8' }, upstream.url)
    const cutter = opened.use(await startDatabaseProxy(database.url))
    const servers: ServerProcess[] = []
    for (let at = 0; at < nodes; at++) {
      const url = at === nodes - 1 ? cutter.url : database.url
      const env = { ...direct, DATABASE_URL: url, WORKERS: '2', LIMIT_FAILED_CREDENTIALS: 'off' }
      servers.push(opened.use(await startServerProcess(env)))
    }
    const agent = new Agent({ keepAlive: true, maxSockets: 64, scheduling: 'fifo' })
    opened.defer(() => agent.destroy())
    const issueKey = async (...words: string[]): Promise<Record<string, string>> =>
      await command(direct, 'key', 'issue', 'torture', '--name', 'limited', ...words)
    const issue = async (...words: string[]): Promise<string> =>
      (await issueKey(...words))['secret'] ?? ''
    const pass = async (node: number, secret: string, withinMs: number): Promise<number> =>
      await ask(servers[node]?.baseUrl ?? '', { secret, agent, withinMs })

    const offer = async (name: string, spread: Spread, forSeconds: number): Promise<void> => {
      const { id = '', secret = '' } = await issueKey('--rate', `${limitPerSecond}/s`)
      let unanswered = 0
      const { admitted, seconds: took } = await offerFor(forSeconds, async (call, elapsedMs) => {
        const status = await pass(spread(call, elapsedMs), secret, patientMs)
        if (status === 0) unanswered++
        return status === 200
      })
      const times = await recordedTimes(database, id, { answered: admitted.length, unanswered })
      const most = maxInWindow(times, 1000)
      figures[`${name}: admitted a second`] = Math.round(admitted.length / forSeconds)
      figures[`${name}: most in a second`] = most
      say(`${name}: ${admitted.length} in ${forSeconds} s, ${most} in the fullest second`)
      const whole = limitPerSecond * forSeconds
      if (isWindowExact && most > limitPerSecond * (1 + slackMs / 1000) + burst) {
        findings.push(`${name}: ${most} calls passed within a second`)
      }
      // Records tell when calls arrived; a call may then wait up to a second for its node's share of the rate.
      const recorded = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1000 + 1
      const may = limitPerSecond * Math.min(took, recorded) + burst
      if (unanswered > 0) findings.push(`${name}: ${unanswered} calls got no response`)
      if (admitted.length > may + 1) {
        findings.push(`${name}: ${admitted.length} calls passed, ${Math.round(may)} may`)
      }
      if (admitted.length < whole * leastShare) {
        findings.push(`${name}: only ${admitted.length} of ${whole} calls passed`)
      }
    }
    for (const [name, spread] of Object.entries(spreads)) await offer(name, spread, seconds)

    for (const calls of short ? [100] : [100, 1000, 100_000]) {
      const secret = await issue('--quota', `${calls}/day`)
      const passed = await useUp(
        calls,
        async (call) => (await pass(call % nodes, secret, patientMs)) === 200,
      )
      figures[`quota of ${calls}`] = passed
      if (passed !== calls) findings.push(`${passed} calls passed a quota of ${calls}`)
    }

    // When the third node has been paused, disconnected or dead for 1.5 s, only the other two are called.
    const others: Spread = (call) => call % (nodes - 1)
    const troubled = servers.at(-1)
    const troubles: Record<string, { begin: () => void; end: () => void }> = {
      paused: {
        begin: () => troubled?.kill('SIGSTOP'),
        end: () => troubled?.kill('SIGCONT'),
      },
      'cut off': { begin: cutter.blackHole, end: cutter.heal },
      killed: { begin: () => troubled?.kill('SIGKILL'), end: () => undefined },
    }
    for (const [name, trouble] of Object.entries(troubles)) {
      if (short && name !== 'cut off') continue
      const secret = await issue('--rate', `${limitPerSecond}/s`)
      const before = await offerFor(
        3,
        async (call) => (await pass(call % nodes, secret, hastyMs)) === 200,
      )
      trouble.begin()
      const during = await offerFor(
        short ? 5 : 10,
        async (call, elapsedMs) =>
          (await pass(
            elapsedMs < 1500 ? call % nodes : others(call, elapsedMs),
            secret,
            hastyMs,
          )) === 200,
      )
      trouble.end()
      const first = during.admitted[0] ?? 0
      const late = during.admitted.filter((at) => at - first > takeOverMs).length
      const lateSeconds = Math.min(during.seconds, short ? 5 : 10) - takeOverMs / 1000
      figures[`${name}: admitted a second by the others`] = Math.round(late / lateSeconds)
      const next = during.admitted.filter(
        (at) => at - first > takeOverMs && at - first <= takeOverMs + 1000,
      )
      figures[`${name}: in the first second after the time to take over`] = next.length
      const most = maxInWindow([...before.admitted, ...during.admitted], 1000)
      figures[`${name}: most in a second`] = most
      if (isWindowExact && most > limitPerSecond * (1 + slackMs / 1000) + burst) {
        findings.push(`${name}: ${most} calls passed within a second`)
      }
      if (late < limitPerSecond * lateSeconds * (short ? leastShare : 0.9)) {
        findings.push(`${name}: the others admit only ${late} calls in ${lateSeconds} s`)
      }
      await wait(2000)
    }
    return { figures, findings }
  },
}

/** Offers calls at an even pace; returns the times at which the admitted calls were answered, and how long all took. */
async function offerFor(
  seconds: number,
  pass: (call: number, elapsedMs: number) => Promise<boolean>,
): Promise<{ readonly admitted: readonly number[]; readonly seconds: number }> {
  const startedAt = performance.now()
  const admitted: number[] = []
  const open: Promise<void>[] = []
  // The loop below ends by time, not by count, so a slow machine offers fewer calls but takes no longer.
  const elapsedMs = (): number => performance.now() - startedAt
  const note = async (call: number): Promise<void> => {
    if (await pass(call, elapsedMs())) admitted.push(performance.now())
  }
  for (let call = 0; elapsedMs() < seconds * 1000; call++) {
    while (elapsedMs() < (call * 1000) / offeredPerSecond) await wait(1)
    open.push(note(call))
  }
  await Promise.all(open)
  return { admitted: admitted.toSorted((a, b) => a - b), seconds: elapsedMs() / 1000 }
}

/**
 * Returns the times at which a key's successful calls arrived at their nodes, according to their records. The times at
 * which this process saw the responses would not do: while it waits for the processor, responses pile up.
 */
async function recordedTimes(
  database: TestDatabase,
  keyId: string,
  { answered, unanswered }: { readonly answered: number; readonly unanswered: number },
): Promise<readonly number[]> {
  const endsAt = performance.now() + recordedWithinMs
  for (;;) {
    const text = `select at from call where key_id = '${keyId}' and status = 200 order by at`
    const { rows } = await database.sql(text)
    const times = (rows as { at: string }[]).map(({ at }) => Number(at))
    if (times.length === answered) return times
    if (performance.now() > endsAt) {
      throw new Error(`${times.length} of ${answered} calls are recorded, ${unanswered} unanswered`)
    }
    await wait(200)
  }
}

function maxInWindow(sorted: readonly number[], windowMs: number): number {
  let most = 0
  let from = 0
  for (const [at, time] of sorted.entries()) {
    while (time - (sorted[from] ?? 0) > windowMs) from += 1
    most = Math.max(most, at - from + 1)
  }
  return most
}

/** Makes a call; returns its status, or 0 if there was no response. */
async function ask(
  baseUrl: string,
  { secret, agent, withinMs }: { secret: string; agent: Agent; withinMs: number },
): Promise<number> {
  return await new Promise((resolve) => {
    const call = request(`${baseUrl}/api/v1/intercept/up/x`, {
      agent,
      headers: { 'x-api-key': secret },
      signal: AbortSignal.timeout(withinMs),
    })
    call.on('response', (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? 0))
      response.on('error', () => resolve(0))
    })
    call.on('error', () => resolve(0))
    call.end()
  })
}
