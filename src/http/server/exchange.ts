import type { Socket } from 'node:net'
import type { RequestHead } from '../message/head.ts'
import { renderProblem } from './problem.ts'
import type { Carrier, RelayedLines, ResponseHead } from './lane/carrier.ts'

/** Receives a request's body; chunks are valid only during the call, and `data` returns false to request a pause. */
export interface BodySink {
  data(chunk: Buffer): boolean
  end(): void
}

/**
 * Is notified when the caller leaves or when we give up the call, so that the upstream can be released. It is an object
 * rather than a function, because V8 kept a closure created per call, with everything it referenced, until the next
 * full garbage collection.
 */
export interface ExchangeWatcher {
  callerLeft(): void
}

/** The connection of a request for an upgrade: the raw stream, and the bytes that arrived with the request's head. */
export interface UpgradedStream {
  readonly socket: Socket
  readonly head: Buffer
}

/**
 * The largest announced body, in bytes, that is read and discarded if nobody needs it, so that the connection can stay
 * open.
 */
const discardedBytes = 64 * 1024
/** The largest problem document, in bytes, that is repeated in a header: by default, nginx accepts heads of 4 KiB. */
const maxProblemHeader = 2048
/** How much of a body, in bytes, is buffered before anything reads it; then the caller is paused. */
const maxHeldBytes = 64 * 1024

export interface ExchangeParts {
  readonly method: string
  readonly url: string
  readonly httpVersion: string
  readonly rawHeaders: readonly string[]
  readonly head: RequestHead
  readonly requestId: string
  readonly baseUrl: string
  readonly carrier: Carrier
  readonly upgrade: UpgradedStream | undefined
  readonly expectsContinue: boolean
}

/** One request with its response, independent of the lane that carries it. */
export class Exchange {
  readonly method: string
  readonly url: string
  readonly rawHeaders: readonly string[]
  readonly httpVersion: string
  readonly head: RequestHead
  readonly requestId: string
  readonly peerAddress: string
  readonly hasBody: boolean
  /** The value of Content-Length, in bytes; undefined if the request has no such header. */
  readonly contentLength: number | undefined
  readonly upgrade: UpgradedStream | undefined
  readonly expectsContinue: boolean
  /** Whether the final response has begun, even if none of it has been written yet. */
  started = false
  finished = false
  bytesIn = 0
  bytesOut = 0
  /** Whether the response is an event stream, which may never end by itself. */
  isEventStream = false
  /** Notified if the caller leaves, or we give up the call, before the response has ended. */
  watcher: ExchangeWatcher | undefined
  readonly #carrier: Carrier
  readonly #baseUrl: string
  #gone = false
  #isTakenOver = false
  #sink: BodySink | undefined
  /** Parts of the body that arrived before it was read; undefined if there are none. */
  #held: Buffer[] | undefined
  #heldBytes = 0
  #bodyEnded = false
  #bodyPaused = false

  constructor(parts: ExchangeParts) {
    const { head } = parts
    this.method = parts.method
    this.url = parts.url
    this.rawHeaders = parts.rawHeaders
    this.httpVersion = parts.httpVersion
    this.head = head
    this.requestId = parts.requestId
    this.peerAddress = parts.carrier.peerAddress
    this.contentLength = head.contentLength === undefined ? undefined : Number(head.contentLength)
    this.hasBody =
      head.transferEncoding !== undefined ||
      (this.contentLength !== undefined && this.contentLength > 0)
    this.upgrade = parts.upgrade
    this.expectsContinue = parts.expectsContinue
    this.#carrier = parts.carrier
    this.#baseUrl = parts.baseUrl
    this.#carrier.opened(this)
  }

  /** Whether the exchange was abandoned (`leave`). */
  get gone(): boolean {
    return this.#gone
  }

  /** Whether the whole request, including its body, has arrived. */
  get requestComplete(): boolean {
    return !this.hasBody || this.#carrier.requestComplete
  }

  /**
   * Responds with a problem document. With `inHeader`, a document of up to 2 KiB is also sent in a header, for proxies
   * that drop bodies. A response that has already begun is cut off instead.
   */
  refuse(error: unknown, moreHeaders: readonly string[] = [], inHeader = false): void {
    if (this.finished || this.#gone) return
    if (this.started) {
      this.cut()
      return
    }
    const { status, headers, body } = renderProblem(error, {
      requestId: this.requestId,
      baseUrl: this.#baseUrl,
    })
    headers.push(...moreHeaders)
    if (inHeader && body.length <= maxProblemHeader) headers.push('Intercept-Problem', body)
    this.answer(status, headers, body)
  }

  /**
   * Sends a complete response; `body` is text whose characters are bytes (latin1). `headers` includes Content-Length.
   */
  answer(status: number, headers: string[], body = ''): void {
    this.#answer({ status, reason: undefined, headers, isChecked: false }, body)
  }

  /** Sends the upstream's complete response, whose head was parsed and filtered. */
  relay(head: { status: number; reason: string; headers: string[] }, body: string): void {
    this.#answer(
      { status: head.status, reason: head.reason, headers: head.headers, isChecked: true },
      body,
    )
  }

  /** Whether `relayLines` may be called. */
  get takesLines(): boolean {
    return this.#carrier.relay !== undefined && this.method !== 'HEAD'
  }

  /** Sends a complete response whose lines were checked, and our own headers (flat list). */
  relayLines(response: RelayedLines, own: readonly string[]): void {
    if (this.finished || this.#gone) return
    this.#beginResponse()
    this.bytesOut += response.bodyBytes
    this.#carrier.relay?.(response, own)
    this.#finish()
  }

  #answer(head: Omit<ResponseHead, 'hasBody'>, body: string): void {
    if (this.finished || this.#gone) return
    const { status, reason, headers, isChecked } = head
    // A HEAD gets the head that the GET would get, and no body (RFC 9110, section 9.3.2).
    const hasBody = this.#mayHaveBody(status)
    this.#beginResponse()
    this.bytesOut += hasBody ? body.length : 0
    this.#carrier.respond({ status, reason, headers, isChecked, hasBody }, hasBody ? body : '')
    this.#finish()
  }

  /** Begins the upstream's streamed response, whose head was parsed and filtered. */
  start(status: number, reason: string, headers: string[]): void {
    if (this.finished || this.#gone) return
    this.#beginResponse()
    const hasBody = this.#mayHaveBody(status)
    this.#carrier.begin({ status, reason, headers, isChecked: true, hasBody })
  }

  /** Sends the head of a streamed response before there is any body. */
  flushHead(): void {
    if (!this.finished && !this.#gone) this.#carrier.flushHead()
  }

  /**
   * Writes a chunk of the response, whose bytes are valid only during the call; after false, the writer must wait for
   * `onDrain`.
   */
  write(chunk: Buffer): boolean {
    if (this.finished || this.#gone) return true
    this.bytesOut += chunk.length
    return this.#carrier.write(chunk)
  }

  /** Calls back once, when the caller has read enough for more to be written. */
  onDrain(resume: () => void): void {
    this.#carrier.onDrain(resume)
  }

  /** Ends a streamed response, with optional trailers (flat list). */
  end(trailers: readonly string[] = []): void {
    if (this.finished || this.#gone) return
    this.#carrier.end(trailers)
    this.#finish()
  }

  /** Breaks the connection, so that the caller can't mistake an incomplete response for a complete one. */
  cut(): void {
    if (this.finished) return
    // Destroyed before the exchange ends, so that requests queued behind this one are not processed.
    this.#carrier.destroy()
    this.#finish()
  }

  /** Ends the exchange, or the stream that was taken over, immediately; releases the upstream first. */
  sever(): void {
    this.#letUpstreamGo()
    // A taken-over stream is destroyed, even if data waits to be written: the caller may never read it.
    if (this.#isTakenOver) this.#carrier.destroy()
    else this.cut()
  }

  /**
   * Ends a stream that would otherwise keep a stopping process alive: an event stream is ended cleanly, a taken-over
   * connection is destroyed.
   */
  endStream(): void {
    if (this.#isTakenOver) {
      this.sever()
    } else if (this.isEventStream && this.started && !this.finished) {
      this.#letUpstreamGo()
      this.end()
    }
  }

  /** Tells the caller to send the body it announced (RFC 9110, section 10.1.1). */
  sendContinue(): void {
    if (this.finished || this.#gone || this.started) return
    this.#carrier.writeContinue()
  }

  /** Forwards the links of an interim response, as `103 Early Hints`. */
  sendEarlyHints(links: readonly string[]): void {
    if (this.finished || this.#gone || this.started || this.httpVersion === '1.0') return
    // One line may contain several links (RFC 8288, section 3).
    const link = links.flatMap((line) => line.split(/,\s*(?=<)/)).filter((one) => isPlainLink(one))
    if (link.length > 0) this.#carrier.writeEarlyHints(link)
  }

  /**
   * Takes the next chunk of the request body, whose bytes are valid only during the call; null marks the end. Returning
   * false asks for a pause.
   */
  bodyArrived(chunk: Buffer | null): boolean {
    if (chunk === null) {
      this.#bodyEnded = true
      this.#sink?.end()
      return true
    }
    if (this.finished || this.#gone) return true
    this.bytesIn += chunk.length
    const flows = this.#sink === undefined ? this.#hold(chunk) : this.#sink.data(chunk)
    // The sink may have given the chunk back.
    this.#bodyPaused = !flows || this.#heldBytes >= maxHeldBytes
    return !this.#bodyPaused
  }

  /** Keeps a chunk until the body is read; returns false if no more should come for now. */
  #hold(chunk: Buffer): boolean {
    this.#held ??= []
    this.#held.push(Buffer.from(chunk))
    this.#heldBytes += chunk.length
    return this.#heldBytes < maxHeldBytes
  }

  /** Whether more of the body is certain to arrive before this turn of the event loop ends. */
  get bodyIsAtHand(): boolean {
    return this.#carrier.bodyIsAtHand
  }

  /** Passes the body to the sink as it arrives, starting with what has already arrived. */
  readBody(sink: BodySink): void {
    this.#sink = sink
    const held = this.#held ?? []
    this.#held = undefined
    this.#heldBytes = 0
    let more = true
    for (const chunk of held) more = sink.data(chunk) && more
    if (this.#bodyEnded) sink.end()
    else if (more) this.resumeBody()
    else this.#bodyPaused = true
  }

  /**
   * Takes the body back from a sink that has passed on none of it: this chunk, if any, and all that follow are held
   * until the body is read again. Must not be called while `readBody` hands over what was held before.
   */
  holdBody(chunk: Buffer | undefined): void {
    this.#sink = undefined
    if (chunk !== undefined) this.#hold(chunk)
  }

  /** The trailers of a chunked body, as a flat list; complete once the body has ended. */
  get trailers(): readonly string[] {
    return this.#carrier.trailers
  }

  resumeBody(): void {
    this.#bodyPaused = false
    this.#carrier.readOn()
  }

  /** Abandons the exchange, because its caller has left or its request cannot be completed. */
  leave(): void {
    if (this.finished || this.#gone) return
    this.#gone = true
    this.#carrier.closed(this)
    this.watcher?.callerLeft()
  }

  /**
   * Whether the call waits for the caller to send more of the body. Only then can the body be too slow: not while we
   * have paused it ourselves, and not once the response has begun.
   */
  get awaitsBody(): boolean {
    return !this.requestComplete && !this.started && !this.#bodyPaused
  }

  /** Whether this exchange may never end by itself: it is an event stream, or its connection was taken over. */
  get isStream(): boolean {
    return this.isEventStream || this.#isTakenOver
  }

  /**
   * Takes over the raw stream after a 101; nothing more is sent through this exchange. Returns undefined if the request
   * asked for no upgrade, or if the exchange is over.
   */
  takeOver(): UpgradedStream | undefined {
    if (this.upgrade === undefined || this.finished || this.#gone) return undefined
    this.started = true
    this.finished = true
    this.#isTakenOver = true
    return this.upgrade
  }

  /** Must be called when a taken-over stream has ended. */
  release(): void {
    this.#carrier.closed(this)
  }

  #beginResponse(): void {
    this.started = true
    if (this.upgrade !== undefined || !this.requestComplete) this.#settleUnreadBody()
  }

  #mayHaveBody(status: number): boolean {
    return this.method !== 'HEAD' && status !== 204 && status !== 304
  }

  // Makes sure that the rest of the body is never parsed as a request. A short body that nobody reads is discarded;
  // otherwise the connection ends after the response, and further requests on it are not processed (RFC 9112, section
  // 9.6).
  #settleUnreadBody(): void {
    const short =
      this.upgrade === undefined &&
      this.#sink === undefined &&
      !this.expectsContinue &&
      this.contentLength !== undefined &&
      this.contentLength <= discardedBytes
    if (short) this.#carrier.discardRest()
    else this.#carrier.endAfterResponse()
  }

  #letUpstreamGo(): void {
    const { watcher } = this
    this.watcher = undefined
    watcher?.callerLeft()
  }

  #finish(): void {
    this.finished = true
    // The upstream may have answered without reading the whole body: the caller must be able to send the rest, because
    // many programs read a response only after that.
    if (this.#bodyPaused) this.resumeBody()
    this.#carrier.closed(this)
  }
}

/**
 * Whether a link may be passed to Node, which throws for an invalid link and can take exponential time to detect it.
 * This expression has only one way to match any link, which keeps both this check and Node's linear.
 */
function isPlainLink(link: string): boolean {
  return /^<[^<>]*>(?:\s*;\s*[^;"=\s]+(?:="[^;"=\s]*"|=[^;"=\s]+)?)*$/.test(link)
}
