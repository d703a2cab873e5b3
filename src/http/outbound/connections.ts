import type { Agent } from 'undici'
import type { Connector } from './connector.ts'
import { minuteMs } from '../../units.ts'

const keepAliveMs = 10_000
const maxKeepAliveMs = minuteMs
const maxHeaderBytes = 16 * 1024
const maxIdlePartitions = 1000

interface Partition {
  readonly agent: Agent
  lent: number
}

/**
 * Keeps connections alive, separately for each partition: no request waits for another partition's connection, or reads
 * data that a receiver sent after another partition's response. A named partition has no limit on its connections:
 * whoever uses it must limit concurrent requests.
 */
export class Connections {
  readonly #connect: Connector
  readonly #perOrigin: number
  readonly #partitions = new Map<string, Partition>()
  #closed = false

  constructor(connect: Connector, perOrigin: number) {
    this.#connect = connect
    this.#perOrigin = perOrigin
  }

  async lend(name = ''): Promise<Disposable & { readonly agent: Agent }> {
    // undici is loaded for the first request, so that a node that sends none saves 8 MB of memory. Node remembers what
    // it has loaded, and tries again after a failure.
    const { Agent } = await import('undici')
    if (this.#closed) throw new Error('the outbound client is closed')
    let partition = this.#partitions.get(name)
    if (partition === undefined) {
      const connections = name === '' ? this.#perOrigin : null
      partition = { agent: new Agent(this.#options(connections)), lent: 0 }
    } else {
      // Moves the partition to the end of the map, so that the most recently used partitions are closed last.
      this.#partitions.delete(name)
    }
    this.#partitions.set(name, partition)
    partition.lent += 1
    const { agent } = partition
    return { agent, [Symbol.dispose]: () => this.#giveBack(partition) }
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.all(
      [...this.#partitions.values()].map(async ({ agent }) => await agent.destroy()),
    )
    this.#partitions.clear()
  }

  #giveBack(partition: Partition): void {
    partition.lent -= 1
    if (this.#partitions.size <= maxIdlePartitions) return
    for (const [name, { agent, lent }] of this.#partitions) {
      if (lent > 0) continue
      this.#partitions.delete(name)
      void agent.destroy()
      return
    }
  }

  #options(connections: number | null): Agent.Options {
    return {
      connect: (to, done) => void openFor(this.#connect, to, done),
      connections,
      pipelining: 1,
      allowH2: false,
      maxHeaderSize: maxHeaderBytes,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: maxKeepAliveMs,
      // Disabled, because `exchange` enforces one deadline for the whole request.
      headersTimeout: 0,
      bodyTimeout: 0,
    }
  }
}

async function openFor(
  connect: Connector,
  to: { protocol: string; hostname: string; port: string },
  done: (...result: [Error, null] | [null, Awaited<ReturnType<Connector>>]) => void,
): Promise<void> {
  const secure = to.protocol === 'https:'
  const host = to.hostname.replace(/^\[|\]$|\.$/g, '')
  const port = to.port === '' ? (secure ? 443 : 80) : Number(to.port)
  try {
    done(null, await connect({ host, port, secure }))
  } catch (error) {
    done(error as Error, null)
  }
}
