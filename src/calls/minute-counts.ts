import type { OrganizationId } from '../ids.ts'
import { calls, traffic, type MinuteCounts, type Store } from '../store/index.ts'

const minuteMs = 60_000
const dayMs = 24 * 3_600_000
const recentMs = 15 * minuteMs
const mostForPercentile = 50_000

/** Sums of calls over steps of time. */
export interface Rollup {
  readonly points: readonly {
    readonly at: number
    readonly passed: number
    readonly refused: number
  }[]
  /** Refused calls by the check they stopped at. */
  readonly refused: Readonly<Record<string, number>>
  readonly answered: number
  /** 95 of 100 calls took at most this long; undefined for none, or too many to look at. */
  readonly p95Ms: number | undefined
}

/** What a rollup is about; times in milliseconds since 1970. */
export interface RollupWish {
  readonly from: number
  readonly to: number
  readonly stepMs: number
  readonly targetId?: string | undefined
  readonly keyId?: string | undefined
}

/** Counts of one target. */
export interface TargetTraffic {
  readonly calls24h: number
  readonly refused24h: number
  readonly recent: { readonly calls: number; readonly errors: number }
}

/** What passed through, counted. */
export interface Traffic {
  rollup(organizationId: OrganizationId, wish: RollupWish): Promise<Rollup>
  /** By target id; a target without calls is missing. */
  ofTargets(organizationId: OrganizationId): Promise<ReadonlyMap<string, TargetTraffic>>
  /** By rule id: decided, or would have refused, in the last 7 days. */
  ofRules(organizationId: OrganizationId): Promise<ReadonlyMap<string, number>>
}

/** Opens the counts. */
export function createTraffic(needs: { store: Store; clock: { now(): number } }): Traffic {
  const { store, clock } = needs
  const at = store.calls

  async function countsOf(
    organizationId: OrganizationId,
    wish: RollupWish,
  ): Promise<readonly Counted[]> {
    const { from, to, targetId, keyId } = wish
    // Minutes know no keys: those are counted from the calls themselves.
    return keyId === undefined
      ? await traffic.listMinutes(at, organizationId, { from, to, targetId })
      : await calls.countMinutes(at, organizationId, { from, to, keyId, targetId })
  }

  return {
    async rollup(organizationId, wish) {
      const counted = await countsOf(organizationId, wish)
      const points = emptyPoints(wish)
      const refused: Record<string, number> = {}
      let answered = 0
      let all = 0
      for (const { minute, stoppedAt, calls: number } of counted) {
        const point = points[Math.floor((minute - wish.from) / wish.stepMs)]
        all += number
        if (stoppedAt === '') {
          answered += number
          if (point) point.passed += number
        } else {
          refused[stoppedAt] = (refused[stoppedAt] ?? 0) + number
          if (point) point.refused += number
        }
      }
      const p95Us =
        all === 0 || all > mostForPercentile
          ? undefined
          : await calls.percentile(at, organizationId, { ...wish, count: all, share: 0.95 })
      const p95Ms = p95Us === undefined ? undefined : Math.round(p95Us / 100) / 10
      return { points, refused, answered, p95Ms }
    },
    async ofTargets(organizationId) {
      const to = clock.now() + minuteMs
      const minutes = await traffic.listMinutes(at, organizationId, { from: to - dayMs, to })
      const found = new Map<string, TargetTraffic>()
      for (const counts of minutes) {
        found.set(counts.targetId, added(found.get(counts.targetId), counts, to - recentMs))
      }
      return found
    },
    async ofRules(organizationId) {
      const days = await traffic.listRuleDays(at, organizationId, clock.now() - 7 * dayMs)
      const found = new Map<string, number>()
      for (const { ruleId, decided, wouldRefuse } of days) {
        found.set(ruleId, (found.get(ruleId) ?? 0) + decided + wouldRefuse)
      }
      return found
    },
  }
}

type Counted = Pick<MinuteCounts, 'minute' | 'stoppedAt' | 'calls'>

function emptyPoints({ from, to, stepMs }: RollupWish) {
  const steps = Math.ceil((to - from) / stepMs)
  return Array.from({ length: steps }, (_, step) => ({
    at: from + step * stepMs,
    passed: 0,
    refused: 0,
  }))
}

function added(
  before: TargetTraffic | undefined,
  counts: MinuteCounts,
  recentFrom: number,
): TargetTraffic {
  const { calls24h = 0, refused24h = 0, recent = { calls: 0, errors: 0 } } = before ?? {}
  const isRecent = counts.minute >= recentFrom && ['', 'forward'].includes(counts.stoppedAt)
  return {
    calls24h: calls24h + counts.calls,
    refused24h: refused24h + (counts.stoppedAt === '' ? 0 : counts.calls),
    recent: isRecent
      ? { calls: recent.calls + counts.calls, errors: recent.errors + counts.errors }
      : recent,
  }
}
