import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Pace } from './lane/pace.ts'
import {
  endWithLinger,
  foldMapped,
  type FrontConnection,
  type OpenExchange,
} from './lane/front-connection.ts'

/** How a connection is judged; all times in milliseconds. */
export interface ConnectionLimits {
  /** A body that we wait for must bring this many bytes in each window. */
  readonly bodyWindowMs: number
  readonly bodyWindowBytes: number
  /** Requests of one connection under way at once; beyond it reading pauses. */
  readonly pipelined: number
  /** Answers that may wait behind the one being written; whoever asks for more is cut off. */
  readonly queued: number
  /** How long what a refused caller still sends is read, so that the refusal reaches it. */
  readonly lingerMs: number
}

const connections = new WeakMap<object, ClientConnection>()

/** The connection that a socket belongs to; opened by `ClientConnection.open`. */
export function connectionOf(socket: object): ClientConnection | undefined {
  return connections.get(socket)
}

/** One caller's connection: the exchanges under way on it, and whether anything more on it is executed. */
export class ClientConnection implements FrontConnection {
  readonly peerAddress: string
  /** True once a refusal ended this connection: later requests on it are dropped unseen. */
  refused = false
  /** True once the process stops: every answer says that the connection ends with it. */
  draining = false
  readonly socket: Socket
  readonly #responses = new Set<ServerResponse>()
  readonly #limits: ConnectionLimits
  readonly #exchanges = new Set<OpenExchange>()
  readonly #pace: Pace
  #rest: IncomingMessage | undefined
  /** Responses that had to wait behind others, until they are over. */
  readonly #queued = new Set<ServerResponse>()

  constructor(socket: Socket, limits: ConnectionLimits) {
    this.socket = socket
    this.#limits = limits
    this.#pace = new Pace(socket, limits)
    this.peerAddress = foldMapped(socket.remoteAddress ?? '')
    connections.set(socket, this)
    // A caller that closes its side has left: it can't be told from one that is gone altogether.
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

  /** Executes nothing more that arrives here, and lets the last answer reach a caller who is still sending. */
  refuseFurther(): void {
    if (this.refused) return
    this.refused = true
    const socket = this.socket
    // Node destroys a finished connection at once; with unread bytes in the kernel that would reset the answer away.
    socket.destroySoon = () => endWithLinger(socket, this.#limits.lingerMs)
  }

  /** Watches that the short rest of a body nobody wants arrives in time. */
  expectRest(request: IncomingMessage): void {
    this.#rest = request
  }

  /** Watches an answer that somebody else writes, and the body that comes for it. */
  hold(response: ServerResponse): void {
    if (this.draining) response.shouldKeepAlive = false
    this.#responses.add(response)
    response.on('close', () => {
      this.#responses.delete(response)
      // Answered before its body has come: Node reads the rest and throws it away, however long that takes.
      if (!response.req.complete) this.#rest = response.req
    })
  }

  /**
   * Takes an answer's place behind the one being written, or cuts the connection: Node executes all the requests of one
   * read (64 KiB hold more than a thousand) and keeps every answer until the caller has read those before it.
   */
  queue(response: ServerResponse): boolean {
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

  /** Ends the connection after what was written; nothing more that arrives on it is executed. */
  endInOrder(): void {
    this.refuseFurther()
    this.socket.destroySoon()
    this.socket.resume()
  }

  /** Whether the only request under way is still arriving: then a parse error is about that one. */
  get soleExchange(): OpenExchange | undefined {
    if (this.#exchanges.size !== 1) return undefined
    const [exchange] = this.#exchanges
    return exchange
  }

  /** Whether a refusal may be written as raw bytes: not into an answer, and not where an earlier one is awaited. */
  get mayAnswerRaw(): boolean {
    // What comes late or broken of an answered request's body gets no second final answer (RFC 9110, section 15), and
    // a response that waits behind another one must not be overtaken.
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

  /** Whether no request is under way: nothing came, half a head, or the rest of an answered body. */
  get owesNothing(): boolean {
    return !this.busy && this.#responses.size === 0
  }

  /** Whether nothing is owed to the caller any more, though a body is still arriving. */
  get isAnswered(): boolean {
    return this.owesNothing && this.#rest?.complete === false
  }

  /** Judges while draining whether the caller keeps a request from ending: it sends below the pace, or reads nothing. */
  isStalled(nowMs: number, stallMs: number): boolean {
    return this.#pace.isStalled(nowMs, stallMs, this.#awaitsBody())
  }

  /** Judges a body that comes too slowly; called from time to time with the monotonic clock. Returns true if too slow. */
  isBodyTooSlow(nowMs: number): boolean {
    return this.#pace.isTooSlow(nowMs, this.#awaitsBody())
  }

  #hasWaiting(): boolean {
    for (const response of this.#queued) if (response.socket === null) return true
    return false
  }

  #awaitsBody(): boolean {
    if (this.#rest?.complete === true) this.#rest = undefined
    if (this.#rest !== undefined) return true
    for (const exchange of this.#exchanges) if (exchange.awaitsBody) return true
    for (const response of this.#responses) if (!response.req.complete) return true
    return false
  }

  #leave(): void {
    for (const exchange of this.#exchanges) exchange.leave()
  }
}
