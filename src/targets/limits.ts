import type { KeyPrincipal, RateSubject, SharedRates } from '../access/index.ts'
import type { Clock } from '../clock.ts'
import { Problem } from '../errors.ts'
import type { Rate, RateVerdict } from '../rate.ts'
import type { GuardedTarget } from './guarded-target.ts'
import type { Quotas, QuotaSubject, QuotaVerdict } from './quotas.ts'

/** What a caller is told of limits. */
type Told = readonly string[] | Problem

/** The limits and quotas of keys, targets and organizations. */
export interface Limits {
  /**
   * Asks all of them for one call and counts it if all admit it; with `spend` false nothing is counted.
   * Gives the headers that tell the caller (flat list), or the refusal: `rate_limited`, `quota_exhausted` (429).
   */
  ask(principal: KeyPrincipal, target: GuardedTarget, spend: boolean): Told | Promise<Told>
}

interface Rated {
  readonly name: string
  readonly subject: RateSubject
  readonly rate: Rate
  /** Counts on this node only. */
  readonly local: boolean
}

/** What holds for one key at one target; the same for all of their calls. */
interface Plan {
  readonly target: GuardedTarget
  readonly rated: readonly Rated[]
  readonly counted: readonly QuotaSubject[]
  /** The value of RateLimit-Policy. */
  readonly policies: string
}

/** A limit that has no room for a call. */
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

/** Opens the limits; both rates and quotas hold over all nodes. */
export function createLimits(deps: LimitsDeps): Limits {
  return new PlannedLimits(deps)
}

class PlannedLimits implements Limits {
  readonly #deps: LimitsDeps
  // Both sides are replaced, never changed, so that a plan holds as long as they do.
  readonly #plans = new WeakMap<KeyPrincipal, Plan>()

  constructor(deps: LimitsDeps) {
    this.#deps = deps
  }

  ask(principal: KeyPrincipal, target: GuardedTarget, spend: boolean): Told | Promise<Told> {
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

  /** Settles in one turn what nobody has to be waited for; else a promise after which to ask again. */
  #attempt(plan: Plan, spend: boolean): Told | Promise<unknown> {
    const { rates, quotas, clock } = this.#deps
    let waits: Promise<unknown>[] | undefined
    let refusing: Refusing | undefined
    let states = ''
    for (const one of plan.rated) {
      const verdict = rates.ask(one.subject, one.rate, one.local)
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
    // Nothing is spent on a call that one of them refuses.
    if (refusing !== undefined) return refused(refusing, plan.policies, states)
    if (spend) this.#spendAll(plan, nowMs)
    return ['RateLimit-Policy', plan.policies, 'RateLimit', states]
  }

  // What is spent must have been there in this very turn: calls that waited together all saw the same rest.
  async #askAgain(waited: Promise<unknown>, plan: Plan, spend: boolean): Promise<Told> {
    let next: Told | Promise<unknown> = waited
    while (next instanceof Promise) {
      await next
      next = this.#attempt(plan, spend)
    }
    return next
  }

  #spendAll({ rated, counted }: Plan, nowMs: number): void {
    const { rates, quotas } = this.#deps
    for (const { subject, rate, local } of rated) rates.spend(subject, rate, local)
    for (const subject of counted) quotas.spend(subject, nowMs)
  }
}

function planOf(principal: KeyPrincipal, target: GuardedTarget): Plan {
  const rated = ratesOf(principal, target)
  const counted = quotasOf(principal, target)
  // draft-ietf-httpapi-ratelimit-headers: one policy and one state per limit, in the same order.
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
