import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { listenBacklog, stopAccepting } from './stop-accepting.ts'

/** A taker to which so many connections are still to be sent gets more only if all others are as late. */
const lateFrom = 16
/** A connection is closed if so many are still to be sent to the taker that should have it. */
const maxUnsent = 1024
const acceptMs = 2000

/**
 * Sends a connection to another process, when that has received those before; `sent` is then called, with an error if
 * that failed.
 */
export type SendConnection = (socket: Socket, sent: (error: Error | null) => void) => void

/** A process that takes connections of a `SpreadListener`. */
export class ConnectionTaker {
  readonly #takers: Set<ConnectionTaker>
  readonly #send: SendConnection
  readonly #unsent = new Set<Socket>()
  #open = 0

  constructor(takers: Set<ConnectionTaker>, send: SendConnection) {
    this.#takers = takers
    this.#send = send
    takers.add(this)
  }

  /** How many connections it was given and are open, as far as it has reported. */
  get open(): number {
    return this.#open
  }

  get isLate(): boolean {
    return this.#unsent.size >= lateFrom
  }

  give(socket: Socket): void {
    if (this.#unsent.size >= maxUnsent) {
      socket.destroy()
      return
    }
    // Of takers with equally many, the one that was given none for the longest time comes first.
    this.#takers.delete(this)
    this.#takers.add(this)
    this.#open++
    this.#unsent.add(socket)
    // Otherwise, Node would count the open connections of each process too, and ask for them when the server closes.
    Object.assign(socket, { server: null, _server: null })
    this.#send(socket, (error) => {
      this.#unsent.delete(socket)
      if (error !== null) socket.destroy()
    })
  }

  /** So many of its connections have closed. */
  closed(count: number): void {
    this.#open -= count
  }

  /** Gives it no more connections; those that are still to be sent are sent. */
  leave(): void {
    this.#takers.delete(this)
  }

  /** For a process that has ended: closes the connections that are still to be sent. */
  abandon(): void {
    this.leave()
    for (const socket of this.#unsent) socket.destroy()
  }
}

/** A listener that gives each connection to the process with the fewest open ones. */
export class SpreadListener {
  readonly address: AddressInfo
  readonly #server: Server
  readonly #takers: Set<ConnectionTaker>

  private constructor(server: Server, takers: Set<ConnectionTaker>) {
    this.#server = server
    this.#takers = takers
    this.address = server.address() as AddressInfo
  }

  /** Resolves when it listens; rejects with the system's error if it cannot. */
  static async open(where: {
    readonly host: string
    readonly port: number
  }): Promise<SpreadListener> {
    const takers = new Set<ConnectionTaker>()
    const server = createServer({ pauseOnConnect: true }, (socket) => {
      const taker = fewestOf(takers)
      if (taker === undefined) socket.destroy()
      else taker.give(socket)
    })
    server.listen({ ...where, backlog: listenBacklog })
    await once(server, 'listening')
    // From now on, an error concerns a single connection that could not be accepted.
    server.on('error', () => {})
    return new SpreadListener(server, takers)
  }

  add(send: SendConnection): ConnectionTaker {
    return new ConnectionTaker(this.#takers, send)
  }

  /** Stops listening; before, every connection that callers have made is given to a taker. */
  async stop(): Promise<void> {
    const monotonic = (): number => performance.now()
    await stopAccepting(this.#server, { acceptMs, monotonic, closed: () => {} })
  }
}

type Load = Pick<ConnectionTaker, 'open' | 'isLate'>

/** Returns the taker with the fewest open connections, the first of several; undefined if there is none. */
export function fewestOf<T extends Load>(takers: Iterable<T>): T | undefined {
  let best: T | undefined
  for (const taker of takers) {
    if (best === undefined || isBefore(taker, best)) best = taker
  }
  return best
}

function isBefore(one: Load, other: Load): boolean {
  return one.isLate === other.isLate ? one.open < other.open : other.isLate
}
