import type { Socket } from 'node:net'
import { turnReads, turnWrites } from '../../message/end-of-turn.ts'
import type { TurnReader } from '../../message/turn-reads.ts'
import { Pace } from '../lane/pace.ts'
import type { CarriedExchange, RelayedLines, ResponseHead } from '../lane/carrier.ts'
import { endWithLinger, foldMapped } from '../lane/front-connection.ts'
import { keepAliveGraceMs, maxHeldBytes, maxPieces, maxTakenPerTurn } from './bounds.ts'
import type { LaneConnection, PlainDeps } from './deps.ts'
import { KeptHead } from './kept-head.ts'
import type { ResponseEnding } from './response-head.ts'
import { ResponseWriter } from './response-writer.ts'
import { readShared } from './shared-reads.ts'

/** One caller's connection on the plain lane: one request after the other, parsed directly from the socket's bytes. */
export class PlainConnection implements LaneConnection, TurnReader {
  readonly #socket: Socket
  /** Whether received bytes are valid only until the next read, because connections share the buffer. */
  readonly #isShared: boolean
  hasWaiting = false
  /** Whether this lane still owns the socket; afterwards, the standard lane reads it as a stream. */
  mayWait = true
  readonly peerAddress: string
  readonly #deps: PlainDeps
  readonly pace: Pace
  readonly #writer: ResponseWriter
  #exchange: CarriedExchange | undefined
  /** Bytes not yet consumed: the start of a head, or requests that must still wait. */
  #held: Buffer | undefined
  /** Whether the held bytes are the start of an incomplete head. */
  #isPartial = false
  #pieces = 0
  /**
   * Requests taken since the connection last yielded to the event loop. A new read does not reset the count, because
   * promises can answer one request after the other without yielding.
   */
  #takenThisTurn = 0
  #bodyLeft = 0
  #isAdvancing = false
  #isBodyAtHand = false
  #isRefused = false
  #isDraining = false
  /** Whether the caller asked to end the connection with the current response. */
  #closes = false
  /** Whether the current response is the last one on this connection. */
  #isLast = false
  #isEnding = false
  #drained: (() => void) | undefined
  /** The monotonic time since which a head is awaited; -1 during a request, 0 until the next check sets it. */
  #waitsSince: number
  #isFresh = true
  readonly #kept = new KeptHead()

  constructor(accepted: Socket, deps: PlainDeps) {
    const shared = readShared(accepted, this)
    const socket = shared ?? accepted
    this.#isShared = shared !== undefined
    this.#socket = socket
    this.#deps = deps
    this.pace = new Pace(socket, deps.limits)
    this.#writer = new ResponseWriter(socket)
    this.peerAddress = foldMapped(socket.remoteAddress ?? '')
    this.#waitsSince = deps.monotonic()
    if (shared === undefined) socket.on('data', this.#onData)
    socket.on('end', this.#onEnd)
    socket.on('drain', this.#onSocketDrain)
    socket.on('close', this.#onClose)
    socket.on('error', this.#onError)
  }

  /** The socket; reading this property first writes everything that was collected, so that nothing can overtake it. */
  get socket(): Socket {
    turnWrites.flush()
    return this.#socket
  }

  take(bytes: Buffer): boolean {
    if (!this.mayWait) return this.#socket.push(Buffer.from(bytes))
    this.#onData(bytes)
    return true
  }

  readonly #onData = (chunk: Buffer): void => {
    const at = this.#bodyLeft > 0 ? this.#takeBody(chunk, 0) : 0
    if (at < chunk.length && !this.#isRefused) this.#takeNext(at === 0 ? chunk : chunk.subarray(at))
  }

  readonly #onEnd = (): void => {
    turnReads.handleNow(this)
    if (this.#isOver || this.#socket.destroyed) return
    if (this.#bodyLeft > 0 || this.#isPartial) {
      this.#deps.fail(this, 'HPE_INVALID_EOF_STATE')
      return
    }
    // A caller that half-closes is treated as gone, because nothing shows whether it still reads.
    this.#isLast = true
    this.#exchange?.leave()
    this.socket.end()
  }

  readonly #onSocketDrain = (): void => {
    const drained = this.#drained
    this.#drained = undefined
    drained?.()
    this.#goOn()
  }

  readonly #onClose = (): void => {
    turnReads.handleNow(this)
    this.#deps.closed(this)
    this.#exchange?.leave()
  }

  readonly #onError = (): void => void this.#socket.destroy()

  #takeNext(bytes: Buffer): void {
    if (this.#mayTake()) this.#advance(this.#unhold(bytes))
    else this.#hold(bytes)
  }

  #hold(bytes: Buffer): void {
    // Bytes after a request with `Connection: close` are never processed (RFC 9112, section 9.6).
    if (this.#closes && this.#exchange !== undefined) {
      this.#deps.fail(this, 'HPE_CLOSED_CONNECTION')
      return
    }
    if (this.#isLast || this.#isRefused) return
    this.#held = this.#unhold(this.#isShared ? Buffer.from(bytes) : bytes)
    if (this.#held.length > maxHeldBytes) this.#socket.pause()
  }

  #unhold(more: Buffer): Buffer {
    const held = this.#held
    this.#held = undefined
    this.#isPartial = false
    return held === undefined ? more : Buffer.concat([held, more])
  }

  #mayTake(): boolean {
    return (
      this.#exchange === undefined &&
      this.#bodyLeft === 0 &&
      this.#takenThisTurn < maxTakenPerTurn &&
      !this.#isLast &&
      !this.#isRefused &&
      !this.#socket.writableNeedDrain &&
      !this.#socket.destroyed
    )
  }

  /** Takes as many requests as it may; called with at least one byte, and only if the first may be taken. */
  #advance(bytes: Buffer): void {
    this.#isAdvancing = true
    let at = 0
    do {
      const next = this.#takeOne(bytes, at)
      if (next === undefined) {
        const rest = at === 0 ? bytes : bytes.subarray(at)
        // Nothing can be put back into a socket that has ended, and nobody waits for a response either.
        if (this.#socket.readableEnded) this.#socket.destroy()
        else this.#deps.handOver(this, this.#isShared ? Buffer.from(rest) : rest)
        return
      }
      at = next
    } while (at < bytes.length && this.#mayTake())
    this.#isAdvancing = false
    if (at < bytes.length) this.#hold(bytes.subarray(at))
    if (this.#takenThisTurn === maxTakenPerTurn) setImmediate(this.#onNextTurn)
    this.#goOn()
  }

  readonly #onNextTurn = (): void => {
    this.#takenThisTurn = 0
    this.#goOn()
  }

  /** Takes the request at an offset; returns the offset after it, or undefined if the standard lane must take it. */
  #takeOne(bytes: Buffer, at: number): number | undefined {
    const request = this.#deps.parser.parse(bytes, at, this.#kept)
    if (request === 'unusual') return undefined
    if (request === 'partial') return this.#awaitHead(at === 0 ? bytes : bytes.subarray(at), at)
    const length = Math.max(0, request.fields.contentLength)
    // The standard lane decides what becomes of bytes after a request with `Connection: close`.
    if (request.fields.closes && bytes.length > request.bodyAt + length) return undefined
    const head = this.#deps.accept(request)
    if (head === undefined) return undefined
    this.#bodyLeft = length
    this.#closes = request.fields.closes
    this.#isLast = request.fields.closes
    this.#waitsSince = -1
    this.#kept.keep(bytes, request)
    this.#isFresh = false
    this.#pieces = 0
    this.#takenThisTurn++
    this.#isBodyAtHand = length > 0 && bytes.length > request.bodyAt
    this.#deps.take(request, head, this)
    this.#isBodyAtHand = false
    return this.#takeBody(bytes, request.bodyAt)
  }

  #awaitHead(bytes: Buffer, at: number): number | undefined {
    if (++this.#pieces > maxPieces) return undefined
    if (this.#pieces === 1 && !this.#isFresh) this.#waitsSince = this.#deps.monotonic()
    this.#held = this.#isShared ? Buffer.from(bytes) : bytes
    this.#isPartial = true
    return at + bytes.length
  }

  /** Passes the exchange the part of its body that is in these bytes; returns the offset after that part. */
  #takeBody(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.#bodyLeft)
    if (end === at || this.#isOver) return end
    const exchange = this.#exchange
    const isLast = end - at === this.#bodyLeft
    const more = exchange?.bodyArrived(bytes.subarray(at, end))
    // Updated only after `bodyArrived`: a request whose last bytes are still being processed is not complete.
    this.#bodyLeft -= end - at
    if (isLast) exchange?.bodyArrived(null)
    else if (more === false) this.#socket.pause()
    return end
  }

  // Whether the rest of the current body is discarded, because the connection was refused and its response has ended.
  // While a response that began before the whole body arrived is still in progress, the upstream gets the rest.
  get #isOver(): boolean {
    return this.#isRefused && this.#exchange === undefined
  }

  #goOn(): void {
    if (this.#exchange !== undefined || this.#isAdvancing || this.#socket.destroyed) return
    if (this.#isLast) {
      this.#end()
      return
    }
    if (this.#waitsSince === -1) this.#waitsSince = 0
    if (this.#socket.writableNeedDrain) return
    if (this.#socket.isPaused()) this.#socket.resume()
    if (this.#held === undefined || this.#isPartial || !this.#mayTake()) return
    const held = this.#held
    this.#held = undefined
    this.#advance(held)
  }

  #end(): void {
    if (this.#isEnding) return
    this.#isEnding = true
    if (this.#isRefused) endWithLinger(this.socket, this.#deps.limits.lingerMs)
    else this.socket.destroySoon()
  }

  get requestComplete(): boolean {
    return this.#bodyLeft === 0
  }

  get bodyIsAtHand(): boolean {
    return this.#isBodyAtHand
  }

  get trailers(): readonly string[] {
    return []
  }

  opened(exchange: CarriedExchange): void {
    this.#exchange = exchange
  }

  closed(exchange: CarriedExchange): void {
    if (exchange !== this.#exchange) return
    this.#exchange = undefined
    if (exchange.finished) this.#goOn()
  }

  readOn(): void {
    const isFull = this.#held !== undefined && this.#held.length > maxHeldBytes
    if (!isFull && this.#socket.isPaused()) this.#socket.resume()
  }

  endAfterResponse(): void {
    this.refuseFurther()
  }

  discardRest(): void {
    if (this.#socket.isPaused()) this.#socket.resume()
  }

  respond(head: ResponseHead, body: string): void {
    this.#writer.respond(head, this.#ending(), body)
  }

  relay(response: RelayedLines, own: readonly string[]): void {
    this.#writer.relay(response, own, this.#ending())
  }

  begin(head: ResponseHead): void {
    this.#writer.begin(head, this.#ending())
  }

  flushHead(): void {
    this.#writer.flushHead()
  }

  write(chunk: Buffer): boolean {
    return this.#writer.write(chunk)
  }

  onDrain(resume: () => void): void {
    this.#drained = resume
  }

  end(trailers: readonly string[]): void {
    this.#writer.end(trailers)
  }

  // Never called: a request with `Expect: 100-continue` belongs to the standard lane.
  writeContinue(): void {}

  writeEarlyHints(links: readonly string[]): void {
    this.socket.write(`HTTP/1.1 103 Early Hints\r\nLink: ${links.join(', ')}\r\n\r\n`, 'latin1')
  }

  destroy(): void {
    this.socket.destroy()
  }

  #ending(): ResponseEnding {
    if (this.#isDraining) this.#isLast = true
    const { kept, closed } = this.#deps.endings
    return this.#isLast ? closed : kept
  }

  get soleExchange(): CarriedExchange | undefined {
    return this.#exchange
  }

  get mayAnswerRaw(): boolean {
    const exchange = this.#exchange
    if (this.#isRefused) return false
    if (exchange === undefined) return this.#bodyLeft === 0
    return !exchange.started && !exchange.requestComplete
  }

  get owesNothing(): boolean {
    return this.#exchange === undefined
  }

  get isAnswered(): boolean {
    return this.owesNothing && this.#bodyLeft > 0
  }

  endInOrder(): void {
    this.refuseFurther()
    this.#end()
  }

  refuseFurther(): void {
    this.#isRefused = true
    this.#isLast = true
  }

  drain(): void {
    this.#isDraining = true
  }

  get busy(): boolean {
    return this.#exchange !== undefined
  }

  get awaitsBody(): boolean {
    if (this.#isRefused) return false
    return this.#exchange === undefined ? this.#bodyLeft > 0 : this.#exchange.awaitsBody
  }

  endIfLate(nowMs: number): void {
    if (this.#waitsSince === -1 || this.#isRefused || this.#bodyLeft > 0) return
    if (this.#waitsSince === 0) this.#waitsSince = nowMs
    const { headMs, keepAliveMs } = this.#deps.limits
    const waitedMs = nowMs - this.#waitsSince
    this.#kept.idleFor(waitedMs)
    if (this.#isFresh || this.#held !== undefined) {
      if (waitedMs >= headMs) this.#deps.fail(this, 'ERR_HTTP_REQUEST_TIMEOUT')
    } else if (waitedMs >= keepAliveMs + keepAliveGraceMs) {
      this.destroy()
    }
  }

  endIfIdle(): void {
    const isIdle = this.#exchange === undefined && this.#held === undefined && this.#bodyLeft === 0
    if (isIdle && this.socket.writableLength === 0) this.destroy()
  }

  detach(): Socket {
    this.mayWait = false
    this.#kept.forget()
    this.#socket.off('data', this.#onData)
    this.#socket.off('end', this.#onEnd)
    this.#socket.off('drain', this.#onSocketDrain)
    this.#socket.off('close', this.#onClose)
    this.#socket.off('error', this.#onError)
    return this.socket
  }
}
