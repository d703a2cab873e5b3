import type { KeyPrincipal, LimitedRate, SharedRates } from '../access/index.ts'
import type { Clock } from '../clock.ts'
import { Problem } from '../errors.ts'
import type { RateVerdict } from '../rate.ts'
import type { GuardedTarget } from './guarded-target.ts'
import type { Quotas, QuotaSubject, QuotaVerdict } from './quotas.ts'

/** The result for the caller: response headers about limits, or a refusal. */
type LimitResult = readonly string[] | Problem

export interface Limits {
  /**
   * Checks one call against every limit and counts it if all admit it; with `spend` false nothing is counted. Returns
   * the response headers (flat list), or the refusal: `rate_limited`, `quota_exhausted` (429).
   */
  ask(
    principal: KeyPrincipal,
    target: GuardedTarget,
    spend: boolean,
  ): LimitResult | Promise<LimitResult>
}

interface Rated extends LimitedRate {
  readonly name: string
}

/** The limits that apply to every call of one key to one target. */
interface Plan {
  readonly target: GuardedTarget
  readonly rated: readonly Rated[]
  readonly counted: readonly QuotaSubject[]
  /** The value of RateLimit-Policy. */
  readonly policies: string
}

interface Refusing {
  readonly code: 'rate_limited' | 'quota_exhausted'
  readonly detail: string
  readonly retrySeconds: number
}

const nothing: readonly string[] = []
const dayS = 86_400

interface LimitsDeps {
  readonly clock: Clock
  readonly quotas: Quotas
  readonly rates: Pick<SharedRates, 'ask' | 'spend'>
}

/** Creates the limits. Rates and quotas apply to all nodes together, except a target's rate whose scope is `node`. */
export function createLimits(deps: LimitsDeps): Limits {
  return new PlannedLimits(deps)
}

class PlannedLimits implements Limits {
  readonly #deps: LimitsDeps
  // Principals and targets are replaced, never changed, so a plan stays valid for as long as they exist.
  readonly #plans = new WeakMap<KeyPrincipal, Plan>()

  constructor(deps: LimitsDeps) {
    this.#deps = deps
  }

  ask(
    principal: KeyPrincipal,
    target: GuardedTarget,
    spend: boolean,
  ): LimitResult | Promise<LimitResult> {
    const { settings } = target
    const unlimited =
      principal.rateLimit === undefined &&
      principal.quota === undefined &&
      principal.organizationRate === undefined &&
      settings.rateLimit === undefined &&
      settings.quota === undefined
    if (unlimited) return nothing
    let plan = this.#plans.get(principal)
    if (plan?.target !== target) {
      plan = planOf(principal, target)
      this.#plans.set(principal, plan)
    }
    const first = this.#attempt(plan, spend)
    return first instanceof Promise ? this.#askAgain(first, plan, spend) : first
  }

  /**
   * Decides synchronously. If a share of a rate or a quota must be claimed first, returns a promise instead: when it
   * resolves, the attempt must be repeated.
   */
  #attempt(plan: Plan, spend: boolean): LimitResult | Promise<unknown> {
    const { rates, quotas, clock } = this.#deps
    let waits: Promise<unknown>[] | undefined
    let refusing: Refusing | undefined
    let states = ''
    const monotonic = clock.monotonic()
    for (const one of plan.rated) {
      const verdict = rates.ask(one, monotonic)
      if (verdict instanceof Promise) {
        waits = [...(waits ?? []), verdict]
        continue
      }
      states = withState(states, one.name, verdict)
      if (!verdict.admitted) refusing ??= rateRefusal(one, verdict)
    }
    const nowMs = plan.counted.length === 0 ? 0 : clock.now()
    for (const one of plan.counted) {
      const verdict = quotas.ask(one, nowMs)
      if (verdict instanceof Promise) {
        waits = [...(waits ?? []), verdict]
        continue
      }
      states = withState(states, `${one.kind}-quota`, verdict)
      if (!verdict.admitted) refusing ??= quotaRefusal(one, verdict)
    }
    if (waits !== undefined) return Promise.all(waits)
    // If any limit refuses the call, none is charged.
    if (refusing !== undefined) return refused(refusing, plan.policies, states)
    if (spend) this.#spendAll(plan, { monotonic, nowMs })
    return ['RateLimit-Policy', plan.policies, 'RateLimit', states]
  }

  // After the wait, checking and spending must happen in the same event-loop turn. Otherwise all calls that waited
  // together would see the same remainder and spend it more than once.
  async #askAgain(waited: Promise<unknown>, plan: Plan, spend: boolean): Promise<LimitResult> {
    let next: LimitResult | Promise<unknown> = waited
    while (next instanceof Promise) {
      await next
      next = this.#attempt(plan, spend)
    }
    return next
  }

  #spendAll(plan: Plan, { monotonic, nowMs }: { monotonic: number; nowMs: number }): void {
    const { rates, quotas } = this.#deps
    for (const one of plan.rated) rates.spend(one, monotonic)
    for (const one of plan.counted) quotas.spend(one, nowMs)
  }
}

function planOf(principal: KeyPrincipal, target: GuardedTarget): Plan {
  const rated = ratesOf(principal, target)
  const counted = quotasOf(principal, target)
  // The format is that of draft-ietf-httpapi-ratelimit-headers; policies and states have the same order.
  const policies = [
    ...rated.map(
      ({ name, rate }) => `"${name}";q=${rate.burst ?? rate.calls};w=${rate.perSeconds}`,
    ),
    ...counted.map(
      ({ kind, quota }) =>
        `"${kind}-quota";q=${quota.calls};w=${quota.period === 'day' ? dayS : 30 * dayS}`,
    ),
  ]
  return { target, rated, counted, policies: policies.join(', ') }
}

function ratesOf(principal: KeyPrincipal, target: GuardedTarget): Rated[] {
  const { organizationId, keyId, rateLimit, organizationRate } = principal
  const { settings } = target
  const rates: Rated[] = []
  if (rateLimit !== undefined) {
    const subject = { id: keyId, organizationId }
    rates.push({ name: 'key', subject, rate: rateLimit, local: false })
  }
  if (settings.rateLimit !== undefined) {
    const subject = { id: target.id, organizationId }
    const local = settings.rateScope === 'node'
    rates.push({ name: 'target', subject, rate: settings.rateLimit, local })
  }
  if (organizationRate !== undefined) {
    const subject = { id: organizationId, organizationId }
    rates.push({ name: 'organization', subject, rate: organizationRate, local: false })
  }
  return rates
}

function quotasOf(principal: KeyPrincipal, target: GuardedTarget): QuotaSubject[] {
  const { organizationId } = principal
  const subjects: QuotaSubject[] = []
  if (principal.quota !== undefined) {
    const { keyId: subjectId, quota } = principal
    subjects.push({ organizationId, subjectId, kind: 'key', quota })
  }
  if (target.settings.quota !== undefined) {
    const { quota } = target.settings
    subjects.push({ organizationId, subjectId: target.id, kind: 'target', quota })
  }
  return subjects
}

function withState(
  states: string,
  name: string,
  verdict: Pick<RateVerdict, 'remaining' | 'resetSeconds'>,
): string {
  const state = `"${name}";r=${verdict.remaining};t=${verdict.resetSeconds}`
  return states === '' ? state : `${states}, ${state}`
}

function rateRefusal({ name, rate }: Rated, { retrySeconds }: RateVerdict): Refusing {
  const calls = rate.burst ?? rate.calls
  return {
    code: 'rate_limited',
    detail: `The ${name} is limited to ${calls} calls per ${rate.perSeconds} s.`,
    retrySeconds,
  }
}

function quotaRefusal({ kind, quota }: QuotaSubject, { retrySeconds }: QuotaVerdict): Refusing {
  return {
    code: 'quota_exhausted',
    detail: `The ${kind}'s quota of ${quota.calls} calls is used up.`,
    retrySeconds,
  }
}

function refused(refusing: Refusing, policies: string, states: string): Problem {
  return new Problem(refusing.code, refusing.detail, {
    headers: {
      'Retry-After': String(refusing.retrySeconds),
      'RateLimit-Policy': policies,
      RateLimit: states,
    },
  })
}
