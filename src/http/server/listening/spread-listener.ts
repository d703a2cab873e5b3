import { once } from 'node:events'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { ConnectionQueue, type ConnectionTaker, type SendConnection } from './connection-queue.ts'
import { listenBacklog, maxAcceptMs, stopAccepting } from './stop-accepting.ts'

/** A listener that gives each connection to the process with the fewest open ones. */
export class SpreadListener {
  readonly address: AddressInfo
  readonly #server: Server
  readonly #queue: ConnectionQueue

  private constructor(server: Server, queue: ConnectionQueue) {
    this.#server = server
    this.#queue = queue
    this.address = server.address() as AddressInfo
  }

  /**
   * Resolves when it listens; rejects with the system's error if it cannot. `dropped` is called for each connection that
   * is lost: it could not be accepted, or no process could have it.
   */
  static async open(
    where: { readonly host: string; readonly port: number },
    dropped: () => void,
  ): Promise<SpreadListener> {
    const queue = new ConnectionQueue(monotonic, dropped)
    const server = createServer({ pauseOnConnect: true }, (socket) => queue.push(socket))
    server.listen({ ...where, backlog: listenBacklog })
    await once(server, 'listening')
    // From now on, an error concerns a single connection that could not be accepted.
    server.on('error', dropped)
    return new SpreadListener(server, queue)
  }

  add(send: SendConnection): ConnectionTaker {
    return this.#queue.add(send)
  }

  /** Gives every connection that callers have made to a taker, then stops listening. */
  async stop(): Promise<void> {
    // The server's `close` event never comes, because it does not know that connections were sent away.
    await stopAccepting(this.#server, { acceptMs: maxAcceptMs, monotonic, closed: () => {} })
    await this.#queue.untilEmpty(maxAcceptMs)
  }
}

function monotonic(): number {
  return performance.now()
}
