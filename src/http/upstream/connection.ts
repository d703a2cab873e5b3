import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { ChunkCopies } from '../message/chunk-copies.ts'
import { turnReads, turnWrites } from '../message/end-of-turn.ts'
import type { TurnReader } from '../message/turn-reads.ts'
import { AnswerReader } from './response-reader.ts'
import type { AnswerSink } from './response-reader.ts'
import { minuteMs } from '../../units.ts'

/** Why a call to the upstream failed, as a problem code. */
export interface UpstreamFailure {
  readonly code: 'upstream_unreachable' | 'upstream_invalid' | 'upstream_timeout'
  readonly cause: unknown
}

/** Receives the response to one request on a connection, and learns when it may send more of the body. */
export interface ConnectionUser extends AnswerSink {
  /** Called when the socket has drained, to continue sending the body. */
  writable(): void
  /** Called after all events of one read. */
  readEnded(): void
  /**
   * Called if the connection breaks, the response is malformed or the request times out, before the response is
   * complete; at most once, and nothing is called after it.
   */
  failed(failure: UpstreamFailure): void
}

/** The tunnel that uses a connection after a 101. */
export interface TunnelEnd {
  fromUpstream(bytes: Buffer): void
  upstreamEnded(): void
  writable(): void
  closed(): void
}

/** The beginning of a request: its head, with any part of the body that has arrived. */
export interface RequestStart {
  readonly method: string
  /** Characters are bytes (latin1). */
  readonly head: string
  /** Either latin1 text, '' for none, or bytes that are valid only during the call. */
  readonly body: string | Buffer
  readonly ended: boolean
  readonly upgrade: boolean
}

const copies = new ChunkCopies()
/** Chunks up to this size are sent as text: the socket itself copies text, which is cheaper for small chunks. */
const joinedBytes = 16 * 1024

/** How many bytes may wait for the upstream to read them before the caller is paused. */
const maxWaitingBytes = 64 * 1024

/** One connection to an upstream: carries at most one request at a time and parses responses strictly. */
export class UpstreamConnection implements TurnReader {
  /** Monotonic time in milliseconds at which the current request times out; Infinity while no time limit applies. */
  deadlineAt = Infinity
  /** Monotonic time in milliseconds at which an idle connection is closed. */
  expiresAt = Infinity
  /** How many requests this connection carried before the current one. */
  uses = 0
  hasWaiting = false
  readonly #socket: Socket
  /** A TLS socket keeps what is written for a while, so it would retain a whole shared buffer for each request. */
  readonly #isTls: boolean
  readonly #reader = new AnswerReader()
  readonly #released: (connection: UpstreamConnection, reusable: boolean) => void
  #user: ConnectionUser | undefined
  #requestEnded = true
  #answerEnded = true
  #tunnel: TunnelEnd | undefined
  #dead = false
  /** The batch of `turnWrites` that contains the last collected request; -1 if there was none or it was too long. */
  #sentIn = -1

  constructor(
    socket: Socket,
    released: (connection: UpstreamConnection, reusable: boolean) => void,
  ) {
    this.#socket = socket
    this.#isTls = socket instanceof TLSSocket
    this.#released = released
    socket.on('error', (error) => this.#broke(error))
    socket.on('close', () => this.#broke(new Error('the connection closed')))
    socket.on('end', () => this.#ended())
    socket.on('drain', () => (this.#tunnel ?? this.#user)?.writable())
  }

  /** Whether the connection is open and no request uses it. */
  get alive(): boolean {
    return !this.#dead && this.#user === undefined
  }

  /** Whether any byte of the current response has arrived. */
  get answerStarted(): boolean {
    return this.#reader.started
  }

  /**
   * How many milliseconds to keep an idle connection: a second less than the upstream announced, but at most a minute;
   * `byDefaultMs` if it announced nothing.
   */
  idleForMs(byDefaultMs: number): number {
    const said = this.#reader.keepAliveMs
    return said === undefined ? byDefaultMs : Math.min(Math.max(0, said - 1000), minuteMs)
  }

  /**
   * Sends the beginning of a request as one write; a whole request on a plain socket is written when this turn of the
   * event loop ends.
   */
  begin(user: ConnectionUser, { method, head, body, ended, upgrade }: RequestStart): void {
    // A connection that closes while a request waits to begin on it has nobody to tell.
    if (this.#dead) {
      const cause = new Error('the connection closed before the request began')
      user.failed({ code: 'upstream_invalid', cause })
      return
    }
    this.#user = user
    this.#requestEnded = ended
    this.#answerEnded = false
    this.#reader.expect(user, method, upgrade)
    if (this.#isTls || !ended) {
      const text = typeof body === 'string' ? body : body.toString('latin1')
      this.#socket.write(head + text, 'latin1')
    } else if (typeof body === 'string') {
      this.#sentIn = turnWrites.addText(this.#socket, head + body)
    } else {
      this.#sentIn = this.#addJoined(head, body)
    }
  }

  #addJoined(head: string, body: Buffer): number {
    const length = head.length + body.length
    turnWrites.makeRoom(length)
    const { bytes, at } = turnWrites
    bytes.write(head, at, 'latin1')
    bytes.set(body, at + head.length)
    return turnWrites.add(this.#socket, length)
  }

  /**
   * Sends a chunk of the body, whose bytes must not change afterwards; after false, the sender must wait for
   * `writable`.
   */
  write(chunk: Buffer | string): boolean {
    if (this.#dead) return true
    if (typeof chunk === 'string') this.#socket.write(chunk, 'latin1')
    else this.#socket.write(chunk)
    // `writableLength` does not include the bytes that the kernel took at once.
    return this.#socket.writableLength <= maxWaitingBytes
  }

  /** Like `write`, for a chunk that is valid only during the call. */
  writeCopy(chunk: Buffer): boolean {
    if (this.#dead) return true
    if (chunk.length <= joinedBytes) this.#socket.write(chunk.toString('latin1'), 'latin1')
    else copies.write(this.#socket, chunk)
    return this.#socket.writableLength <= maxWaitingBytes
  }

  cork(): void {
    this.#socket.cork()
  }

  uncork(): void {
    this.#socket.uncork()
  }

  /** Must be called when the whole request has been written, unless `begin` already wrote all of it (`ended`). */
  endRequest(): void {
    this.#requestEnded = true
    if (this.#answerEnded) this.#settle()
  }

  /** Closes our side of the connection; the upstream may still send. */
  end(): void {
    this.#socket.end()
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  /** Abandons the connection whatever is in progress; its user is not notified. */
  destroy(): void {
    this.#user = undefined
    this.#die()
  }

  expire(): void {
    this.#giveUp({ code: 'upstream_timeout', cause: new Error('the deadline has passed') })
  }

  /**
   * Bytes that answer no request must be handled at once: if they waited, a request that begins later in this turn could
   * be taken for the one they answer.
   */
  get mayWait(): boolean {
    if (this.#tunnel !== undefined) return true
    return this.#user !== undefined && !this.#dead && this.#sentIn !== turnWrites.batch
  }

  /** Handles bytes from the socket, which are valid only during the call; always returns true. */
  take(bytes: Buffer): true {
    this.#receive(bytes)
    return true
  }

  #receive(bytes: Buffer): void {
    const user = this.#user
    if (this.#tunnel !== undefined) {
      this.#tunnel.fromUpstream(bytes)
      return
    }
    if (user === undefined || this.#dead) {
      // An idle upstream must not send anything: its bytes could otherwise answer the next caller's request.
      this.#die()
      return
    }
    if (this.#sentIn === turnWrites.batch) {
      this.#fail(new Error('the upstream answered a request before it was sent'))
      return
    }
    try {
      this.#reader.read(bytes)
    } catch (error) {
      this.#fail(error)
      return
    }
    user.readEnded()
    if (!this.#reader.busy) this.#answered()
  }

  /** After a 101, passes all further bytes to the tunnel unchanged. */
  switchTo(tunnel: TunnelEnd): void {
    this.#tunnel = tunnel
    this.#user = undefined
  }

  #answered(): void {
    if (this.#answerEnded) return
    this.#answerEnded = true
    // If the response ended before the request did, nobody needs the rest of the request body.
    if (this.#requestEnded) this.#settle()
    else this.destroy()
  }

  #settle(): void {
    if (this.#user === undefined) return
    this.#user = undefined
    this.deadlineAt = Infinity
    this.uses++
    // A slow caller may have left the socket paused; the connection's next user must receive data.
    if (this.#socket.isPaused()) this.#socket.resume()
    if (this.#reader.reusable && !this.#dead) this.#released(this, true)
    else this.#die()
  }

  #ended(): void {
    turnReads.handleNow(this)
    if (this.#tunnel !== undefined) {
      this.#tunnel.upstreamEnded()
      return
    }
    try {
      this.#reader.close()
    } catch (error) {
      this.#fail(error)
      return
    }
    if (!this.#reader.busy) this.#answered()
    this.#die()
  }

  #broke(cause: Error): void {
    turnReads.handleNow(this)
    this.#fail(cause)
  }

  // Fails the current request as `upstream_invalid`: the upstream accepted the connection, so it is not unreachable.
  #fail(cause: unknown): void {
    this.#giveUp({ code: 'upstream_invalid', cause })
  }

  #giveUp(failure: UpstreamFailure): void {
    const user = this.#user
    this.#user = undefined
    this.#die()
    this.#tunnel?.closed()
    user?.failed(failure)
  }

  #die(): void {
    if (this.#dead) return
    this.#dead = true
    this.deadlineAt = Infinity
    this.#socket.destroy()
    this.#released(this, false)
  }
}
