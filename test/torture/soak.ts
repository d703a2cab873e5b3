// Memory, open files and the write-ahead logs must stay bounded.
import { createServer } from 'node:http'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { postgresCluster } from '../harness/postgres-cluster.ts'
import { startServerProcess, type ServerProcess } from '../harness/server-process.ts'
import { command, prepareGuarded, startUpstream } from './guarded.ts'
import { figuresOf, judge, sample, type Sample } from './soak-samples.ts'
import { prefixed, wait, type Torture, type TortureOptions, type TortureReport } from './torture.ts'

const usualMinutes = 60
const callsPerSecond = 100
const callers = 10
const heapMiB = 128
// The same as in bin/serve-flags.js. By V8's own default, each of the two semi-spaces may grow to 64 MiB after a burst,
// which would hide a leak or look like one.
const semiSpaceMiB = 4
const flags = [
  `--max-old-space-size=${heapMiB}`,
  `--max-semi-space-size=${semiSpaceMiB}`,
  ...['hourly-often', 'memory-report'].map((name) => `--import ${ofHarness(name)}`),
].join(' ')
// Enough concurrent reads and calls to make a node start every thread that it may ever have.
const looksAtOnce = 6
const callsAtOnce = 400
const permissions = ['keys.issue', 'keys.manage', 'traffic.see']

function ofHarness(name: string): string {
  return pathToFileURL(join(import.meta.dirname, '..', 'harness', `${name}.ts`)).href
}

/**
 * Runs for `--minutes`, by default for an hour (half a minute in the short form). The memory's slope is judged over the
 * second half, if the run takes about an hour or more.
 */
export const soak: Torture = {
  about: `an hour of everything at once, two nodes on PostgreSQL and one on SQLite, each in ${heapMiB} MiB of heap and 2 × ${semiSpaceMiB} of young generation`,
  isLong: true,
  async run(options) {
    await using cluster = await postgresCluster()
    const [postgres, sqlite] = await Promise.all([
      soakNodes({ nodes: 2, env: { DATABASE_URL: cluster.url } }, options),
      soakNodes({ nodes: 1, env: {} }, options),
    ])
    return {
      figures: { ...prefixed('postgres', postgres.figures), ...prefixed('sqlite', sqlite.figures) },
      findings: [
        ...postgres.findings.map((finding) => `PostgreSQL: ${finding}`),
        ...sqlite.findings.map((finding) => `SQLite: ${finding}`),
      ],
    }
  },
}

async function soakNodes(
  place: { readonly nodes: number; readonly env: Record<string, string> },
  options: TortureOptions,
): Promise<TortureReport> {
  const minutes = options.minutes ?? (options.short ? 0.5 : usualMinutes)
  const folder = mkdtempSync(join(tmpdir(), 'intercept-soak-'))
  const env = { ...place.env, DATA_DIR: folder, OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8' }
  await using upstream = await startUpstream((_request, response) => response.end('x'.repeat(500)))
  await using receiver = await startReceiver()
  try {
    const credentials = await prepare(env, { upstream: upstream.url, receiver: receiver.url })
    await using servers = await startNodes(place.nodes, { ...env, NODE_OPTIONS: flags })
    const hasThreads = place.env['DATABASE_URL'] === undefined
    const load = new Load(servers.all, credentials, hasThreads)
    const samples: Sample[][] = servers.all.map(() => [])
    const startedAt = performance.now()
    while (performance.now() - startedAt < minutes * 60_000) {
      await wait(Math.min(30_000, (minutes * 60_000) / 20))
      const elapsedMs = performance.now() - startedAt
      servers.all.forEach((server, at) => {
        // If the process has ended, its log says why.
        if (!existsSync(`/proc/${server.pid}`)) throw new Error(server.lines.slice(-20).join('\n'))
        samples[at]?.push(sample(server, folder, elapsedMs))
      })
    }
    const findings = await load.end()
    servers.all.forEach((server, at) => findings.push(...judge(samples[at] ?? [], server)))
    if (receiver.seen() === 0) findings.push('nothing was delivered')
    for (const server of servers.all) {
      server.kill('SIGTERM')
      const { code } = await server.ended
      if (code !== 0) findings.push(`it ended with ${code}`)
    }
    const ofNodes = samples.map((own, at) => prefixed(`node_${at + 1}`, figuresOf(own)))
    return {
      findings: [...new Set(findings)],
      figures: Object.assign(
        { minutes, ...load.figures(), delivered: receiver.seen() },
        ...ofNodes,
      ) as Record<string, number>,
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

interface Credentials {
  readonly key: string
  readonly scim: string
  readonly token: string
}

async function prepare(
  env: Record<string, string>,
  urls: { upstream: string; receiver: string },
): Promise<Credentials> {
  const { secret: key } = await prepareGuarded(env, urls.upstream)
  await command(env, 'org', 'set-plan', 'torture', 'enterprise')
  await command(env, 'webhook', 'add', 'torture', '--url', urls.receiver)
  const scim = await command(env, 'scim', 'token', 'issue', 'torture')
  const allowed = permissions.flatMap((permission) => ['--permission', permission])
  const token = await command(env, 'token', 'issue', 'torture', '--name', 'soak', ...allowed)
  return { key, scim: scim['secret'] ?? '', token: token['secret'] ?? '' }
}

async function startNodes(count: number, env: Record<string, string>) {
  await using opened = new AsyncDisposableStack()
  const all: ServerProcess[] = []
  for (let at = 0; at < count; at++) all.push(opened.use(await startServerProcess(env)))
  const closing = opened.move()
  return { all, [Symbol.asyncDispose]: async () => await closing.disposeAsync() }
}

/** The parts of the load run concurrently; each request goes to the next node in turn. */
class Load {
  readonly #servers: readonly ServerProcess[]
  readonly #credentials: Credentials
  readonly #over = new AbortController()
  readonly #findings: string[] = []
  readonly #statuses = new Map<string, number>()
  readonly #tookMs: number[] = []
  readonly #working: readonly Promise<void>[]
  #next = 0

  constructor(servers: readonly ServerProcess[], credentials: Credentials, hasThreads: boolean) {
    this.#servers = servers
    this.#credentials = credentials
    const caller = async (): Promise<void> =>
      await this.#repeat((1000 * callers) / callsPerSecond, async () => await this.#call())
    this.#working = [
      ...(hasThreads ? [this.#startThreads()] : []),
      ...Array.from({ length: callers }, caller),
      this.#repeat(1000, async () => await this.#issueAndRevoke()),
      this.#repeat(2000, async () => await this.#look()),
      this.#repeat(500, async () => await this.#comeAndGo()),
    ]
  }

  /** Stops the load; returns what went wrong, once all requests have ended. */
  async end(): Promise<string[]> {
    this.#over.abort()
    await Promise.all(this.#working)
    return this.#findings
  }

  figures(): Record<string, number> {
    const sorted = this.#tookMs.toSorted((a, b) => a - b)
    const at = (share: number): number =>
      Math.round((sorted[Math.floor(sorted.length * share)] ?? 0) * 10) / 10
    return { ...Object.fromEntries(this.#statuses), p50_ms: at(0.5), p99_ms: at(0.99) }
  }

  async #repeat(everyMs: number, act: () => Promise<void>): Promise<void> {
    while (!this.#over.signal.aborted) {
      const startedAt = performance.now()
      await act().catch((error: unknown) => this.#findings.push(String(error)))
      await wait(Math.max(0, everyMs - (performance.now() - startedAt)))
    }
  }

  /** Makes every node start its threads, because a thread that starts late would look like growth. */
  async #startThreads(): Promise<void> {
    const looks = Array.from({ length: looksAtOnce }, async () => await this.#look())
    const calls = Array.from({ length: callsAtOnce }, async () => await this.#call())
    await Promise.all([...looks, ...calls]).catch((error: unknown) =>
      this.#findings.push(String(error)),
    )
  }

  /** Sends a request and returns the response's body. If it is refused, notes a finding and returns undefined. */
  async #send(
    what: string,
    { path, method = 'GET', ...rest }: { path: string } & RequestInit,
  ): Promise<string | undefined> {
    const server = this.#servers[this.#next++ % this.#servers.length]
    const signal = AbortSignal.timeout(20_000)
    const address = `${server?.baseUrl ?? ''}${path}`
    const answer = await fetch(address, { method, signal, ...rest }).catch((error: unknown) => {
      throw new Error(`${what}: ${String(error)}`)
    })
    const text = await answer.text()
    const name = `${what}_${answer.status}`
    this.#statuses.set(name, (this.#statuses.get(name) ?? 0) + 1)
    if (answer.status < 400) return text
    this.#findings.push(`${what} was answered ${answer.status}: ${text}`)
    return undefined
  }

  async #call(): Promise<void> {
    const startedAt = performance.now()
    const headers = { 'X-API-Key': this.#credentials.key }
    await this.#send('call', { path: '/api/v1/intercept/up/x', headers })
    this.#tookMs.push(performance.now() - startedAt)
  }

  async #api(what: string, path: string, body?: object): Promise<string | undefined> {
    const { token } = this.#credentials
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    return await this.#send(what, {
      path: `/api/v1/organizations/torture${path}`,
      headers,
      ...sent,
    })
  }

  async #issueAndRevoke(): Promise<void> {
    const issued = await this.#api('issue', '/keys', { name: 'short-lived' })
    if (issued === undefined) return
    const { key } = JSON.parse(issued) as { key: { id: string } }
    await this.#api('revoke', `/keys/${key.id}/revoke`, {})
  }

  async #look(): Promise<void> {
    const from = new Date(Date.now() - 3_600_000).toISOString()
    await this.#api('list_calls', `/calls?from=${from}`)
    await this.#api('chart', `/rollups?from=${from}`)
    await this.#api('list_keys', '/keys')
  }

  async #comeAndGo(): Promise<void> {
    const send = async (method: string, path: string, body?: object): Promise<string | undefined> =>
      await this.#send(`scim_${method}`, {
        ...{ method, path: `/scim/v2/Users${path}` },
        headers: {
          authorization: `Bearer ${this.#credentials.scim}`,
          'content-type': 'application/scim+json',
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    const userName = `soak-${process.hrtime.bigint()}@torture.test`
    const schemas = ['urn:ietf:params:scim:schemas:core:2.0:User']
    const joined = await send('POST', '', { schemas, userName })
    if (joined === undefined) return
    const { id } = JSON.parse(joined) as { id: string }
    await send('PATCH', `/${id}`, {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations: [{ op: 'replace', path: 'active', value: false }],
    })
    await send('DELETE', `/${id}`)
  }
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
