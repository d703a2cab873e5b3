import type { KeyPrincipal } from '../access/index.ts'
import { Problem, type ProblemCode } from '../errors.ts'
import type { Exchange } from '../http/index.ts'
import type { RequestId } from '../ids.ts'
import type { CallRecord } from '../store/index.ts'
import type { Check, GuardedTarget } from '../targets/index.ts'
import type { TracePlace } from './trace.ts'

/** One pass through the gateway, as far as it has come. */
export class Call {
  readonly exchange: Exchange
  /** The caller's own address. */
  readonly address: string
  /** Monotonic milliseconds. */
  readonly startedAt: number
  method: string
  /** Path without query. */
  path: string
  /** The check that is being made. */
  check: Check = 'shape'
  principal: KeyPrincipal | undefined
  target: GuardedTarget | undefined
  ruleId: string | undefined
  trialRuleId: string | undefined
  /** Headers of ours for the answer, a flat list. */
  answerHeaders: readonly string[] = []
  /** Whether a proxy asks for the decision alone; nginx drops the body of a refusal, but not its headers. */
  isQuestion = false
  /** What the target's capture setting kept, as JSON. */
  capture: string | undefined
  /** How it ended. */
  status = 0
  refusal: ProblemCode | undefined
  upstreamUs: number | undefined
  /** Its place in a trace, once somebody asked. */
  trace: TracePlace | undefined

  constructor(exchange: Exchange, given: { address: string; startedAt: number }) {
    this.exchange = exchange
    this.address = given.address
    this.startedAt = given.startedAt
    this.method = exchange.method
    const query = exchange.url.indexOf('?')
    this.path = query === -1 ? exchange.url : exchange.url.slice(0, query)
  }

  /** Ends the call with a refusal; what is no `Problem` is our own mistake and shows as one. */
  refuse(error: unknown): void {
    const problem = error instanceof Problem ? error : new Problem('internal_error')
    this.refusal = problem.code
    this.status = problem.status
    const named = problem.members?.['rule_id']
    if (typeof named === 'string') this.ruleId = named
    // The first pair is the request's id, which every refusal carries by itself.
    this.exchange.refuse(error, this.answerHeaders.slice(2), this.isQuestion)
  }

  /** The record of a call whose key is known; strangers get none. */
  record(nowMs: number, monotonicMs: number): CallRecord | undefined {
    const { principal, exchange } = this
    if (principal === undefined) return undefined
    const durationMs = monotonicMs - this.startedAt
    return {
      id: exchange.requestId as RequestId,
      at: Math.round(nowMs - durationMs),
      organizationId: principal.organizationId,
      keyId: principal.keyId,
      targetId: this.target?.id,
      method: this.method,
      path: this.path,
      status: this.status,
      refusal: this.refusal,
      stoppedAt: this.refusal === undefined ? undefined : this.check,
      ruleId: this.ruleId,
      trialRuleId: this.trialRuleId,
      bytesIn: exchange.bytesIn,
      bytesOut: exchange.bytesOut,
      durationUs: Math.round(durationMs * 1000),
      upstreamUs: this.upstreamUs,
      address: this.address,
      agent: agentOf(exchange.head.userAgent),
      capture: this.capture,
    }
  }
}

const maxAgentLength = 200

/** A User-Agent fit for a column: header bytes are latin1, so that no lone surrogate and no NUL can be in it. */
function agentOf(agent: string | undefined): string | undefined {
  return agent !== undefined && agent.length > maxAgentLength
    ? agent.slice(0, maxAgentLength)
    : agent
}
