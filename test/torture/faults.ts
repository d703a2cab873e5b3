// At worst, a request may be answered with 503; a revoked key must never be accepted, and the process must survive.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { personWith, type Person } from '../harness/person.ts'
import { postgresForTests } from '../harness/postgres.ts'
import { startServerProcess } from '../harness/server-process.ts'
import { command, startUpstream } from './guarded.ts'
import { until } from './postgres-watch.ts'
import { randomFrom } from '../harness/random.ts'
import type { Torture } from './torture.ts'

const breaksOneIn = 100
const grownAtMostMiB = 100
const recoversWithinMs = 5000

interface Tally {
  readonly statuses: Map<string, number>
  readonly issued: Map<string, string>
  readonly revoked: Set<string>
  readonly doubtful: Set<string>
  readonly findings: string[]
}

export const faults: Torture = {
  about: 'one in a hundred messages to the database breaks its connection',
  isLong: true,
  async run({ short, seed }) {
    const folder = mkdtempSync(join(tmpdir(), 'intercept-faults-'))
    await using database = await postgresForTests()
    await using upstream = await startUpstream((_request, response) => response.end('ok'))
    const direct = { DATA_DIR: folder, DATABASE_URL: database.url, LIMIT_FAILED_CREDENTIALS: 'off' }
    const socket = join(new URL(database.url).searchParams.get('host') ?? '', '.s.PGSQL.5432')
    await using line = await startLine(socket, randomFrom(seed))
    const tally: Tally = {
      ...{ statuses: new Map(), issued: new Map(), revoked: new Set(), doubtful: new Set() },
      findings: [],
    }
    try {
      await using server = await startServerProcess({
        ...direct,
        DATABASE_URL: `postgres://postgres@127.0.0.1:${line.port}/${database.name}`,
      })
      const owner = await setUp(direct, server.baseUrl)
      await command(direct, 'target', 'set', 'torture', 'up', '--upstream', upstream.url)
      const memoryBefore = memoryOf(server.pid)
      line.isBroken = true
      const deadline = performance.now() + (short ? 10_000 : 120_000)
      await Promise.all(
        Array.from({ length: 6 }, async () => {
          while (performance.now() < deadline) await story(owner, server.baseUrl, tally)
        }),
      )
      line.isBroken = false
      const endedAt = performance.now()
      await until(async () => (await owner.call('GET /organizations/torture/keys')).status === 200)
      const recoveredMs = Math.round(performance.now() - endedAt)
      if (recoveredMs > recoversWithinMs) tally.findings.push(`well again after ${recoveredMs} ms`)
      for (const [id, secret] of tally.issued) {
        const { status } = await call(server.baseUrl, secret)
        const good = tally.revoked.has(id) ? [401] : tally.doubtful.has(id) ? [200, 401] : [200]
        if (!good.includes(status)) tally.findings.push(`${id} is answered ${status} afterwards`)
      }
      const grownMiB = memoryOf(server.pid) - memoryBefore
      if (grownMiB > grownAtMostMiB) tally.findings.push(`it grew by ${grownMiB} MiB`)
      if (line.broken === 0) tally.findings.push('nothing was broken')
      return {
        findings: [...new Set(tally.findings)],
        figures: {
          connections_broken: line.broken,
          issued: tally.issued.size,
          revoked: tally.revoked.size,
          ...Object.fromEntries(tally.statuses),
          recovered_ms: recoveredMs,
          grown_mib: grownMiB,
        },
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
}

async function setUp(env: Record<string, string>, baseUrl: string): Promise<Person> {
  const { url = '' } = await command(env, 'setup-link')
  const owner = personWith(baseUrl)
  const made = await owner.call('POST /setup', {
    token: new URL(url).searchParams.get('token'),
    name: 'Olga Owner',
    email: 'olga@torture.test',
    organization: { slug: 'torture', name: 'Torture' },
  })
  if (made.status !== 201) throw new Error(`set-up failed: ${made.text}`)
  return owner
}

/** Issues a key and calls with it; half of the time, also revokes it and calls again. Each step may get a 503. */
async function story(owner: Person, baseUrl: string, tally: Tally): Promise<void> {
  const note = (what: string, status: number, expected: readonly number[]): void => {
    const name = `${what}_${status}`
    tally.statuses.set(name, (tally.statuses.get(name) ?? 0) + 1)
    if (!expected.includes(status)) tally.findings.push(`${what} was answered ${status}`)
  }
  const issued = await owner.call('POST /organizations/torture/keys', { name: 'key' })
  note('issue', issued.status, [201, 503])
  if (issued.status !== 201) return
  const { id } = issued.json.key as { id: string }
  const secret = String(issued.json.secret)
  tally.issued.set(id, secret)
  for (let at = 0; at < 3; at++) note('call', (await call(baseUrl, secret)).status, [200, 503])
  if (tally.issued.size % 2 === 0) return
  tally.doubtful.add(id)
  const revoked = await owner.call(`POST /organizations/torture/keys/${id}/revoke`)
  note('revoke', revoked.status, [200, 503])
  if (revoked.status !== 200) return
  tally.revoked.add(id)
  for (let at = 0; at < 3; at++) note('revoked', (await call(baseUrl, secret)).status, [401, 503])
}

async function call(baseUrl: string, secret: string): Promise<{ status: number }> {
  const answer = await fetch(`${baseUrl}/api/v1/intercept/up/x`, {
    headers: { 'X-API-Key': secret },
    signal: AbortSignal.timeout(20_000),
  })
  await answer.arrayBuffer()
  return { status: answer.status }
}

/**
 * Starts a proxy to the database; while `isBroken`, one message in a hundred, in either direction, ends its connection.
 */
async function startLine(socket: string, random: () => number) {
  const open = new Set<Socket>()
  const line = {
    port: 0,
    isBroken: false,
    broken: 0,
    async [Symbol.asyncDispose]() {
      for (const each of open) each.destroy()
      server.close()
      await once(server, 'close')
    },
  }
  const server = createServer((near) => {
    const far = connect(socket)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from)
      from.on('error', () => to.destroy())
      from.on('close', () => {
        open.delete(from)
        to.destroy()
      })
      from.on('data', (bytes: Buffer) => {
        if (line.isBroken && random() * breaksOneIn < 1) {
          line.broken++
          from.destroy()
        } else to.write(bytes)
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  line.port = (server.address() as AddressInfo).port
  return line
}

function memoryOf(pid: number): number {
  const [, kibibytes = '0'] =
    /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kibibytes) / 1024)
}
