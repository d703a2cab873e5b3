import { Problem } from '../../errors.ts'
import type { BodySink, Exchange } from '../server/exchange.ts'
import { isSameHeader, mayTrailRequest } from '../message/header-rules.ts'
import { parseTrailers } from './response-head.ts'
import type { UpstreamConnection } from './connection.ts'

/** What a request body needs from the call to which it belongs. */
export interface BodyOwner {
  readonly bodyBytes: number
  /** The normalized name of the header that the target injects, if any. */
  readonly injectedName: string | undefined
  /**
   * Sends the request's head, with the first bytes of the body if they have arrived; bytes are valid only during the
   * call.
   */
  begin(body: string | Buffer, ended: boolean): void
  /**
   * Called if the connection closed before anything was sent. Returns true if it had carried other requests: the call
   * goes on with a new connection, and another `RequestBody` gets this chunk and all that follow. Returns false if the
   * call is to fail with this connection.
   */
  beginElsewhere(chunk: Buffer | undefined): boolean
  bodyChunk(chunk: Buffer): void
  bodyTooLarge(): void
  /** Ends the call with a refusal, because its body cannot be forwarded. */
  bodyFailed(error: unknown): void
  /**
   * Reports whether the upstream accepts more of the body; while the body is being sent, the upstream's deadline runs
   * only if it accepts no more.
   */
  bodyFlows(flows: boolean): void
  bodyEnded(): void
}

const joinedBytes = 16 * 1024

/** A request's body on its way to the upstream: counted, framed anew, and paused while the upstream accepts no more. */
export class RequestBody implements BodySink {
  readonly #exchange: Exchange
  readonly #connection: UpstreamConnection
  readonly #owner: BodyOwner
  readonly #length: number | undefined
  #headHeld: boolean
  #sent = 0
  #over = false

  constructor(parts: {
    exchange: Exchange
    connection: UpstreamConnection
    owner: BodyOwner
    headHeld: boolean
  }) {
    this.#exchange = parts.exchange
    this.#connection = parts.connection
    this.#owner = parts.owner
    this.#headHeld = parts.headHeld
    this.#length = parts.exchange.contentLength
    this.#exchange.readBody(this)
    // The head waits for the first bytes of the body, so that both become one write. If the call was taken at the end of a
    // turn, bytes that the next turn reads are handled at that turn's end: after the first of these immediates and before
    // the second. A call that begins earlier in a turn waits a turn less.
    if (this.#headHeld && !this.#exchange.bodyIsAtHand) {
      setImmediate(() => setImmediate(() => this.#waitedForBody()))
    }
  }

  /** Discards everything that still arrives. */
  stop(): void {
    this.#over = true
  }

  // `data` and `end` run inside the parser of the caller's bytes, where a thrown error would end the process.

  data(chunk: Buffer): boolean {
    try {
      return this.#take(chunk)
    } catch (error) {
      this.#fail(error)
      return true
    }
  }

  end(): void {
    try {
      this.#finish()
    } catch (error) {
      this.#fail(error)
    }
  }

  #fail(error: unknown): void {
    this.#over = true
    this.#owner.bodyFailed(error)
  }

  #take(chunk: Buffer): boolean {
    if (this.#over || this.#beginElsewhere(chunk)) return true
    this.#sent += chunk.length
    if (this.#sent > this.#owner.bodyBytes) {
      this.#over = true
      this.#owner.bodyTooLarge()
      return true
    }
    this.#owner.bodyChunk(chunk)
    return this.#headHeld && chunk.length <= joinedBytes ? this.#join(chunk) : this.#send(chunk)
  }

  #finish(): void {
    if (this.#over || this.#beginElsewhere(undefined)) return
    const trailers = this.#length === undefined ? this.#trailerLines() : ''
    this.#releaseHead()
    this.#over = true
    if (this.#length === undefined) this.#connection.write(`0\r\n${trailers}\r\n`)
    this.#owner.bodyEnded()
  }

  /** Called when the upstream accepts bytes again. */
  resume(): void {
    if (this.#over) return
    this.#owner.bodyFlows(true)
    this.#exchange.resumeBody()
  }

  #join(chunk: Buffer): boolean {
    this.#headHeld = false
    const ended = this.#sent === this.#length
    this.#over = ended
    if (this.#length === undefined) {
      const body = chunk.toString('latin1')
      this.#owner.begin(`${chunk.length.toString(16)}\r\n${body}\r\n`, ended)
    } else {
      this.#owner.begin(chunk, ended)
    }
    return true
  }

  #send(chunk: Buffer): boolean {
    this.#releaseHead()
    let flows: boolean
    if (this.#length === undefined) {
      this.#connection.cork()
      this.#connection.write(`${chunk.length.toString(16)}\r\n`)
      this.#connection.writeCopy(chunk)
      flows = this.#connection.write('\r\n')
      this.#connection.uncork()
    } else {
      flows = this.#connection.writeCopy(chunk)
    }
    if (this.#sent === this.#length) {
      this.#over = true
      this.#owner.bodyEnded()
      return true
    }
    this.#owner.bodyFlows(flows)
    return flows
  }

  #waitedForBody(): void {
    if (this.#over || this.#beginElsewhere(undefined)) return
    this.#releaseHead()
  }

  /**
   * Gives the body up if the connection closed while the head waited and the call goes on with a new connection;
   * returns whether it did.
   */
  #beginElsewhere(chunk: Buffer | undefined): boolean {
    if (!this.#headHeld || this.#connection.alive) return false
    this.#over = this.#owner.beginElsewhere(chunk)
    return this.#over
  }

  #releaseHead(): void {
    if (!this.#headHeld || this.#over) return
    this.#headHeld = false
    this.#owner.begin('', false)
  }

  #trailerLines(): string {
    const { trailers: raw, head } = this.#exchange
    if (raw.length === 0) return ''
    let text = ''
    for (let at = 0; at + 1 < raw.length; at += 2) text += `${raw[at]}: ${raw[at + 1]}\r\n`
    const kept = readTrailers(text.slice(0, -2))
    const { injectedName } = this.#owner
    let lines = ''
    for (let at = 0; at + 1 < kept.length; at += 2) {
      const name = kept[at] ?? ''
      if (injectedName !== undefined && isSameHeader(name, injectedName)) continue
      if (head.connectionNames.includes(name.toLowerCase())) continue
      lines += `${name}: ${kept[at + 1]}\r\n`
    }
    return lines
  }
}

function readTrailers(text: string): string[] {
  try {
    return parseTrailers(text, mayTrailRequest)
  } catch (cause) {
    throw new Problem('bad_request', 'The trailers are malformed, or more than 256.', { cause })
  }
}
