import type { KeyPrincipal } from '../access/index.ts'
import type { Problem } from '../errors.ts'
import {
  forward,
  originHeaders,
  renderRequestHead,
  type AnswerFilter,
  type ClientAddresses,
  type ForwardOwner,
  type ForwardResult,
} from '../http/index.ts'
import type { GuardedTarget, TargetSettings } from '../targets/index.ts'
import type { Announcer } from '../calls/index.ts'
import type { Assert } from './assertion.ts'
import { notPassed, type Call, type Passed } from './call.ts'
import { createCapture, type Capture } from './capture.ts'
import type { Origins } from './origins.ts'
import type { Clock } from '../clock.ts'
import type { Tracer } from '../telemetry/index.ts'
import { passTraceparentOn, renderTraceparent, type CallTrace } from './trace.ts'

export interface ForwardDeps {
  readonly origins: Origins
  readonly assert: Assert
  readonly announcer: Announcer
  readonly addresses: ClientAddresses
  /** http or https: how callers reach this server if no proxy says otherwise. */
  readonly protocol: string
  /** The tracer, if spans are reported; the upstream's spans are then children of ours. */
  readonly tracer: Pick<Tracer, 'place' | 'spanId'> | undefined
  readonly clock: Pick<Clock, 'monotonic'>
  /**
   * Called when the upstream's response has ended or broken off, when the caller has left, or when the call was cut
   * off.
   */
  finish(call: Call, passed: Passed): void
  /**
   * Called when there is no response to forward, or when the request's body is refused during the response; `passed`
   * has what was captured until then.
   */
  refuse(call: Call, error: unknown, passed?: Passed): void
}

export interface Forwarding {
  readonly target: GuardedTarget
  /** The path below the target, byte for byte. */
  readonly path: string
}

/**
 * Forwards a call to its upstream and the response to the caller; refuses with 400 (malformed trailers), 413, 502 or
 * 504. Either `deps.finish` or `deps.refuse` is called when the call has ended.
 */
export function forwardCall(call: Call, forwarding: Forwarding, deps: ForwardDeps): void {
  const { settings } = forwarding.target
  const signed = settings.assertion ? deps.assert(call.principal, forwarding.target) : undefined
  if (signed instanceof Promise) void forwardSigned(call, forwarding, { ...deps, signed })
  else new ForwardedCall(call, forwarding, deps).start(signed)
}

async function forwardSigned(
  call: Call,
  forwarding: Forwarding,
  deps: ForwardDeps & { readonly signed: Promise<string> },
): Promise<void> {
  try {
    const assertion = await deps.signed
    // If the call was cut off, or the caller left, while the signature was computed, nothing is sent to the upstream.
    if (call.exchange.finished || call.exchange.gone) deps.finish(call, notPassed)
    else new ForwardedCall(call, forwarding, deps).start(assertion)
  } catch (error) {
    deps.refuse(call, error)
  }
}

class ForwardedCall implements ForwardOwner {
  readonly #call: Call
  readonly #forwarding: Forwarding
  readonly #deps: ForwardDeps
  readonly #capture: Capture | undefined
  readonly #trace: CallTrace | undefined

  constructor(call: Call, forwarding: Forwarding, deps: ForwardDeps) {
    const { exchange } = call
    const { capture } = forwarding.target.settings
    this.#call = call
    this.#forwarding = forwarding
    this.#deps = deps
    this.#capture = capture && createCapture(exchange.rawHeaders, capture)
    const { tracer, clock } = deps
    this.#trace = tracer && {
      place: tracer.place(exchange.head.traceparent),
      upstreamSpanId: tracer.spanId(),
      upstreamAfterMs: clock.monotonic() - call.arrival.moment.monotonicMs,
    }
  }

  start(assertion: string | undefined): void {
    const { exchange } = this.#call
    const { target, path } = this.#forwarding
    const { settings, credential } = target
    const plan = {
      head: renderRequestHead({
        method: exchange.method,
        path: upstreamPath(target, path, exchange.url),
        host: target.upstream.authority,
        rawHeaders: exchange.rawHeaders,
        head: exchange.head,
        injectedName: credential?.name,
        own: this.#ownLines(assertion),
      }),
      timeouts: settings,
      bodyBytes: settings.bodyBytes,
      answers: filterOf(settings),
      injectedName: credential?.name,
      answerHeaders: this.#call.ownHeaders,
      tap: this.#capture,
    }
    forward({ exchange, origin: this.#deps.origins.of(target), plan, owner: this })
  }

  // The beginning of a response shows that the upstream is well. The end of a call does not: the caller may have left
  // before there was a response, or a long response may have broken off because the upstream failed.
  answered(): void {
    this.#deps.announcer.upstream(this.#forwarding.target, true)
  }

  ended({ status, broken, upstreamMs }: ForwardResult): void {
    const call = this.#call
    // A call that was cut off keeps the status of its refusal, which its caller has already received.
    if (call.refusal === undefined) call.status = status
    // If the response broke off, the call is recorded as a failure, although the caller saw the upstream's status.
    if (broken !== undefined) call.refusal = broken
    this.#finish(upstreamMs === undefined ? undefined : Math.round(upstreamMs * 1000))
  }

  failed(problem: Problem, isUnwell: boolean): void {
    if (isUnwell) this.#deps.announcer.upstream(this.#forwarding.target, false)
    this.#deps.refuse(this.#call, problem, this.#passed(undefined))
  }

  #finish(upstreamUs: number | undefined): void {
    this.#deps.finish(this.#call, this.#passed(upstreamUs))
  }

  #passed(upstreamUs: number | undefined): Passed {
    return { upstreamUs, capture: this.#capture?.text(), trace: this.#trace }
  }

  /** Renders the header lines that Intercept adds, and the target's credential. */
  #ownLines(assertion: string | undefined): string {
    const { exchange, principal } = this.#call
    const { addresses, protocol } = this.#deps
    const { head } = exchange
    head.forwardingLines ??= addresses.forwardingLines(exchange.peerAddress, head, protocol)
    const traceparent = this.#trace
      ? renderTraceparent(this.#trace)
      : passTraceparentOn(head.traceparent)
    return `${keyLinesOf(principal)}Intercept-Request-Id: ${exchange.requestId}\r
traceparent: ${traceparent}\r
${head.forwardingLines}${assertion === undefined ? '' : `Intercept-Assertion: ${assertion}\r\n`}${this.#forwarding.target.credential?.line ?? ''}`
  }
}

const keyLines = new WeakMap<KeyPrincipal, string>()

function keyLinesOf(principal: KeyPrincipal): string {
  const known = keyLines.get(principal)
  if (known !== undefined) return known
  const { organizationSlug, organizationId, keyId } = principal
  const lines = `Intercept-Organization: ${organizationSlug}\r\nIntercept-Organization-Id: ${organizationId}\r\nIntercept-Key-Id: ${keyId}\r\n`
  keyLines.set(principal, lines)
  return lines
}

function upstreamPath(target: GuardedTarget, path: string, url: string): string {
  const query = url.indexOf('?')
  return target.upstream.basePath + path + (query === -1 ? '' : url.slice(query))
}

const nothingAllowed: AnswerFilter = { allowed: new Set(), forPages: false }
const filters = new WeakMap<TargetSettings, AnswerFilter>()

function filterOf(settings: TargetSettings): AnswerFilter {
  if (settings.answerHeaders.length === 0 && !settings.browsers) return nothingAllowed
  let filter = filters.get(settings)
  if (filter === undefined) {
    const allowed = new Set(settings.answerHeaders.filter((name) => originHeaders.has(name)))
    filter = { allowed, forPages: settings.browsers }
    filters.set(settings, filter)
  }
  return filter
}
