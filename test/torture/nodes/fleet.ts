import { mkdirSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { startDatabaseProxy, type DatabaseProxy } from '../../harness/database-proxy.ts'
import type { PostgresCluster } from '../../harness/postgres-cluster.ts'
import { startServerProcess, type ServerProcess } from '../../harness/server-process.ts'
import { command, prepareGuarded, startUpstream } from '../guarded.ts'
import { wait } from '../torture.ts'

export const nodeCount = 3
export const neighbour = 'neighbour'
const callWithinMs = 8000
const skew = pathToFileURL(join(import.meta.dirname, '..', '..', 'harness', 'skewed-clock.ts')).href

/** A node in a process of its own, with its own connection to the database and its own clock. */
export interface FleetNode {
  readonly name: string
  readonly proxy: DatabaseProxy
  server: ServerProcess
  /** While this is true, `AcceptanceCheck.anyNode` does not choose the node, because it is killed or paused. */
  isDown: boolean
  setClock(offsetMs: number): void
}

export interface IssuedKey {
  readonly id: string
  readonly secret: string
}

export interface Revocation {
  /** 0 if there was no response. */
  readonly status: number
  readonly answeredAt: number
  readonly tookMs: number
  readonly nodes: number
  readonly silentNodes: number
}

interface Response {
  /** 0 if there was no response. */
  readonly status: number
  readonly text: string
}

/** Three real nodes on a PostgreSQL server of their own. */
export class Fleet implements AsyncDisposable {
  readonly cluster: PostgresCluster
  readonly nodes: readonly FleetNode[]
  readonly #opened: AsyncDisposableStack
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64, scheduling: 'fifo' })
  readonly #start: (node: FleetNode) => Promise<ServerProcess>
  readonly #tokens = new Map<string, string>()

  private constructor(deps: {
    cluster: PostgresCluster
    nodes: readonly FleetNode[]
    opened: AsyncDisposableStack
    start: (node: FleetNode) => Promise<ServerProcess>
  }) {
    this.cluster = deps.cluster
    this.nodes = deps.nodes
    this.#opened = deps.opened
    this.#start = deps.start
  }

  static async start(deps: {
    cluster: PostgresCluster
    folder: string
    workers: number
    hasNeighbour: boolean
  }): Promise<Fleet> {
    const { cluster, folder, workers, hasNeighbour } = deps
    await using opened = new AsyncDisposableStack()
    const direct = { DATA_DIR: folder, DATABASE_URL: cluster.url }
    const upstream = opened.use(await startUpstream((_request, response) => response.end('fine')))
    await prepareGuarded({ ...direct, OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8' }, upstream.url)
    if (hasNeighbour) await command(direct, 'org', 'create', neighbour)
    const envOf = ({ name, proxy }: { name: string; proxy: DatabaseProxy }) => ({
      ...{ DATA_DIR: folder, DATABASE_URL: proxy.url, LIMIT_FAILED_CREDENTIALS: 'off' },
      ...{ NODE_OPTIONS: `--import ${skew}`, CLOCK_OFFSET_FILE: join(folder, name) },
      ...(workers > 1 ? { WORKERS: String(workers) } : {}),
    })
    mkdirSync(folder, { recursive: true })
    const start = async (node: { name: string; proxy: DatabaseProxy }) =>
      await startServerProcess(envOf(node))
    const nodes: FleetNode[] = []
    for (let at = 0; at < nodeCount; at++) {
      const name = `node-${at}`
      const proxy = opened.use(await startDatabaseProxy(cluster.url))
      const setClock = (offsetMs: number): void =>
        writeFileSync(join(folder, name), String(offsetMs))
      const node = { name, proxy, setClock, isDown: false, server: await start({ name, proxy }) }
      // End the process that the node has at the end, because a restart replaces `node.server`.
      opened.defer(async () => await node.server[Symbol.asyncDispose]())
      nodes.push(node)
    }
    const fleet = new Fleet({ cluster, nodes, start, opened: opened.move() })
    await fleet.#issueTokens(direct, ['torture', ...(hasNeighbour ? [neighbour] : [])])
    return fleet
  }

  async #issueTokens(env: Record<string, string>, slugs: readonly string[]): Promise<void> {
    const allowed = ['--permission', 'keys.issue', '--permission', 'keys.manage']
    for (const slug of slugs) {
      const issued = await command(env, 'token', 'issue', slug, '--name', 'torture', ...allowed)
      this.#tokens.set(slug, issued['secret'] ?? '')
    }
  }

  async restart(node: FleetNode): Promise<void> {
    node.server = await this.#start(node)
    node.isDown = false
  }

  /** Makes a guarded call with a key; returns its status, or 0 if there was no response. */
  async call(node: FleetNode, secret: string): Promise<number> {
    const path = '/api/v1/intercept/up/x'
    return (await this.#ask(node, { path, headers: { 'x-api-key': secret } })).status
  }

  async isReady(node: FleetNode): Promise<boolean> {
    return (await this.#ask(node, { path: '/readyz' })).status === 200
  }

  /** Resolves when all nodes are ready; throws if one takes too long. */
  async allReady(withinMs = 30_000): Promise<void> {
    const end = performance.now() + withinMs
    for (const node of this.nodes) {
      while (!(await this.isReady(node))) {
        if (performance.now() > end) {
          const last = node.server.lines.slice(-5).join('\n')
          throw new Error(`${node.name} is not ready within ${withinMs} ms:\n${last}`)
        }
        await wait(20)
      }
    }
  }

  async issue(node: FleetNode, name: string, organization = 'torture'): Promise<IssuedKey> {
    const path = `/organizations/${organization}/keys`
    const { status, text } = await this.#api(node, organization, { path, body: { name } })
    if (status !== 201) throw new Error(`issuing a key: ${status} ${text}`)
    const { key, secret } = JSON.parse(text) as { key: { id: string }; secret: string }
    return { id: key.id, secret }
  }

  /** Issues a key with a daily quota; returns its secret. */
  async issueLimited(calls: number): Promise<string> {
    const [node] = this.nodes
    if (node === undefined) throw new Error('there is no node')
    const body = { name: 'limited', quota: { calls, period: 'day' } }
    const asked = { path: '/organizations/torture/keys', body }
    const { status, text } = await this.#api(node, 'torture', asked)
    if (status !== 201) throw new Error(`issuing a key: ${status} ${text}`)
    return (JSON.parse(text) as IssuedKey).secret
  }

  /** Revokes a key, without a retry if there is no response. */
  async revoke(node: FleetNode, { id }: IssuedKey): Promise<Revocation> {
    const startedAt = performance.now()
    const path = `/organizations/torture/keys/${id}/revoke`
    const { status, text } = await this.#api(node, 'torture', { path, body: {} })
    const answeredAt = performance.now()
    const answer = { status, answeredAt, tookMs: answeredAt - startedAt }
    if (status !== 200) return { ...answer, nodes: 0, silentNodes: 0 }
    const { confirmation } = JSON.parse(text) as { confirmation: Record<string, number> }
    const { nodes = 0, silent_nodes: silentNodes = 0 } = confirmation
    return { ...answer, nodes, silentNodes }
  }

  async #api(
    node: FleetNode,
    organization: string,
    { path, body }: { path: string; body: object },
  ): Promise<Response> {
    const headers = {
      authorization: `Bearer ${this.#tokens.get(organization) ?? ''}`,
      'content-type': 'application/json',
    }
    return await this.#ask(node, { path: `/api/v1${path}`, headers, body, method: 'POST' })
  }

  async #ask(
    node: FleetNode,
    asked: { path: string; method?: string; headers?: Record<string, string>; body?: object },
  ): Promise<Response> {
    const { path, method = 'GET', headers = {}, body } = asked
    return await new Promise((resolve) => {
      const nothing = (): void => resolve({ status: 0, text: '' })
      const sent = request(`${node.server.baseUrl}${path}`, {
        ...{ agent: this.#agent, method, headers },
        signal: AbortSignal.timeout(method === 'POST' ? 30_000 : callWithinMs),
      })
      sent.on('response', (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => void (text += chunk))
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
        response.on('error', nothing)
      })
      sent.on('error', nothing)
      sent.end(body === undefined ? undefined : JSON.stringify(body))
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#agent.destroy()
    await this.#opened[Symbol.asyncDispose]()
  }
}
