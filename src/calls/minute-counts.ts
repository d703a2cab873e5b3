import type { OrganizationId } from '../ids.ts'
import { calls, traffic, type Store } from '../store/index.ts'

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
  const at = store.slowCallReads

  async function sumsOf(organizationId: OrganizationId, wish: RollupWish) {
    const { keyId } = wish
    // Minutes know no keys: those are counted from the calls themselves.
    return keyId === undefined
      ? await traffic.sum(at, organizationId, wish)
      : await calls.sumOfKey(at, organizationId, { ...wish, keyId })
  }

  return {
    async rollup(organizationId, wish) {
      const sums = await sumsOf(organizationId, wish)
      const points = emptyPoints(wish)
      let answered = 0
      let all = 0
      for (const { step, passed, refused } of sums.steps) {
        answered += passed
        all += passed + refused
        const point = points[step]
        if (point) Object.assign(point, { passed, refused })
      }
      const p95Us =
        all === 0 || all > mostForPercentile
          ? undefined
          : await calls.percentile(at, organizationId, { ...wish, count: all, share: 0.95 })
      const p95Ms = p95Us === undefined ? undefined : Math.round(p95Us / 100) / 10
      const refused = Object.fromEntries(sums.refused.map(({ check, calls: n }) => [check, n]))
      return { points, refused, answered, p95Ms }
    },
    async ofTargets(organizationId) {
      const to = clock.now() + minuteMs
      const since = { from: to - dayMs, recentFrom: to - recentMs }
      const sums = await traffic.sumByTarget(at, organizationId, since)
      return new Map(
        sums.map((sum): [string, TargetTraffic] => [
          sum.targetId,
          {
            calls24h: sum.calls,
            refused24h: sum.refused,
            recent: { calls: sum.recentCalls, errors: sum.recentErrors },
          },
        ]),
      )
    },
    async ofRules(organizationId) {
      const sums = await traffic.sumByRule(at, organizationId, clock.now() - 7 * dayMs)
      return new Map(sums.map(({ ruleId, calls: n }) => [ruleId, n]))
    },
  }
}

function emptyPoints({ from, to, stepMs }: RollupWish) {
  const steps = Math.ceil((to - from) / stepMs)
  return Array.from({ length: steps }, (_, step) => ({
    at: from + step * stepMs,
    passed: 0,
    refused: 0,
  }))
}
