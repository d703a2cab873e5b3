import type { KeyPrincipal } from '../access/index.ts'
import type { Clock } from '../clock.ts'
import { Problem } from '../errors.ts'
import { RateLimiter } from './gcra.ts'
import type { Rate } from './gcra.ts'
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
  readonly subject: string
  readonly rate: Rate
}

const nothing: readonly string[] = []
const dayS = 86_400

/** Opens the limits; rates count on this node, quotas over all nodes. */
export function createLimits(needs: { clock: Clock; quotas: Quotas }): Limits {
  const { clock, quotas } = needs
  const limiter = new RateLimiter()

  function ask(principal: KeyPrincipal, target: GuardedTarget, spend: boolean) {
    const { settings } = target
    const unlimited =
      principal.rateLimit === undefined &&
      principal.quota === undefined &&
      settings.rateLimit === undefined &&
      settings.quota === undefined
    if (unlimited) return nothing
    const rates = ratesOf(principal, target)
    const counted = quotasOf(principal, target)
    return counted.length === 0
      ? settle(rates, counted, [], spend)
      : askQuotas(rates, counted, spend)
  }

  function askRate({ name, subject, rate }: Rated, atMs: number, spend: boolean): Standing {
    const verdict = limiter.ask(subject, rate, atMs, spend)
    return {
      name,
      calls: rate.burst ?? rate.calls,
      windowSeconds: rate.perSeconds,
      ...verdict,
      refusal: verdict.admitted ? undefined : 'rate_limited',
    }
  }

  async function askQuotas(
    rates: readonly Rated[],
    counted: readonly QuotaSubject[],
    spend: boolean,
  ): Promise<readonly string[]> {
    for (;;) {
      const nowMs = clock.now()
      const verdicts = counted.map((subject) => quotas.ask(subject, nowMs))
      const known = verdicts.filter((verdict): verdict is QuotaVerdict => 'admitted' in verdict)
      // What is spent must have been there in this very turn: calls that waited together all saw the same rest.
      if (known.length === verdicts.length) {
        const standings = counted.flatMap((subject, at) => quotaStanding(subject, known[at]))
        return settle(rates, counted, standings, spend)
      }
      await Promise.all(verdicts.map(async (verdict) => await verdict))
    }
  }

  // Nothing is spent on a call that one of them refuses.
  function settle(
    rates: readonly Rated[],
    counted: readonly QuotaSubject[],
    quotaStandings: readonly Standing[],
    spend: boolean,
  ): readonly string[] {
    const atMs = clock.monotonic()
    const standings = [...rates.map((rated) => askRate(rated, atMs, false)), ...quotaStandings]
    const headers = headersOf(standings)
    const refusing = standings.find((standing) => standing.refusal !== undefined)
    if (refusing?.refusal !== undefined) throw refused(refusing, refusing.refusal, headers)
    if (!spend) return headers
    for (const { subject, rate } of rates) limiter.ask(subject, rate, atMs, true)
    if (counted.length === 0) return headers
    const nowMs = clock.now()
    for (const subject of counted) quotas.spend(subject, nowMs)
    return headers
  }

  return { ask }
}

function quotaStanding(subject: QuotaSubject, verdict: QuotaVerdict | undefined): Standing[] {
  if (verdict === undefined) return []
  const { calls, period } = subject.quota
  return [
    {
      name: `${subject.kind}-quota`,
      calls,
      windowSeconds: period === 'day' ? dayS : 30 * dayS,
      ...verdict,
      refusal: verdict.admitted ? undefined : 'quota_exhausted',
    },
  ]
}

function ratesOf(principal: KeyPrincipal, target: GuardedTarget): Rated[] {
  const rates: Rated[] = []
  if (principal.rateLimit !== undefined) {
    rates.push({ name: 'key', subject: principal.keyId, rate: principal.rateLimit })
  }
  if (target.settings.rateLimit !== undefined) {
    rates.push({ name: 'target', subject: target.id, rate: target.settings.rateLimit })
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
