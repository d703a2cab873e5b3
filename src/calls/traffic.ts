import type { Clock } from '../clock.ts'
import type { OrganizationId } from '../ids.ts'
import { callCounts, traffic, type CallFilter, type Store } from '../store/index.ts'
import { Rollups, type TopOfCalls } from './rollups.ts'
import type { Rollup, RollupInput } from './rollup.ts'
import { dayMs, hourMs, minuteMs, quarterHourMs } from '../units.ts'

const recentMs = 15 * minuteMs

export interface TargetTraffic {
  readonly calls24h: number
  readonly refused24h: number
  readonly recent: { readonly calls: number; readonly errors: number }
}

/** A target's calls in each of the last 24 hours, oldest first. */
export interface TargetHours {
  readonly calls: number[]
  /** Calls that were refused or failed at the upstream. */
  readonly failed: number[]
}

/** Counts and latencies of an organization's calls, for charts. */
export interface Traffic {
  rollup(organizationId: OrganizationId, input: RollupInput): Promise<Rollup>
  top(organizationId: OrganizationId, filter: CallFilter, limit: number): Promise<TopOfCalls>
  /** Keyed by target id; a target without calls in the last 24 hours is missing. */
  ofTargets(organizationId: OrganizationId): Promise<ReadonlyMap<string, TargetTraffic>>
  /** Keyed by target id; a target without calls in the last 24 hours is missing. */
  hoursOfTargets(organizationId: OrganizationId): Promise<ReadonlyMap<string, TargetHours>>
  /**
   * Keyed by rule id: how many calls of the last 7 UTC days, including today, the rule decided or, on trial, would have
   * refused.
   */
  ofRules(organizationId: OrganizationId): Promise<ReadonlyMap<string, number>>
}

export function createTraffic(deps: {
  store: Store
  clock: Pick<Clock, 'now' | 'monotonic'>
}): Traffic {
  return new CountedTraffic(deps)
}

class CountedTraffic implements Traffic {
  readonly #at: Store['slowCallReads']
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>
  readonly #rollups: Rollups

  constructor({
    store,
    clock,
  }: {
    readonly store: Store
    readonly clock: Pick<Clock, 'now' | 'monotonic'>
  }) {
    this.#at = store.slowCallReads
    this.#clock = clock
    this.#rollups = new Rollups(this.#at, clock)
  }

  async rollup(organizationId: OrganizationId, input: RollupInput): Promise<Rollup> {
    return await this.#rollups.rollup(organizationId, input)
  }

  async top(organizationId: OrganizationId, filter: CallFilter, limit: number) {
    return await this.#rollups.top(organizationId, filter, limit)
  }

  async ofTargets(organizationId: OrganizationId): Promise<ReadonlyMap<string, TargetTraffic>> {
    const day = await this.#lastDay(organizationId, dayMs)
    const recentFrom = this.#clock.now() + minuteMs - recentMs
    const sums = await traffic.sumRecent(this.#at, organizationId, recentFrom)
    const recent = new Map(sums.map(({ targetId, ...counts }) => [targetId, counts]))
    const none = { calls: 0, errors: 0 }
    return new Map(
      day.map(({ targetId, calls, refused }) => [
        targetId,
        { calls24h: calls, refused24h: refused, recent: recent.get(targetId) ?? none },
      ]),
    )
  }

  async hoursOfTargets(organizationId: OrganizationId): Promise<ReadonlyMap<string, TargetHours>> {
    const hours = new Map<string, TargetHours>()
    for (const sum of await this.#lastDay(organizationId, hourMs)) {
      const none = (): number[] => Array.from({ length: dayMs / hourMs }, () => 0)
      const target = hours.get(sum.targetId) ?? { calls: none(), failed: none() }
      target.calls[sum.step] = sum.calls
      target.failed[sum.step] = sum.failed
      hours.set(sum.targetId, target)
    }
    return hours
  }

  async ofRules(organizationId: OrganizationId): Promise<ReadonlyMap<string, number>> {
    const sums = await traffic.sumByRule(this.#at, organizationId, this.#clock.now() - 7 * dayMs)
    return new Map(sums.map(({ ruleId, calls }) => [ruleId, calls]))
  }

  /** Sums the calls of each target in the 24 hours that end with the current quarter of an hour. */
  async #lastDay(organizationId: OrganizationId, stepMs: number): Promise<callCounts.TargetStep[]> {
    const to = Math.floor(this.#clock.now() / quarterHourMs) * quarterHourMs + quarterHourMs
    const range = { from: to - dayMs, to, stepMs }
    const isCounted = range.from >= (await this.#rollups.countedSince())
    const read = isCounted ? callCounts.sumTargets : traffic.sumByTargetAndStep
    return await read(this.#at, organizationId, range)
  }
}
