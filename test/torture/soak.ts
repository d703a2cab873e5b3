// T11: calls, keys, a directory and deliveries for two hours: memory, files and the log of the database stay bounded.
import { createServer } from 'node:http'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../src/http/index.ts'
import { startServerProcess } from '../harness/server-process.ts'
import { command, prepareGuarded, startUpstream } from './guarded.ts'
import { wait, type Torture } from './torture.ts'

const callsPerSecond = 150
const maxSlope = 1
const walAtMostMiB = 64
const maxFiles = 5
const heapMiB = 128

interface Sample {
  readonly atHours: number
  readonly memoryMiB: number
  readonly files: number
  readonly walMiB: number
}

/** `--minutes` instead of two hours; the memory's slope is only judged after a quarter of an hour. */
export const soak: Torture = {
  about: 'T11: two hours of everything at once, in 128 MiB of heap',
  isLong: true,
  async run(options) {
    const minutes = options.minutes ?? (options.short ? 0.5 : 120)
    const folder = mkdtempSync(join(tmpdir(), 'intercept-soak-'))
    const port = String(await freePort('127.0.0.1'))
    const env = { DATA_DIR: folder, PORT: port, NODE_OPTIONS: `--max-old-space-size=${heapMiB}` }
    await using upstream = await startUpstream((_request, response) =>
      response.end('x'.repeat(500)),
    )
    await using receiver = await startReceiver()
    const findings: string[] = []
    try {
      const { secret } = await prepareGuarded(env, upstream.url)
      await command(env, 'org', 'set-plan', 'torture', 'enterprise')
      await command(env, 'webhook', 'add', 'torture', '--url', receiver.url)
      const scim = await command(env, 'scim', 'token', 'issue', 'torture')
      await using server = await startServerProcess(env)
      const tookMs: number[] = []
      const statuses = new Map<string, number>()
      const note = (what: string, status: number): void => {
        const name = `${what}_${status}`
        statuses.set(name, (statuses.get(name) ?? 0) + 1)
        if (status >= 400) findings.push(`${what} was answered ${status}`)
      }
      const over = new AbortController()
      const repeat = async (everyMs: number, act: () => Promise<void>): Promise<void> => {
        while (!over.signal.aborted) {
          const startedAt = performance.now()
          await act().catch((error: unknown) => findings.push(String(error)))
          await wait(Math.max(0, everyMs - (performance.now() - startedAt)))
        }
      }
      const callers = 15
      const working = [
        ...Array.from({ length: callers }, async () => {
          await repeat((1000 * callers) / callsPerSecond, async () => {
            const startedAt = performance.now()
            const answer = await fetch(`${server.baseUrl}/api/v1/intercept/up/x`, {
              headers: { 'X-API-Key': secret },
              signal: AbortSignal.timeout(20_000),
            })
            await answer.arrayBuffer()
            tookMs.push(performance.now() - startedAt)
            note('call', answer.status)
          })
        }),
        repeat(2000, async () => {
          const key = await command(env, 'key', 'issue', 'torture', '--name', 'short-lived')
          await command(env, 'key', 'revoke', key['id'] ?? '')
        }),
        repeat(500, async () => await comeAndGo(server.baseUrl, scim['secret'] ?? '', note)),
      ]
      const samples: Sample[] = []
      const startedAt = performance.now()
      while (performance.now() - startedAt < minutes * 60_000) {
        await wait(Math.min(30_000, (minutes * 60_000) / 20))
        samples.push(sample(server.pid, folder, performance.now() - startedAt))
      }
      over.abort()
      await Promise.all(working)
      findings.push(...judge(samples, server.lines))
      if (receiver.seen() === 0) findings.push('nothing was delivered')
      server.kill('SIGTERM')
      const { code } = await server.ended
      if (code !== 0) findings.push(`it ended with ${code}`)
      const last = samples.at(-1)
      tookMs.sort((a, b) => a - b)
      return {
        findings: [...new Set(findings)],
        figures: {
          minutes,
          ...Object.fromEntries(statuses),
          delivered: receiver.seen(),
          memory_mib: last?.memoryMiB ?? 0,
          memory_mib_per_hour: Math.round(slopeOf(settled(samples)) * 10) / 10,
          files: last?.files ?? 0,
          largest_wal_mib: Math.max(...samples.map(({ walMiB }) => walMiB)),
          p50_ms: Math.round((tookMs[Math.floor(tookMs.length / 2)] ?? 0) * 10) / 10,
          p99_ms: Math.round((tookMs[Math.floor(tookMs.length * 0.99)] ?? 0) * 10) / 10,
        },
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
}

/** Somebody joins by the directory, is deactivated, and is deleted. */
async function comeAndGo(
  baseUrl: string,
  token: string,
  note: (what: string, status: number) => void,
): Promise<void> {
  const send = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${baseUrl}/scim/v2/Users${path}`, {
      method,
      signal: AbortSignal.timeout(20_000),
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    note(`scim_${method}`, answer.status)
    return text
  }
  const userName = `soak-${process.hrtime.bigint()}@torture.test`
  const schemas = ['urn:ietf:params:scim:schemas:core:2.0:User']
  const { id } = JSON.parse(await send('POST', '', { schemas, userName })) as { id: string }
  await send('PATCH', `/${id}`, {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
    Operations: [{ op: 'replace', path: 'active', value: false }],
  })
  await send('DELETE', `/${id}`)
}

function sample(pid: number, folder: string, elapsedMs: number): Sample {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const [, kibibytes = '0'] = /^VmRSS:\s+(\d+) kB/m.exec(status) ?? []
  const wal = readdirSync(folder).filter((name) => name.endsWith('-wal'))
  const walBytes = wal.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
  return {
    atHours: elapsedMs / 3_600_000,
    memoryMiB: Math.round(Number(kibibytes) / 1024),
    files: readdirSync(`/proc/${pid}/fd`).length,
    walMiB: Math.round(walBytes / 1024 / 1024),
  }
}

/** Before a quarter of an hour has passed the heap is still finding its size. */
function settled(samples: readonly Sample[]): readonly Sample[] {
  return samples.filter(({ atHours }) => atHours >= 0.25)
}

function judge(samples: readonly Sample[], lines: readonly string[]): string[] {
  const findings: string[] = []
  const after = settled(samples)
  // Half an hour of samples at least: below that the slope says nothing.
  if (after.length >= 60 && slopeOf(after) > maxSlope) {
    findings.push(`memory grows by ${slopeOf(after).toFixed(1)} MiB an hour`)
  }
  const [first] = after
  const last = after.at(-1)
  if (first !== undefined && last !== undefined && last.files - first.files > maxFiles) {
    findings.push(`${last.files - first.files} files more are open`)
  }
  const largest = Math.max(...samples.map(({ walMiB }) => walMiB))
  if (largest > walAtMostMiB) findings.push(`the log of the database grew to ${largest} MiB`)
  for (const line of lines) {
    if (/"level":"?(?:error|fatal|50|60)"?/.test(line))
      findings.push(`logged: ${line.slice(0, 300)}`)
  }
  return findings
}

/** MiB an hour, by least squares. */
function slopeOf(samples: readonly Sample[]): number {
  const mean = (of: (sample: Sample) => number): number =>
    samples.reduce((sum, one) => sum + of(one), 0) / Math.max(1, samples.length)
  const [meanAt, meanMiB] = [mean(({ atHours }) => atHours), mean(({ memoryMiB }) => memoryMiB)]
  const spread = mean(({ atHours }) => (atHours - meanAt) ** 2)
  if (spread === 0) return 0
  return mean(({ atHours, memoryMiB }) => (atHours - meanAt) * (memoryMiB - meanMiB)) / spread
}

async function startReceiver() {
  let seen = 0
  const server = createServer((request, response) => {
    seen++
    request.resume()
    response.writeHead(204).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen: () => seen,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
