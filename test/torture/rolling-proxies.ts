import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request as send, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { portForTests } from '../harness/ports.ts'
import { postgresForTests } from '../harness/postgres.ts'
import { findProgram } from '../harness/proxy-program.ts'
import { startHaproxy, startNginx } from '../harness/proxy-samples.ts'
import { startServerProcess, type ServerProcess } from '../harness/server-process.ts'
import { prepareGuarded, startUpstream } from './guarded.ts'
import { wait, type Torture } from './torture.ts'

const programs = ['haproxy', 'nginx']
const posted = Buffer.alloc(2000, 'x')
const upstreamMs = 10
const callWithinMs = 20_000
const tickMs = 10
/** After a node reports that it is ready, an operator waits for the balancer's next health check. */
const nextLookMs = 1500

/**
 * A rolling restart behind real load balancers, under 500 calls per second (150 in the short form). Half of the calls
 * are POSTs, which must not be repeated.
 */
export const rollingProxies: Torture = {
  about: 'a rolling restart behind the real HAProxy and nginx refuses, drops and repeats no call',
  missing() {
    const absent = programs.filter((program) => findProgram(program) === undefined)
    return absent.length === 0 ? undefined : `${absent.join(' and ')} not installed here`
  },
  async run({ short, size = 30 }) {
    // LAME_DUCK must last longer than two health checks of HAProxy (1 s apart) and than nginx's keep-alive (4 s).
    const plan = short
      ? { nodes: 2, replaced: 1, perSecond: 150, lameDuck: '5s' }
      : { nodes: 3, replaced: size, perSecond: 500, lameDuck: '5s' }
    const folder = mkdtempSync(join(tmpdir(), 'intercept-rolling-'))
    await using stack = new AsyncDisposableStack()
    stack.defer(() => rmSync(folder, { recursive: true }))
    const database = stack.use(await postgresForTests())
    const upstream = stack.use(await startCountingUpstream())
    const env = {
      ...{ DATA_DIR: folder, DATABASE_URL: database.url, LOG_LEVEL: 'warn' },
      ...{ TRUSTED_PROXIES: '1', LAME_DUCK: plan.lameDuck },
    }
    const { secret } = await prepareGuarded(env, upstream.url)
    const pool = stack.use(await Pool.start(env, plan.nodes))
    const haproxy = stack.use(
      await startHaproxy({ proxy: await portForTests(), ...pool.place, upstream: 1 }),
    )
    const [proxy, other] = [await portForTests(), await portForTests()]
    const nginx = stack.use(await startNginx({ proxy, other, ...pool.place, upstream: 1 }))
    const load = stack.use(new Load([haproxy.port, nginx.port], secret))
    const loading = load.run(plan.perSecond)
    const findings: string[] = []
    let slowestEndMs = 0
    for (let turn = 0; turn < plan.replaced; turn++) {
      await wait(nextLookMs)
      const { code, tookMs } = await pool.replace(turn % plan.nodes)
      slowestEndMs = Math.max(slowestEndMs, tookMs)
      if (code !== 0) findings.push(`a node ended with ${code}`)
    }
    await wait(nextLookMs)
    load.stop()
    await loading
    findings.push(...load.failures, ...upstream.repeated())
    if (load.answered < plan.perSecond) findings.push('hardly anything was answered')
    return {
      findings,
      figures: {
        replaced: plan.replaced,
        answered: load.answered,
        failed: load.failures.length,
        posts_repeated: upstream.repeated().length,
        slowest_call_ms: load.slowestMs,
        slowest_end_ms: Math.round(slowestEndMs),
      },
    }
  },
}

/** Nodes on fixed ports, which they keep when they are replaced. */
class Pool implements AsyncDisposable {
  readonly #env: Record<string, string>
  readonly #ports: readonly number[]
  readonly #nodes: ServerProcess[]

  private constructor(env: Record<string, string>, ports: number[], nodes: ServerProcess[]) {
    this.#env = env
    this.#ports = ports
    this.#nodes = nodes
  }

  static async start(env: Record<string, string>, size: number): Promise<Pool> {
    const ports: number[] = []
    const nodes: ServerProcess[] = []
    for (let at = 0; at < size; at++) {
      const port = await portForTests()
      ports.push(port)
      nodes.push(await startServerProcess({ ...env, LOG_LEVEL: 'info', PORT: String(port) }))
    }
    return new Pool(env, ports, nodes)
  }

  get place(): { readonly intercept: readonly number[] } {
    return { intercept: this.#ports }
  }

  async replace(at: number): Promise<{ code: number | null; tookMs: number }> {
    const startedAt = performance.now()
    const leaving = this.#nodes[at]
    leaving?.kill('SIGTERM')
    const { code } = (await leaving?.ended) ?? { code: null }
    const tookMs = performance.now() - startedAt
    const env = { ...this.#env, LOG_LEVEL: 'info', PORT: String(this.#ports[at]) }
    this.#nodes[at] = await startServerProcess(env)
    return { code, tookMs }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const node of this.#nodes) await node[Symbol.asyncDispose]()
  }
}

/** Makes calls at a steady rate, whatever happens to earlier calls; half of them are POSTs. */
class Load implements Disposable {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 200 })
  readonly #ports: readonly number[]
  readonly #secret: string
  readonly failures: string[] = []
  answered = 0
  slowestMs = 0
  #isStopped = false

  constructor(ports: readonly number[], secret: string) {
    this.#ports = ports
    this.#secret = secret
  }

  async run(perSecond: number): Promise<void> {
    const startedAt = performance.now()
    const calls: Promise<void>[] = []
    while (!this.#isStopped) {
      const due = Math.floor(((performance.now() - startedAt) / 1000) * perSecond)
      while (calls.length < due) calls.push(this.#call(calls.length))
      await wait(tickMs)
    }
    await Promise.all(calls)
  }

  stop(): void {
    this.#isStopped = true
  }

  async #call(number: number): Promise<void> {
    const method = number % 4 < 2 ? 'POST' : 'GET'
    const port = this.#ports[number % this.#ports.length]
    const startedAt = performance.now()
    try {
      const outgoing = send(`http://127.0.0.1:${port}/api/v1/intercept/up/${number}`, {
        ...{ agent: this.#agent, method, signal: AbortSignal.timeout(callWithinMs) },
        headers: {
          'X-API-Key': this.#secret,
          'Content-Length': method === 'POST' ? posted.length : 0,
        },
      })
      outgoing.end(method === 'POST' ? posted : undefined)
      const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
      const said = await text(response)
      const expected = `${method} ${number} ${method === 'POST' ? posted.length : 0}`
      if (said === expected) this.answered++
      else this.failures.push(`${method} by ${port}: ${response.statusCode} ${said.slice(0, 200)}`)
    } catch (error) {
      this.failures.push(
        `${method} by ${port}: ${error instanceof Error ? error.message : 'failed'}`,
      )
    }
    this.slowestMs = Math.max(this.slowestMs, Math.round(performance.now() - startedAt))
  }

  [Symbol.dispose](): void {
    this.stop()
    this.#agent.destroy()
  }
}

/** Starts an upstream that responds with what it received, and counts how often each POST arrives. */
async function startCountingUpstream() {
  const posts = new Map<string, number>()
  const upstream = await startUpstream((request, response) => {
    void (async () => {
      let bytes = 0
      for await (const chunk of request as AsyncIterable<Buffer>) bytes += chunk.length
      const number = request.url?.slice(1) ?? ''
      if (request.method === 'POST') posts.set(number, (posts.get(number) ?? 0) + 1)
      setTimeout(() => response.end(`${request.method} ${number} ${bytes}`), upstreamMs)
    })().catch(() => response.destroy())
  })
  return {
    url: upstream.url,
    repeated: () =>
      [...posts].flatMap(([number, times]) =>
        times > 1 ? [`POST ${number} reached the upstream ${times} times`] : [],
      ),
    [Symbol.asyncDispose]: async () => await upstream[Symbol.asyncDispose](),
  }
}
