import type { KeyPrincipal, RateSubject, SharedRates } from '../access/index.ts'
import type { Clock } from '../clock.ts'
import { Problem } from '../errors.ts'
import type { Rate, RateVerdict } from '../rate.ts'
import type { GuardedTarget } from './guarded-target.ts'
import type { Quotas, QuotaSubject, QuotaVerdict } from './quotas.ts'

/** The limits and quotas of keys and targets. */
export interface Limits {
  /**
   * Asks all of them for one call and counts it if all admit it; with `spend` false nothing is counted.
   * `rate_limited`, `quota_exhausted` (429). Returns the headers that tell the caller (flat list).
   */
  ask(
    principal: KeyPrincipal,
    target: GuardedTarget,
    spend: boolean,
  ): readonly string[] | Promise<readonly string[]>
}

interface Standing {
  readonly name: string
  readonly calls: number
  readonly windowSeconds: number
  readonly remaining: number
  readonly resetSeconds: number
  readonly refusal: 'rate_limited' | 'quota_exhausted' | undefined
  readonly retrySeconds: number
}

interface Rated {
  readonly name: string
  readonly subject: RateSubject
  readonly rate: Rate
  /** Counts on this node only. */
  readonly local: boolean
}

interface Asked {
  readonly rated: readonly Rated[]
  readonly counted: readonly QuotaSubject[]
  readonly spend: boolean
}

const nothing: readonly string[] = []
const dayS = 86_400

/** Opens the limits; both rates and quotas hold over all nodes. */
export function createLimits(deps: {
  clock: Clock
  quotas: Quotas
  rates: Pick<SharedRates, 'ask' | 'spend'>
}): Limits {
  const { clock, quotas, rates } = deps

  function ask(principal: KeyPrincipal, target: GuardedTarget, spend: boolean) {
    const { settings } = target
    const unlimited =
      principal.rateLimit === undefined &&
      principal.quota === undefined &&
      settings.rateLimit === undefined &&
      settings.quota === undefined
    if (unlimited) return nothing
    const rated = ratesOf(principal, target)
    const counted = quotasOf(principal, target)
    const first = attempt(rated, counted, spend)
    return first instanceof Promise ? askAgain(first, { rated, counted, spend }) : first
  }

  /** Settles in one turn what nobody has to be waited for; else a promise after which to ask again. */
  function attempt(
    rated: readonly Rated[],
    counted: readonly QuotaSubject[],
    spend: boolean,
  ): readonly string[] | Promise<unknown> {
    const waits: Promise<unknown>[] = []
    const standings: Standing[] = []
    for (const one of rated) {
      const verdict = rates.ask(one.subject, one.rate, one.local)
      if (verdict instanceof Promise) waits.push(verdict)
      else standings.push(rateStanding(one, verdict))
    }
    const nowMs = clock.now()
    for (const one of counted) {
      const verdict = quotas.ask(one, nowMs)
      if (verdict instanceof Promise) waits.push(verdict)
      else standings.push(quotaStanding(one, verdict))
    }
    if (waits.length > 0) return Promise.all(waits)
    return settle(standings, { rated, counted, spend })
  }

  // What is spent must have been there in this very turn: calls that waited together all saw the same rest.
  async function askAgain(waited: Promise<unknown>, asked: Asked): Promise<readonly string[]> {
    let next: readonly string[] | Promise<unknown> = waited
    while (next instanceof Promise) {
      await next
      next = attempt(asked.rated, asked.counted, asked.spend)
    }
    return next
  }

  // Nothing is spent on a call that one of them refuses.
  function settle(standings: readonly Standing[], asked: Asked): readonly string[] {
    const headers = headersOf(standings)
    const refusing = standings.find((standing) => standing.refusal !== undefined)
    if (refusing?.refusal !== undefined) throw refused(refusing, refusing.refusal, headers)
    if (!asked.spend) return headers
    for (const { subject, rate, local } of asked.rated) rates.spend(subject, rate, local)
    if (asked.counted.length === 0) return headers
    const nowMs = clock.now()
    for (const subject of asked.counted) quotas.spend(subject, nowMs)
    return headers
  }

  return { ask }
}

function rateStanding({ name, rate }: Rated, verdict: RateVerdict): Standing {
  return {
    name,
    calls: rate.burst ?? rate.calls,
    windowSeconds: rate.perSeconds,
    ...verdict,
    refusal: verdict.admitted ? undefined : 'rate_limited',
  }
}

function quotaStanding(subject: QuotaSubject, verdict: QuotaVerdict): Standing {
  const { calls, period } = subject.quota
  return {
    name: `${subject.kind}-quota`,
    calls,
    windowSeconds: period === 'day' ? dayS : 30 * dayS,
    ...verdict,
    refusal: verdict.admitted ? undefined : 'quota_exhausted',
  }
}

function ratesOf(principal: KeyPrincipal, target: GuardedTarget): Rated[] {
  const { organizationId, keyId, rateLimit } = principal
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

// draft-ietf-httpapi-ratelimit-headers: one policy and one state per limit, in the same order.
function headersOf(standings: readonly Standing[]): string[] {
  const policies: string[] = []
  const states: string[] = []
  for (const { name, calls, windowSeconds, remaining, resetSeconds } of standings) {
    policies.push(`"${name}";q=${calls};w=${windowSeconds}`)
    states.push(`"${name}";r=${remaining};t=${resetSeconds}`)
  }
  return ['RateLimit-Policy', policies.join(', '), 'RateLimit', states.join(', ')]
}

function refused(
  standing: Standing,
  code: 'rate_limited' | 'quota_exhausted',
  headers: readonly string[],
): Problem {
  const whose = standing.name.startsWith('key') ? 'key' : 'target'
  const detail =
    code === 'rate_limited'
      ? `The ${whose} is limited to ${standing.calls} calls per ${standing.windowSeconds} s.`
      : `The ${whose}'s quota of ${standing.calls} calls is used up.`
  const [policyName = '', policy = '', stateName = '', state = ''] = headers
  return new Problem(code, detail, {
    headers: {
      'Retry-After': String(standing.retrySeconds),
      [policyName]: policy,
      [stateName]: state,
    },
  })
}
