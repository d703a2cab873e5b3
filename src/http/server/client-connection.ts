import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Pace } from './lane/pace.ts'
import {
  endWithLinger,
  foldMapped,
  type FrontConnection,
  type OpenExchange,
} from './lane/front-connection.ts'

/** The limits of a connection; all times in milliseconds. */
export interface ConnectionLimits {
  /** In each window of this length, at least `bodyWindowBytes` of an awaited body must arrive. */
  readonly bodyWindowMs: number
  readonly bodyWindowBytes: number
  /** Once this many calls are in progress on one connection, reading pauses. */
  readonly pipelined: number
  /** Maximum responses queued behind the one being written; a caller that requests more is disconnected. */
  readonly queued: number
  /** How long to keep reading from a refused caller, so that the refusal reaches it. */
  readonly lingerMs: number
}

const connections = new WeakMap<object, ClientConnection>()

/** Returns the connection that was created for a socket; undefined if there is none. */
export function connectionOf(socket: object): ClientConnection | undefined {
  return connections.get(socket)
}

/** One caller's connection: its exchanges in progress, and whether further requests on it are processed. */
export class ClientConnection implements FrontConnection {
  readonly peerAddress: string
  /** Whether this connection processes no further requests: any that still arrive are discarded. */
  refused = false
  /** True once the process is stopping: each response that begins from then on announces that the connection ends. */
  draining = false
  readonly socket: Socket
  readonly #responses = new Set<ServerResponse>()
  readonly #limits: ConnectionLimits
  readonly #exchanges = new Set<OpenExchange>()
  readonly pace: Pace
  #rest: IncomingMessage | undefined
  /** The responses that had to wait behind others and are not complete yet. */
  readonly #queued = new Set<ServerResponse>()
  /** The response to the latest request; undefined once it is complete. */
  #newest: ServerResponse | undefined

  constructor(socket: Socket, limits: ConnectionLimits) {
    this.socket = socket
    this.#limits = limits
    this.pace = new Pace(socket, limits)
    this.peerAddress = foldMapped(socket.remoteAddress ?? '')
    connections.set(socket, this)
    // A caller that half-closes is treated as gone, because nothing shows whether it still reads.
    socket.on('end', () => this.#leave())
    socket.on('close', () => this.#leave())
  }

  get busy(): boolean {
    return this.#exchanges.size > 0
  }

  add(exchange: OpenExchange): void {
    this.#exchanges.add(exchange)
    if (this.#exchanges.size === this.#limits.pipelined) this.socket.pause()
  }

  remove(exchange: OpenExchange): void {
    if (!this.#exchanges.delete(exchange)) return
    if (this.#exchanges.size === this.#limits.pipelined - 1) this.socket.resume()
  }

  /** Processes no further requests, and lets the last response reach a caller that is still sending. */
  refuseFurther(): void {
    if (this.refused) return
    this.refused = true
    const socket = this.socket
    // Node destroys a finished connection immediately; with unread bytes in the kernel, that would reset the connection
    // before the response arrives.
    socket.destroySoon = () => endWithLinger(socket, this.#limits.lingerMs)
  }

  /** Notes a body that is read only to be discarded, so that it too must arrive in time. */
  expectRest(request: IncomingMessage): void {
    this.#rest = request
  }

  /** Tracks a response that the app writes, and the body of its request. */
  hold(response: ServerResponse): void {
    if (this.draining) response.shouldKeepAlive = false
    this.#responses.add(response)
    response.on('close', () => {
      this.#responses.delete(response)
      // If the response ended before the body arrived, Node reads and discards the rest without a time limit, so its
      // pace is watched here.
      if (!response.req.complete) this.#rest = response.req
    })
  }

  /**
   * Queues a response behind the one being written; if too many wait already, disconnects and returns false. Node
   * processes all requests of one read (64 KiB contain more than a thousand) and keeps every response until the caller
   * has read the earlier ones.
   */
  queue(response: ServerResponse): boolean {
    this.#newest = response
    response.once('close', () => {
      if (this.#newest === response) this.#newest = undefined
    })
    if (response.socket !== null) return true
    if (this.#queued.size === this.#limits.queued) {
      this.refused = true
      this.destroy()
      return false
    }
    this.#queued.add(response)
    response.once('close', () => this.#queued.delete(response))
    return true
  }

  drain(): void {
    this.draining = true
    for (const response of this.#responses) response.shouldKeepAlive = false
  }

  destroy(): void {
    this.socket.destroy()
  }

  endInOrder(): void {
    this.refuseFurther()
    this.socket.destroySoon()
    this.socket.resume()
  }

  get soleExchange(): OpenExchange | undefined {
    if (this.#exchanges.size !== 1) return undefined
    const [exchange] = this.#exchanges
    return exchange
  }

  get mayAnswerRaw(): boolean {
    // A request gets only one final response, even if the rest of its body is late or malformed (RFC 9110, section 15),
    // and a queued response must not be overtaken.
    if (this.refused || this.#rest?.complete === false || this.#hasWaiting()) return false
    const exchange = this.soleExchange
    if (this.#responses.size === 0) {
      return (
        !this.busy || (exchange !== undefined && !exchange.started && !exchange.requestComplete)
      )
    }
    const [response] = this.#responses
    return (
      !this.busy &&
      this.#responses.size === 1 &&
      response?.headersSent === false &&
      !response.req.complete
    )
  }

  /**
   * Whether the next response may be written at once: Node hands over a request for an upgrade while earlier ones still
   * wait for their responses.
   */
  get mayWriteNext(): boolean {
    return this.#newest === undefined && this.mayAnswerRaw
  }

  get owesNothing(): boolean {
    return !this.busy && this.#responses.size === 0
  }

  get isAnswered(): boolean {
    return this.owesNothing && this.#rest?.complete === false
  }

  get awaitsBody(): boolean {
    if (this.#rest?.complete === true) this.#rest = undefined
    if (this.#rest !== undefined) return true
    for (const exchange of this.#exchanges) if (exchange.awaitsBody) return true
    for (const response of this.#responses) if (!response.req.complete) return true
    return false
  }

  #hasWaiting(): boolean {
    for (const response of this.#queued) if (response.socket === null) return true
    return false
  }

  #leave(): void {
    for (const exchange of this.#exchanges) exchange.leave()
  }
}
