import type { Socket } from 'node:net'
import { ChunkCopies } from '../message/chunk-copies.ts'
import { AnswerReader } from './response-reader.ts'
import type { AnswerSink } from './response-reader.ts'

/** Why a call to the upstream failed, in the words of the table of refusals. */
export interface UpstreamFailure {
  readonly code: 'upstream_unreachable' | 'upstream_invalid' | 'upstream_timeout'
  readonly cause: unknown
}

/** Who uses a connection for one request. */
export interface ConnectionUser extends AnswerSink {
  /** The socket took what was written; go on sending the body. */
  writable(): void
  /** All that one read brought has been handed over. */
  readEnded(): void
  /** The exchange ended without a whole answer; called at most once, and nothing after it. */
  failed(failure: UpstreamFailure): void
}

/** What a connection is for after a 101. */
export interface TunnelEnd {
  fromUpstream(bytes: Buffer): void
  upstreamEnded(): void
  writable(): void
  closed(): void
}

const copies = new ChunkCopies()
/** Chunks up to this size are cheaper as text, which the socket copies by itself. */
const joinedBytes = 16 * 1024

/** How much may wait for the upstream before the caller is paused. */
const maxWaitingBytes = 64 * 1024

/** One connection to an upstream: at most one request at a time, answers read strictly. */
export class UpstreamConnection {
  /** Monotonic milliseconds at which the upstream is too late; Infinity when nothing is awaited. */
  deadlineAt = Infinity
  /** Monotonic milliseconds at which an idle connection is given up. */
  expiresAt = Infinity
  /** Requests sent on it before the present one. */
  uses = 0
  readonly #socket: Socket
  readonly #reader = new AnswerReader()
  readonly #released: (connection: UpstreamConnection, reusable: boolean) => void
  #user: ConnectionUser | undefined
  #requestEnded = true
  #answerEnded = true
  #tunnel: TunnelEnd | undefined
  #dead = false

  constructor(
    socket: Socket,
    released: (connection: UpstreamConnection, reusable: boolean) => void,
  ) {
    this.#socket = socket
    this.#released = released
    socket.on('error', (error) => this.#fail(error))
    socket.on('close', () => this.#fail(new Error('the connection closed')))
    socket.on('end', () => this.#ended())
    socket.on('drain', () => (this.#tunnel ?? this.#user)?.writable())
  }

  /** Whether it can carry a request. */
  get alive(): boolean {
    return !this.#dead && this.#user === undefined
  }

  /** Whether any byte of the present answer has come. */
  get answerStarted(): boolean {
    return this.#reader.started
  }

  /** Milliseconds an idle connection is worth keeping: what the upstream says less a second, else `byDefaultMs`. */
  idleForMs(byDefaultMs: number): number {
    const said = this.#reader.keepAliveMs
    return said === undefined ? byDefaultMs : Math.min(Math.max(0, said - 1000), 60_000)
  }

  /** Sends a request's head (and perhaps its whole body) as one write; characters are bytes (latin1). */
  begin(
    user: ConnectionUser,
    request: { method: string; text: string; ended: boolean; upgrade: boolean },
  ): void {
    this.#user = user
    this.#requestEnded = request.ended
    this.#answerEnded = false
    this.#reader.expect(user, request.method, request.upgrade)
    this.#socket.write(request.text, 'latin1')
  }

  /** Sends a part of the body, which stays as it is; false asks to wait for `writable`. */
  write(chunk: Buffer | string): boolean {
    if (this.#dead) return true
    if (typeof chunk === 'string') this.#socket.write(chunk, 'latin1')
    else this.#socket.write(chunk)
    // What the kernel took at once is not waited for.
    return this.#socket.writableLength <= maxWaitingBytes
  }

  /** The same for a part that is only good during the call. */
  writeCopy(chunk: Buffer): boolean {
    if (this.#dead) return true
    if (chunk.length <= joinedBytes) this.#socket.write(chunk.toString('latin1'), 'latin1')
    else copies.write(this.#socket, chunk)
    return this.#socket.writableLength <= maxWaitingBytes
  }

  /** Joins the writes until `uncork` into one. */
  cork(): void {
    this.#socket.cork()
  }

  uncork(): void {
    this.#socket.uncork()
  }

  /** The whole request has been handed over. */
  endRequest(): void {
    this.#requestEnded = true
    if (this.#answerEnded) this.#settle()
  }

  /** Closes our side; the upstream may still speak. */
  end(): void {
    this.#socket.end()
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  /** Gives the connection up, whatever is under way; its user hears nothing more. */
  destroy(): void {
    this.#user = undefined
    this.#die()
  }

  /** Lets its user go for being late. */
  expire(): void {
    this.#giveUp({ code: 'upstream_timeout', cause: new Error('the deadline has passed') })
  }

  /** What the socket brought; `bytes` is only good during the call. */
  receive(bytes: Buffer): void {
    const user = this.#user
    if (this.#tunnel !== undefined) {
      this.#tunnel.fromUpstream(bytes)
      return
    }
    if (user === undefined || this.#dead) {
      // An idle upstream has nothing to say: whatever it is, it must not answer the next caller.
      this.#die()
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

  /** After a 101: bytes go to the tunnel as they are. */
  switchTo(tunnel: TunnelEnd): void {
    this.#tunnel = tunnel
    this.#user = undefined
  }

  #answered(): void {
    if (this.#answerEnded) return
    this.#answerEnded = true
    // An answer before the end of the request: the rest of the body is owed to nobody.
    if (this.#requestEnded) this.#settle()
    else this.destroy()
  }

  #settle(): void {
    if (this.#user === undefined) return
    this.#user = undefined
    this.deadlineAt = Infinity
    this.uses++
    // A slow caller's last bytes may have paused it: whoever uses it next must be heard.
    if (this.#socket.isPaused()) this.#socket.resume()
    if (this.#reader.reusable && !this.#dead) this.#released(this, true)
    else this.#die()
  }

  #ended(): void {
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

  // From here on somebody answered the call to connect: what goes wrong now is a broken answer.
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
