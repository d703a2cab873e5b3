import type { KeyPrincipal } from '../access/index.ts'
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

/** A request of the guarded area as it arrived: nothing is known of who sent it. */
export interface Arrival {
  readonly exchange: Exchange
  /** The caller's own address. */
  readonly address: string
  /** Monotonic milliseconds. */
  readonly startedAt: number
  /** Path without query. */
  readonly path: string
  /** Whether a proxy asks for the decision alone; nginx drops the body of a refusal, but not its headers. */
  readonly isQuestion: boolean
}

/** What the upstream's part left behind. */
export interface Passed {
  readonly upstreamUs: number | undefined
  /** What the target's capture setting kept, as JSON. */
  readonly capture: string | undefined
  /** Its place in a trace; undefined where nobody asked for one. */
  readonly trace: CallTrace | undefined
}

export const notPassed: Passed = { upstreamUs: undefined, capture: undefined, trace: undefined }

/** A request whose key is known: what is recorded, traced, and cut when the key ends. */
export class Call {
  readonly exchange: Exchange
  readonly arrival: Arrival
  readonly principal: KeyPrincipal
  /** What is called; for a proxy's question, what it asks about. */
  method: string
  path: string
  /** The check that is being made. */
  check: Check = 'key'
  /** As far as the checks have come. */
  known: Located | Decided | undefined
  limitHeaders: readonly string[] = noHeaders
  /** How it ended. */
  status = 0
  refusal: ProblemCode | undefined
  #deniedBy: string | undefined
  #isOver = false

  constructor(arrival: Arrival, principal: KeyPrincipal) {
    this.exchange = arrival.exchange
    this.arrival = arrival
    this.principal = principal
    this.method = arrival.exchange.method
    this.path = arrival.path
  }

  /** Ends the call with a refusal; what is no `Problem` is our own mistake and shows as one. */
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

  /** Takes the call for over; false when it was so already. */
  end(): boolean {
    const isFirst = !this.#isOver
    this.#isOver = true
    return isFirst
  }

  /** Headers of ours for the response, a flat list. */
  get ownHeaders(): string[] {
    return ['Intercept-Request-Id', this.exchange.requestId, ...this.limitHeaders]
  }

  record(passed: Passed, nowMs: number, monotonicMs: number): CallRecord {
    const { principal, exchange, arrival, known, refusal } = this
    const decision = decisionOf(known)
    const allowed = decision?.allowed === true ? decision : undefined
    const durationMs = monotonicMs - arrival.startedAt
    return {
      id: exchange.requestId as RequestId,
      at: Math.round(nowMs - durationMs),
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

/** A User-Agent fit for a column: header bytes are latin1, so that no lone surrogate and no NUL can be in it. */
function agentOf(agent: string | undefined): string | undefined {
  return agent !== undefined && agent.length > maxAgentLength
    ? agent.slice(0, maxAgentLength)
    : agent
}
