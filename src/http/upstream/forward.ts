import { performance } from 'node:perf_hooks'
import { Problem } from '../../errors.ts'
import type { Exchange, ExchangeWatcher } from '../server/exchange.ts'
import type { UpstreamResponseHead } from './response-head.ts'
import { filterAnswerHeaders } from './response-headers.ts'
import type { AnswerFilter } from './response-headers.ts'
import type { ConnectionUser, UpstreamConnection, UpstreamFailure } from './connection.ts'
import { OutboundError } from '../outbound/outbound-error.ts'
import type { UpstreamOrigin, UpstreamTimeouts } from './pool.ts'
import type { UsualResponse } from './usual-response.ts'
import { RequestBody } from './request-body.ts'
import type { BodyOwner } from './request-body.ts'
import { Tunnel } from './tunnel.ts'
import { checkHandshake, hasHandshakeKey, valuesOf } from './web-socket.ts'

/** How to forward one call: the head to send, and the limits and filters that apply. */
export interface ForwardPlan {
  /** Rendered by `renderRequestHead`; `forward` adds the lines that frame the body. */
  readonly head: string
  readonly timeouts: UpstreamTimeouts
  /** The largest body to forward, in bytes. */
  readonly bodyBytes: number
  readonly answers: AnswerFilter
  /**
   * The normalized name of the header that the target injects, if any; a request's trailer with this name is dropped.
   */
  readonly injectedName: string | undefined
  /** Our own response headers, as a flat list of names and values. */
  readonly answerHeaders: readonly string[]
  /** Observes the traffic, for targets that capture; a chunk is valid only until the tap's method returns. */
  readonly tap?: ForwardTap | undefined
}

export interface ForwardTap {
  request(chunk: Buffer): void
  answer(headers: readonly string[]): void
  body(chunk: Buffer | string): void
}

/** How a call ended; failures before the response began are reported as a `Problem` instead. */
export interface ForwardResult {
  /** The upstream's status; 0 if the call was given up before there was one. */
  readonly status: number
  /** Why the response broke off after it had begun; undefined if it was complete or the call was given up. */
  readonly broken: UpstreamFailure['code'] | undefined
  /** Milliseconds until the upstream's response began, including connecting; undefined if it never did. */
  readonly upstreamMs: number | undefined
}

/** Learns how a forwarded call went on and ended: exactly one of `ended` and `failed` is called, once. */
export interface ForwardOwner {
  /** Called when the upstream's final response begins, before the call ends; not if there never is one. */
  answered(): void
  ended(result: ForwardResult): void
  /**
   * Called before the response begins, or if the request's body is refused while the response is being sent;
   * `isUnwell` says whether the upstream failed by itself, with nothing that the caller did as a possible reason.
   */
  failed(problem: Problem, isUnwell: boolean): void
}

/** Forwards a request to the upstream and its response to the caller; long bodies are streamed. */
export function forward(given: {
  exchange: Exchange
  origin: UpstreamOrigin
  plan: ForwardPlan
  owner: ForwardOwner
}): void {
  const { exchange, plan, owner } = given
  if (exchange.contentLength !== undefined && exchange.contentLength > plan.bodyBytes) {
    owner.failed(tooLarge(plan.bodyBytes), false)
    return
  }
  new Forwarding(given).start()
}

// The idempotent methods that targets accept (RFC 9110, section 9.2.2).
const idempotent = new Set(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'])
const continueMs = 1000

class Forwarding implements ConnectionUser, BodyOwner, ExchangeWatcher {
  readonly #exchange: Exchange
  readonly #origin: UpstreamOrigin
  readonly #plan: ForwardPlan
  readonly #owner: ForwardOwner
  #connection: UpstreamConnection | undefined
  #connecting: AbortController | undefined
  #body: RequestBody | undefined
  #awaitsContinue: NodeJS.Timeout | undefined
  #retried = false
  #settled = false
  #headUnsent = false
  #requestEnded = false
  #status = 0
  #startedAt = 0
  #upstreamMs: number | undefined

  constructor(given: {
    exchange: Exchange
    origin: UpstreamOrigin
    plan: ForwardPlan
    owner: ForwardOwner
  }) {
    this.#exchange = given.exchange
    this.#origin = given.origin
    this.#plan = given.plan
    this.#owner = given.owner
  }

  get bodyBytes(): number {
    return this.#plan.bodyBytes
  }

  get injectedName(): string | undefined {
    return this.#plan.injectedName
  }

  start(): void {
    this.#startedAt = performance.now()
    this.#exchange.watcher = this
    const idle = this.#origin.takeIdle()
    if (idle === undefined) void this.#connect()
    else this.#use(idle)
  }

  async #connect(): Promise<void> {
    const connecting = new AbortController()
    this.#connecting = connecting
    try {
      const connection = await this.#origin.connect(connecting.signal)
      if (this.#settled) connection.destroy()
      else this.#use(connection)
    } catch (cause) {
      const late = cause instanceof OutboundError && cause.kind === 'timeout'
      this.failed({ code: late ? 'upstream_timeout' : 'upstream_unreachable', cause })
    }
  }

  #use(connection: UpstreamConnection): void {
    this.#connection = connection
    const exchange = this.#exchange
    if (!exchange.hasBody) {
      this.begin('', true)
    } else if (exchange.expectsContinue) {
      this.begin('', false)
      // Sends the body after 1 s even without a 100 Continue, because some upstreams ignore the expectation.
      this.#awaitsContinue = setTimeout(() => this.#continue(), continueMs)
    } else {
      this.#body = new RequestBody({ exchange, connection, owner: this, headHeld: true })
    }
  }

  begin(body: string | Buffer, ended: boolean): void {
    const connection = this.#connection
    if (connection === undefined || this.#settled) return
    this.#requestEnded = ended
    connection.deadlineAt = ended ? this.#origin.nowMs + this.#plan.timeouts.firstByteMs : Infinity
    connection.begin(this, {
      method: this.#exchange.method,
      head: this.#plan.head + framingOf(this.#exchange),
      body,
      ended,
      upgrade: this.#exchange.upgrade !== undefined,
    })
  }

  beginElsewhere(chunk: Buffer | undefined): boolean {
    if (this.#connection === undefined || this.#connection.uses === 0) return false
    this.#connection = undefined
    this.#exchange.holdBody(chunk)
    void this.#connect()
    return true
  }

  bodyChunk(chunk: Buffer): void {
    this.#plan.tap?.request(chunk)
  }

  bodyTooLarge(): void {
    this.#connection?.destroy()
    this.#refuse(tooLarge(this.#plan.bodyBytes))
  }

  bodyFailed(error: unknown): void {
    this.#connection?.destroy()
    const isRefusal = error instanceof Problem
    this.#refuse(isRefusal ? error : new Problem('internal_error', undefined, { cause: error }))
  }

  bodyFlows(flows: boolean): void {
    if (this.#connection === undefined || this.#status !== 0) return
    this.#connection.deadlineAt = flows ? Infinity : this.#origin.nowMs + this.#plan.timeouts.idleMs
  }

  bodyEnded(): void {
    const connection = this.#connection
    if (connection === undefined || this.#settled) return
    this.#requestEnded = true
    if (this.#status === 0) {
      connection.deadlineAt = this.#origin.nowMs + this.#plan.timeouts.firstByteMs
    }
    connection.endRequest()
  }

  writable(): void {
    this.#body?.resume()
  }

  interim(head: UpstreamResponseHead): void {
    if (head.status === 100) {
      this.#continue()
      return
    }
    const links = valuesOf(head.headers, 'link')
    if (head.status === 103 && links.length > 0) this.#exchange.sendEarlyHints(links)
  }

  whole(head: UpstreamResponseHead, body: string): void {
    const headers = this.#answerHeaders(head)
    this.#plan.tap?.body(body)
    this.#exchange.relay({ status: head.status, reason: head.reason, headers }, body)
    this.#settle(undefined)
  }

  get takesUsual(): boolean {
    return this.#plan.tap === undefined && this.#exchange.takesLines
  }

  usual(response: UsualResponse): void {
    this.#status = response.status
    this.#upstreamMs = performance.now() - this.#startedAt
    this.#owner.answered()
    this.#exchange.relayLines(response, this.#plan.answerHeaders)
    this.#settle(undefined)
  }

  head(head: UpstreamResponseHead): void {
    const [type = ''] = valuesOf(head.headers, 'content-type')
    this.#exchange.isEventStream = type.toLowerCase().startsWith('text/event-stream')
    this.#exchange.start(head.status, head.reason, this.#answerHeaders(head))
    this.#headUnsent = true
  }

  data(chunk: Buffer): void {
    this.#headUnsent = false
    this.#plan.tap?.body(chunk)
    if (this.#exchange.write(chunk)) return
    const connection = this.#connection
    connection?.pause()
    this.#exchange.onDrain(() => {
      if (this.#settled) return
      this.#touch()
      connection?.resume()
    })
  }

  end(trailers: string[]): void {
    this.#headUnsent = false
    this.#exchange.end(trailers)
    this.#settle(undefined)
  }

  readEnded(): void {
    if (this.#settled || this.#status === 0) return
    this.#touch()
    // The head of the response is held back to be sent with the first bytes of its body. If none of them arrived in the
    // same read, the head is sent now.
    if (this.#headUnsent) this.#exchange.flushHead()
    this.#headUnsent = false
  }

  switched(head: UpstreamResponseHead, rest: Buffer): void {
    checkHandshake(head, this.#exchange.rawHeaders)
    const connection = this.#connection
    const client = this.#exchange.takeOver()
    if (connection === undefined || client === undefined) return
    const headers = this.#answerHeaders(head)
    let text = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n'
    for (let at = 0; at < headers.length; at += 2) text += `${headers[at]}: ${headers[at + 1]}\r\n`
    const tunnel = new Tunnel({
      client,
      upstream: connection,
      exchange: this.#exchange,
      touched: () => this.#touch(),
      ended: () => this.#settle(undefined),
    })
    this.#touch()
    tunnel.start(`${text}\r\n`, rest)
  }

  failed(failure: UpstreamFailure): void {
    if (this.#settled) return
    if (this.#mayRetry(failure)) {
      this.#retried = true
      this.#connection = undefined
      void this.#connect()
      return
    }
    if (this.#exchange.started) {
      this.#exchange.cut()
      this.#settle(failure.code)
      return
    }
    const problem = new Problem(failure.code, undefined, { cause: failure.cause })
    this.#refuse(problem, failure.code !== 'upstream_invalid' || !this.#mayBeCallers())
  }

  // Whether the caller may have caused an upstream that is well to close the connection or to respond wrongly: by a body
  // that was still arriving, or by a handshake without a valid key.
  #mayBeCallers(): boolean {
    const { upgrade, rawHeaders } = this.#exchange
    return !this.#requestEnded || (upgrade !== undefined && !hasHandshakeKey(rawHeaders))
  }

  // Retries once, on a new connection, if a reused connection failed before any byte of the response: the upstream
  // probably closed it while it was idle. Repeating must be harmless, so the request has an idempotent method and no
  // body.
  #mayRetry(failure: UpstreamFailure): boolean {
    const connection = this.#connection
    return (
      failure.code === 'upstream_invalid' &&
      connection !== undefined &&
      connection.uses > 0 &&
      !connection.answerStarted &&
      !this.#retried &&
      !this.#exchange.hasBody &&
      idempotent.has(this.#exchange.method)
    )
  }

  #continue(): void {
    if (this.#awaitsContinue === undefined || this.#settled) return
    clearTimeout(this.#awaitsContinue)
    this.#awaitsContinue = undefined
    const exchange = this.#exchange
    const connection = this.#connection
    if (connection === undefined) return
    exchange.sendContinue()
    this.#body = new RequestBody({ exchange, connection, owner: this, headHeld: false })
  }

  #answerHeaders(head: UpstreamResponseHead): string[] {
    this.#status = head.status
    this.#upstreamMs = performance.now() - this.#startedAt
    this.#plan.tap?.answer(head.headers)
    const { answers, answerHeaders } = this.#plan
    const headers = filterAnswerHeaders(head, answers, answerHeaders)
    this.#owner.answered()
    return headers
  }

  #touch(): void {
    if (this.#connection !== undefined && !this.#settled) {
      this.#connection.deadlineAt = this.#origin.nowMs + this.#plan.timeouts.idleMs
    }
  }

  callerLeft(): void {
    this.#connecting?.abort()
    this.#connection?.destroy()
    this.#settle(undefined)
  }

  #refuse(problem: Problem, isUnwell = false): void {
    if (this.#settled) return
    this.#release()
    this.#owner.failed(problem, isUnwell)
  }

  #settle(broken: ForwardResult['broken']): void {
    if (this.#settled) return
    this.#release()
    this.#owner.ended({ status: this.#status, broken, upstreamMs: this.#upstreamMs })
  }

  #release(): void {
    this.#settled = true
    this.#body?.stop()
    if (this.#awaitsContinue !== undefined) clearTimeout(this.#awaitsContinue)
    this.#exchange.watcher = undefined
  }
}

function tooLarge(bytes: number): Problem {
  return new Problem('body_too_large', `This target takes bodies of up to ${bytes} bytes.`)
}

/** Renders the lines that frame the body, in Intercept's own form rather than the caller's, and the empty line. */
function framingOf(exchange: Exchange): string {
  if (exchange.upgrade !== undefined) return 'Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
  const expect = exchange.expectsContinue ? 'Expect: 100-continue\r\n' : ''
  if (exchange.contentLength !== undefined) {
    return `Content-Length: ${exchange.contentLength}\r\n${expect}\r\n`
  }
  return exchange.hasBody ? `Transfer-Encoding: chunked\r\n${expect}\r\n` : '\r\n'
}
