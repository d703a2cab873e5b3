import type { KeyPrincipal } from '../access/index.ts'
import { Problem } from '../errors.ts'
import {
  forward,
  originHeaders,
  renderRequestHead,
  type AnswerFilter,
  type ClientAddresses,
  type ForwardResult,
} from '../http/index.ts'
import type { GuardedTarget, TargetSettings } from '../targets/index.ts'
import type { Announcer } from '../calls/index.ts'
import type { Assert } from './assertion.ts'
import type { Call } from './call.ts'
import { createCapture } from './capture.ts'
import type { Origins } from './origins.ts'
import { passTraceparentOn, placeInTrace, renderTraceparent } from './trace.ts'

export interface PassOnDeps {
  readonly origins: Origins
  readonly assert: Assert
  readonly announcer: Announcer
  readonly addresses: ClientAddresses
  /** http or https: how callers reach this server when no proxy says otherwise. */
  readonly protocol: string
  /** Whether spans are reported: the upstream's are then below ours. */
  readonly isTraced: boolean
}

/** What a call needs to be passed on. */
export interface Forwarding {
  readonly principal: KeyPrincipal
  readonly target: GuardedTarget
  /** Path below the target, byte for byte. */
  readonly path: string
}

/** Passes a call on to its upstream and back: 413 502 504. */
export async function forwardCall(
  call: Call,
  forwarding: Forwarding,
  deps: PassOnDeps,
): Promise<void> {
  const { exchange } = call
  const { target } = forwarding
  const { settings } = target
  const assertion = settings.assertion ? await deps.assert(forwarding.principal, target) : undefined
  // Revoked while the checks or the signature took their time: the caller has its 401, the upstream hears nothing.
  if (exchange.finished || exchange.gone) return
  const capture = createCapture(exchange.rawHeaders, settings.capture)
  try {
    const result = await forward(exchange, deps.origins.of(target), {
      head: renderRequestHead({
        method: exchange.method,
        path: upstreamPath(target, forwarding.path, exchange.url),
        host: target.upstream.authority,
        rawHeaders: exchange.rawHeaders,
        connectionNames: exchange.head.connectionNames,
        injectedName: target.credential?.name,
        own: ownHeaders(call, forwarding, assertion, deps),
      }),
      timeouts: settings,
      bodyBytes: settings.bodyBytes,
      answers: filterOf(settings),
      injectedName: target.credential?.name,
      answerHeaders: call.answerHeaders,
      tap: capture,
    })
    settle(call, result)
    deps.announcer.upstream(target, true)
  } catch (error) {
    if (error instanceof Problem && upstreamFailures.has(error.code)) {
      deps.announcer.upstream(target, false)
    }
    throw error
  } finally {
    call.capture = capture?.text()
  }
}

const upstreamFailures: ReadonlySet<string> = new Set([
  'upstream_unreachable',
  'upstream_invalid',
  'upstream_timeout',
])

function settle(call: Call, result: ForwardResult): void {
  call.status = result.status
  // An answer that broke off was ours to finish: the record says so, though the caller saw the upstream's status.
  if (result.broken !== undefined) call.refusal = result.broken
  if (result.upstreamMs !== undefined) call.upstreamUs = Math.round(result.upstreamMs * 1000)
}

function upstreamPath(target: GuardedTarget, path: string, url: string): string {
  const query = url.indexOf('?')
  return target.upstream.basePath + path + (query === -1 ? '' : url.slice(query))
}

function ownHeaders(
  call: Call,
  { principal, target }: Forwarding,
  assertion: string | undefined,
  { addresses, protocol, isTraced }: PassOnDeps,
): string {
  const { exchange } = call
  const { head } = exchange
  if (isTraced) call.trace ??= placeInTrace(head.traceparent)
  const traceparent = call.trace
    ? renderTraceparent(call.trace)
    : passTraceparentOn(head.traceparent)
  return `Intercept-Organization: ${principal.organizationSlug}\r
Intercept-Organization-Id: ${principal.organizationId}\r
Intercept-Key-Id: ${principal.keyId}\r
Intercept-Request-Id: ${exchange.requestId}\r
traceparent: ${traceparent}\r
${addresses.forwardingLines(exchange.peerAddress, head, protocol)}${assertion === undefined ? '' : `Intercept-Assertion: ${assertion}\r\n`}${target.credential?.line ?? ''}`
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
