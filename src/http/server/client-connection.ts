import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

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

/** What a connection knows of an exchange that is under way on it. */
export interface OpenExchange {
  readonly started: boolean
  readonly awaitsBody: boolean
  readonly requestComplete: boolean
  readonly watcher: { callerLeft(): void } | undefined
  refuse(error: unknown): void
  leave(): void
}

const connections = new WeakMap<object, ClientConnection>()

/** The connection that a socket belongs to; opened by `ClientConnection.open`. */
export function connectionOf(socket: object): ClientConnection | undefined {
  return connections.get(socket)
}

/** One caller's connection: the exchanges under way on it, and whether anything more on it is executed. */
export class ClientConnection {
  readonly peerAddress: string
  /** True once a refusal ended this connection: later requests on it are dropped unseen (F6). */
  refused = false
  /** True once the process stops: every answer says that the connection ends with it. */
  draining = false
  readonly socket: Socket
  readonly #responses = new Set<ServerResponse>()
  readonly #limits: ConnectionLimits
  readonly #exchanges = new Set<OpenExchange>()
  #rest: IncomingMessage | undefined
  #queued = 0
  #windowEndsAt = 0
  #windowBytes = 0
  #drainWindow: { at: number; bytesRead: number; taken: number } | undefined

  constructor(socket: Socket, limits: ConnectionLimits) {
    this.socket = socket
    this.#limits = limits
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
    socket.destroySoon = () => {
      if (socket.destroyed) return
      socket.end()
      const linger = setTimeout(() => socket.destroy(), this.#limits.lingerMs)
      socket.once('end', () => socket.destroy())
      socket.once('close', () => clearTimeout(linger))
    }
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
    if (this.#queued === this.#limits.queued) {
      this.refused = true
      this.destroy()
      return false
    }
    this.#queued++
    response.once('close', () => this.#queued--)
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
  end(): void {
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
    // What comes late or broken of an answered request's body gets no second final answer (RFC 9110, section 15).
    if (this.refused || this.#rest?.complete === false) return false
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
    const { bytesRead, bytesWritten, writableLength } = this.socket
    const awaitsBody = this.#awaitsBody()
    const taken = bytesWritten - writableLength
    const since = this.#drainWindow
    if (!awaitsBody && writableLength === 0) this.#drainWindow = undefined
    else if (since === undefined || nowMs >= since.at + stallMs) {
      this.#drainWindow = { at: nowMs, bytesRead, taken }
    }
    if (since === undefined || nowMs < since.at + stallMs) return false
    const pace = (this.#limits.bodyWindowBytes * stallMs) / this.#limits.bodyWindowMs
    const sends = awaitsBody && bytesRead - since.bytesRead >= pace
    const reads = writableLength > 0 && taken > since.taken
    return (awaitsBody || writableLength > 0) && !sends && !reads
  }

  /** Judges a body that comes too slowly; called from time to time with the monotonic clock. Returns true if too slow. */
  isBodyTooSlow(nowMs: number): boolean {
    if (!this.#awaitsBody()) {
      this.#windowEndsAt = 0
      return false
    }
    const { bytesRead } = this.socket
    if (this.#windowEndsAt === 0 || nowMs >= this.#windowEndsAt) {
      const slow =
        this.#windowEndsAt !== 0 && bytesRead - this.#windowBytes < this.#limits.bodyWindowBytes
      this.#windowEndsAt = nowMs + this.#limits.bodyWindowMs
      this.#windowBytes = bytesRead
      return slow
    }
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

/** An IPv4 address in IPv6's clothing is that IPv4 address. */
function foldMapped(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address
}
