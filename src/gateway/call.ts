import type { KeyPrincipal } from '../access/index.ts'
import type { Moment } from '../clock.ts'
import { Problem, type ProblemCode } from '../errors.ts'
import type { Exchange } from '../http/index.ts'
import type { RequestId } from '../ids.ts'
import type { CallRecord } from '../store/index.ts'
import {
  decisionOf,
  type Check,
  type Decided,
  type GuardedTarget,
  type Located,
} from '../targets/index.ts'
import type { CallTrace } from './trace.ts'

/** A request to the gateway before its sender is identified. */
export interface Arrival {
  readonly exchange: Exchange
  /** The caller's address; behind the operator's proxies, the address that they report. */
  readonly address: string
  readonly moment: Moment
  /** The path without the query. */
  readonly path: string
  /**
   * Whether a proxy asks only for the decision. nginx drops the body of a refusal, so the refusal is then also sent in
   * a header, unless it is too long.
   */
  readonly isQuestion: boolean
}

/** What forwarding a call has produced for its record and its trace. */
export interface Passed {
  readonly upstreamUs: number | undefined
  /** What was captured of the call, as JSON; undefined if the target captures nothing or nothing was forwarded. */
  readonly capture: string | undefined
  /** The call's place in a trace; undefined if no spans are reported or nothing was forwarded. */
  readonly trace: CallTrace | undefined
}

export const notPassed: Passed = { upstreamUs: undefined, capture: undefined, trace: undefined }

/** A request with an identified key: the unit that is recorded, traced, and cut off when the key ends. */
export class Call {
  readonly exchange: Exchange
  readonly arrival: Arrival
  readonly principal: KeyPrincipal
  /** The key as last read: its end and its rights may change while the call is in progress. */
  current: KeyPrincipal
  /** Why the call would be refused if it came now, although its key is good. */
  refusedNow: Problem | undefined
  /** The request's method; if a proxy asks about another request and names its method, that method. */
  method: string
  path: string
  /** The check in progress. */
  check: Check = 'key'
  /** The facts found by the checks so far. */
  known: Located | Decided | undefined
  limitHeaders: readonly string[] = noHeaders
  /** Its place in the list of open calls of its key (`CallList`). */
  listedAt = -1
  /** The status of the response; 0 as long as there is none. */
  status = 0
  refusal: ProblemCode | undefined
  #deniedBy: string | undefined
  #isOver = false

  constructor(arrival: Arrival, principal: KeyPrincipal) {
    this.exchange = arrival.exchange
    this.arrival = arrival
    this.principal = principal
    this.current = principal
    this.method = arrival.exchange.method
    this.path = arrival.path
  }

  /** Responds with a refusal. An error that is not a `Problem` is a bug of ours and becomes `internal_error`. */
  refuse(error: unknown): void {
    const problem = error instanceof Problem ? error : new Problem('internal_error')
    this.refusal = problem.code
    this.status = problem.status
    const named = problem.members?.['rule_id']
    if (typeof named === 'string') this.#deniedBy = named
    this.exchange.refuse(error, this.limitHeaders, this.arrival.isQuestion)
  }

  get target(): GuardedTarget | undefined {
    return this.known?.target
  }

  /** Marks the call as finished; false if it already was. */
  end(): boolean {
    const isFirst = !this.#isOver
    this.#isOver = true
    return isFirst
  }

  /** Our own response headers, as a flat list. */
  get ownHeaders(): string[] {
    return ['Intercept-Request-Id', this.exchange.requestId, ...this.limitHeaders]
  }

  record(passed: Passed, endedAt: number): CallRecord {
    const { principal, exchange, arrival, known, refusal } = this
    const decision = decisionOf(known)
    const allowed = decision?.allowed === true ? decision : undefined
    const durationMs = endedAt - arrival.moment.monotonicMs
    return {
      id: exchange.requestId as RequestId,
      at: Math.round(arrival.moment.nowMs),
      organizationId: principal.organizationId,
      keyId: principal.keyId,
      targetId: this.target?.id,
      method: this.method,
      path: this.path,
      status: this.status,
      refusal,
      stoppedAt: refusal === undefined ? undefined : this.check,
      ruleId: allowed?.ruleId ?? this.#deniedBy,
      trialRuleId: allowed?.trialRuleId,
      bytesIn: exchange.bytesIn,
      bytesOut: exchange.bytesOut,
      durationUs: Math.round(durationMs * 1000),
      upstreamUs: passed.upstreamUs,
      address: arrival.address,
      agent: agentOf(exchange.head.userAgent),
      capture: passed.capture,
    }
  }
}

const noHeaders: readonly string[] = []
const maxAgentLength = 200

/** Shortens a User-Agent for the call record. A header value is latin1 text without NUL, so it can be cut anywhere. */
function agentOf(agent: string | undefined): string | undefined {
  return agent !== undefined && agent.length > maxAgentLength
    ? agent.slice(0, maxAgentLength)
    : agent
}
