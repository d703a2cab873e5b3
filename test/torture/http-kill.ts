import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { portForTests } from '../harness/ports.ts'
import { personWith, type Person } from '../harness/person.ts'
import { postgresForTests } from '../harness/postgres.ts'
import { startServerProcess, type ServerProcess } from '../harness/server-process.ts'
import { command, startUpstream } from './guarded.ts'
import { randomFrom } from '../harness/random.ts'
import {
  prefixed,
  wait,
  waitForWork,
  type Torture,
  type TortureOptions,
  type TortureReport,
} from './torture.ts'

const workers = 4
const restartsWithinMs = 5000
/** Call records are written in batches, but a call answered this long before a kill must have its record. */
const recordedWithinMs = 2000

interface Told {
  readonly issued: Map<string, string>
  /** Keys whose revocation was requested. If no response came, they may or may not be revoked. */
  readonly doubtful: Set<string>
  readonly revoked: Set<string>
  /** `life` is the number of the server process that was called. `at` may be later than the kill of that process. */
  readonly answered: { readonly requestId: string; readonly at: number; readonly life: number }[]
  readonly wrong: string[]
}

/** Runs on SQLite and, at full length, on PostgreSQL too. */
export const httpKill: Torture = {
  about: 'kill -9 while keys are issued, revoked and used over HTTP, on both engines',
  async run(options) {
    const sqlite = await onEngine({}, options)
    if (options.short) return sqlite
    await using database = await postgresForTests()
    const postgres = await onEngine({ DATABASE_URL: database.url }, options)
    return {
      figures: { ...prefixed('sqlite', sqlite.figures), ...prefixed('postgres', postgres.figures) },
      findings: [...sqlite.findings, ...postgres.findings],
    }
  },
}

async function onEngine(
  more: Record<string, string>,
  options: TortureOptions,
): Promise<TortureReport> {
  const folder = mkdtempSync(join(tmpdir(), 'intercept-http-kill-'))
  const port = String(await portForTests())
  const env = { ...more, DATA_DIR: folder, PORT: port, LIMIT_FAILED_CREDENTIALS: 'off' }
  await using upstream = await startUpstream((_request, response) => response.end('ok'))
  try {
    return await killRepeatedly(env, upstream.url, options)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function killRepeatedly(
  env: Record<string, string>,
  upstream: string,
  { short, seed }: TortureOptions,
): Promise<TortureReport> {
  const random = randomFrom(seed)
  const kills = short ? 2 : 20
  const told: Told = {
    issued: new Map(),
    doubtful: new Set(),
    revoked: new Set(),
    answered: [],
    wrong: [],
  }
  const killedAt: number[] = []
  let slowestStartMs = 0
  const start = async (): Promise<ServerProcess> => {
    const startedAt = performance.now()
    const server = await startServerProcess(env)
    slowestStartMs = Math.max(slowestStartMs, performance.now() - startedAt)
    return server
  }
  let server = await start()
  const owner = await setUp(env, server)
  await command(env, 'target', 'set', 'torture', 'up', '--upstream', upstream)
  for (let at = 0; at < kills; at++) {
    const stopping = new AbortController()
    const issuedBefore = told.issued.size
    const working = Array.from({ length: workers }, async () => {
      await work(owner, { baseUrl: server.baseUrl, life: at }, told, stopping.signal)
    })
    await wait((short ? 700 : 500) + random() * (short ? 600 : 2500))
    await waitForWork(() => told.issued.size > issuedBefore)
    killedAt.push(performance.now())
    stopping.abort()
    server.kill('SIGKILL')
    await Promise.all([server.ended, ...working])
    server = await start()
  }
  const findings = [...told.wrong, ...(await compare(owner, server.baseUrl, told, killedAt))]
  const chain = await command(env, 'audit', 'verify')
  if (String(chain['ok']) !== 'true') findings.push('the audit chain is broken')
  server.kill('SIGTERM')
  await server.ended
  if (told.issued.size < kills) findings.push('hardly anything was issued')
  // A short run shares the machine with other tests, so its timings say little.
  if (!short && slowestStartMs > restartsWithinMs) {
    findings.push(`a start took ${Math.round(slowestStartMs)} ms`)
  }
  return {
    findings,
    figures: {
      kills,
      issued: told.issued.size,
      revoked: told.revoked.size,
      calls: told.answered.length,
      slowest_start_ms: Math.round(slowestStartMs),
    },
  }
}

async function setUp(env: Record<string, string>, server: ServerProcess): Promise<Person> {
  const { url = '' } = await command(env, 'setup-link')
  const owner = personWith(server.baseUrl)
  const made = await owner.call('POST /setup', {
    token: new URL(url).searchParams.get('token'),
    name: 'Olga Owner',
    email: 'olga@torture.test',
    organization: { slug: 'torture', name: 'Torture' },
  })
  if (made.status !== 201) throw new Error(`set-up failed: ${made.text}`)
  return owner
}

/** Issues keys until the server is gone, calls with each of them, and revokes every second one. */
async function work(
  owner: Person,
  { baseUrl, life }: { baseUrl: string; life: number },
  told: Told,
  over: AbortSignal,
): Promise<void> {
  // A function, because the compiler would assume that the value can't change.
  const isOver = (): boolean => over.aborted
  for (let at = 0; !isOver(); at++) {
    try {
      const issued = await owner.call('POST /organizations/torture/keys', { name: `key ${at}` })
      if (issued.status !== 201) {
        if (!isOver()) told.wrong.push(`issuing was answered ${issued.status}`)
        return
      }
      const { id } = issued.json.key as { id: string }
      told.issued.set(id, String(issued.json.secret))
      const called = await call(baseUrl, String(issued.json.secret))
      if (called.status === 200) told.answered.push({ ...called, life })
      else if (!isOver()) told.wrong.push(`a new key was answered ${called.status}`)
      if (at % 2 === 1) continue
      told.doubtful.add(id)
      const revoked = await owner.call(`POST /organizations/torture/keys/${id}/revoke`)
      if (revoked.status !== 200) return
      told.revoked.add(id)
    } catch {
      // The server died during the request, so there was no response.
      return
    }
  }
}

async function call(baseUrl: string, secret: string) {
  const answer = await fetch(`${baseUrl}/api/v1/intercept/up/x`, {
    headers: { 'X-API-Key': secret },
    signal: AbortSignal.timeout(10_000),
  })
  await answer.arrayBuffer()
  const requestId = answer.headers.get('intercept-request-id') ?? ''
  return { status: answer.status, requestId, at: performance.now() }
}

/** Checks that the responses told the truth: calls with every key, and looks up each call that must have a record. */
async function compare(
  owner: Person,
  baseUrl: string,
  told: Told,
  killedAt: readonly number[],
): Promise<string[]> {
  const findings: string[] = []
  for (const [id, secret] of told.issued) {
    const { status } = await call(baseUrl, secret)
    if (told.revoked.has(id)) {
      if (status !== 401) findings.push(`${id} was revoked and is answered ${status}`)
    } else if (status !== 200 && !told.doubtful.has(id)) {
      findings.push(`${id} was issued and is answered ${status}`)
    }
  }
  for (const { requestId, at, life } of told.answered) {
    if ((killedAt[life] ?? Infinity) - at < recordedWithinMs) continue
    const { status } = await owner.call(`GET /organizations/torture/calls/${requestId}`)
    if (status !== 200) findings.push(`the call ${requestId} was answered and has no record`)
  }
  return findings
}
