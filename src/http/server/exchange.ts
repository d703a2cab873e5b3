import type { Socket } from 'node:net'
import type { RequestHead } from '../message/head.ts'
import { renderProblem } from './problem.ts'
import type { Carrier, ResponseHead } from './lane/carrier.ts'

/** Who takes the body of a request; chunks are only good during the call, and `data` answers false when it wants a pause. */
export interface BodySink {
  data(chunk: Buffer): boolean
  end(): void
}

/**
 * Who wants to know that the caller left. An object rather than a function: V8 kept a closure that was made for each
 * call, with all that the call held, until the next full collection.
 */
export interface ExchangeWatcher {
  callerLeft(): void
}

/** A connection that left HTTP: the raw stream and the bytes that came with the head. */
export interface UpgradedStream {
  readonly socket: Socket
  readonly head: Buffer
}

/** The longest rest of a refused body that is read to keep a connection. */
const discardedBytes = 64 * 1024
/** The longest problem document that is repeated in a header: nginx takes heads of 4 KiB by default. */
const maxProblemHeader = 2048
/** How much of a body waits for the checks to be done. */
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

/** One request and its answer as a door sees them, whatever the lane underneath. */
export class Exchange {
  readonly method: string
  readonly url: string
  readonly rawHeaders: readonly string[]
  readonly httpVersion: string
  readonly head: RequestHead
  readonly requestId: string
  readonly peerAddress: string
  readonly hasBody: boolean
  /** Bytes of the body as announced; undefined when there is none or it is chunked. */
  readonly contentLength: number | undefined
  readonly upgrade: UpgradedStream | undefined
  readonly expectsContinue: boolean
  /** Whether any byte of an answer has been handed over. */
  started = false
  finished = false
  bytesIn = 0
  bytesOut = 0
  /** Whether the answer is a stream of events, which has no end of its own. */
  isEventStream = false
  /** Told at most once, when the caller leaves before the answer ended. */
  watcher: ExchangeWatcher | undefined
  readonly #carrier: Carrier
  readonly #baseUrl: string
  #gone = false
  #sink: BodySink | undefined
  /** What of the body came before somebody read it. */
  #held: Buffer[] = []
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

  /** Whether the caller has left. */
  get gone(): boolean {
    return this.#gone
  }

  /** Whether the whole request, body included, has arrived. */
  get requestComplete(): boolean {
    return !this.hasBody || this.#carrier.requestComplete
  }

  /** Answers with a problem document, in a header too for a proxy that drops bodies; an answer that had begun is cut instead. */
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

  /** Sends a whole answer; `body` is text whose characters are bytes (latin1). `headers` holds Content-Length. */
  answer(status: number, headers: string[], body = ''): void {
    this.#answer({ status, reason: undefined, headers, isChecked: false }, body)
  }

  /** Sends the upstream's whole answer, whose head was parsed and filtered. */
  relay(head: { status: number; reason: string; headers: string[] }, body: string): void {
    this.#answer(
      { status: head.status, reason: head.reason, headers: head.headers, isChecked: true },
      body,
    )
  }

  #answer(head: Omit<ResponseHead, 'hasBody'>, body: string): void {
    if (this.finished || this.#gone) return
    const { status, reason, headers, isChecked } = head
    // A HEAD gets the head that the GET would get, and nothing after it (RFC 9110, section 9.3.2).
    const hasBody = this.#mayHaveBody(status)
    this.#beginResponse()
    this.bytesOut += hasBody ? body.length : 0
    this.#carrier.respond({ status, reason, headers, isChecked, hasBody }, hasBody ? body : '')
    this.#finish()
  }

  /** Begins the upstream's streamed answer, whose head was parsed and filtered. */
  start(status: number, reason: string, headers: string[]): void {
    if (this.finished || this.#gone) return
    this.#beginResponse()
    const hasBody = this.#mayHaveBody(status)
    this.#carrier.begin({ status, reason, headers, isChecked: true, hasBody })
  }

  /** Sends the head of a streamed answer now, before there is a body. */
  flushHead(): void {
    if (!this.finished && !this.#gone) this.#carrier.flushHead()
  }

  /** Hands over a part of the answer, which is only good during the call; false asks the giver to wait for `onDrain`. */
  write(chunk: Buffer): boolean {
    if (this.finished || this.#gone) return true
    this.bytesOut += chunk.length
    return this.#carrier.write(chunk)
  }

  /** Calls back once, when the caller has taken what was written. */
  onDrain(resume: () => void): void {
    this.#carrier.onDrain(resume)
  }

  /** Ends a streamed answer, with trailers where there are some (flat list). */
  end(trailers: readonly string[] = []): void {
    if (this.finished || this.#gone) return
    this.#carrier.end(trailers)
    this.#finish()
  }

  /** Breaks the connection, so that an unfinished answer can't be taken for a whole one. */
  cut(): void {
    if (this.finished) return
    // Before it is over: what waits behind it must not be taken.
    this.#carrier.destroy()
    this.#finish()
  }

  /** Ends everything at once, a stream that was taken over included; the upstream is let go first. */
  sever(): void {
    this.#letUpstreamGo()
    this.cut()
  }

  /** Ends what would go on for ever, because the process stops: an event stream cleanly, a taken-over stream as it is. */
  endStream(): void {
    if (this.upgrade !== undefined && this.finished) {
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

  /** Relays an interim answer's links (103). */
  sendEarlyHints(links: readonly string[]): void {
    if (this.finished || this.#gone || this.started || this.httpVersion === '1.0') return
    // One line may hold several (RFC 8288, section 3).
    const link = links.flatMap((line) => line.split(/,\s*(?=<)/)).filter((one) => isPlainLink(one))
    if (link.length > 0) this.#carrier.writeEarlyHints(link)
  }

  /** Takes a piece of the body from the lane, good only during the call, null at its end; false asks for a pause. */
  bodyArrived(chunk: Buffer | null): boolean {
    if (chunk === null) {
      this.#bodyEnded = true
      this.#sink?.end()
      return true
    }
    // What is left of a body that nobody wants any more is let run through.
    if (this.finished || this.#gone) return true
    this.bytesIn += chunk.length
    if (this.#sink === undefined) {
      this.#held.push(Buffer.from(chunk))
      this.#heldBytes += chunk.length
      this.#bodyPaused = this.#heldBytes >= maxHeldBytes
    } else {
      this.#bodyPaused = !this.#sink.data(chunk)
    }
    return !this.#bodyPaused
  }

  /** Whether more of the body comes before this turn of the loop ends. */
  get bodyIsAtHand(): boolean {
    return this.#carrier.bodyIsAtHand
  }

  /** Gives the body to the sink, as it comes; what has come already at once. */
  readBody(sink: BodySink): void {
    this.#sink = sink
    const held = this.#held
    this.#held = []
    let more = true
    for (const chunk of held) more = sink.data(chunk) && more
    if (this.#bodyEnded) sink.end()
    else if (more) this.resumeBody()
    else this.#bodyPaused = true
  }

  /** The trailers of a chunked body, a flat list; complete once the body has ended. */
  get trailers(): readonly string[] {
    return this.#carrier.trailers
  }

  /** Goes on after the sink asked for a pause. */
  resumeBody(): void {
    this.#bodyPaused = false
    this.#carrier.readOn()
  }

  /** The caller closed the connection, or it broke. */
  leave(): void {
    if (this.finished || this.#gone) return
    this.#gone = true
    this.#carrier.closed(this)
    this.watcher?.callerLeft()
  }

  /** Whether body bytes are awaited from the caller rather than held back by us; what a slow body is judged by. */
  get awaitsBody(): boolean {
    return !this.requestComplete && !this.started && !this.#bodyPaused
  }

  /** Whether it is a stream of events, or was taken over: it has no end of its own. */
  get isStream(): boolean {
    return this.isEventStream || (this.upgrade !== undefined && this.finished)
  }

  /** The stream to take over after a 101; nothing more goes through this exchange's answer. */
  takeOver(): UpgradedStream | undefined {
    if (this.upgrade === undefined || this.finished || this.#gone) return undefined
    this.started = true
    this.finished = true
    return this.upgrade
  }

  /** To be called when a stream that was taken over has ended. */
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

  // What is left of a body nobody reads is never taken for a request: a short rest is read and thrown away, after
  // a longer one the connection ends, and nothing that follows on it is executed (RFC 9112, section 9.6).
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
    this.#carrier.closed(this)
  }
}

/**
 * Whether a link may be handed to Node, which throws at what it cannot read and takes time exponential in the number of
 * its parameters to find that out. Each part here ends where the next begins, so that this and Node's are linear.
 */
function isPlainLink(link: string): boolean {
  return /^<[^<>]*>(?:\s*;\s*[^;"=\s]+(?:="[^;"=\s]*"|=[^;"=\s]+)?)*$/.test(link)
}
