import type { OrganizationId } from '../ids.ts'
import {
  callSums,
  traffic,
  type CallFilter,
  type CallOutcome,
  type Percentiles,
  type Store,
  type TimedPart,
} from '../store/index.ts'
import { dayMs, hourMs, minuteMs } from '../units.ts'

const recentMs = 15 * minuteMs

/** Shares of calls took at most so long, in milliseconds. */
export interface Latency {
  readonly p50Ms: number
  readonly p95Ms: number
  readonly p99Ms: number
}

/** One step of a rollup. */
export interface RollupPoint {
  readonly at: number
  /** Answered by the upstream, below 500. */
  readonly passed: number
  /** The upstream failed, or answered with 500 or above. */
  readonly errors: number
  /** Refused by one of our checks. */
  readonly refused: number
  /** Missing where no call was timed. */
  readonly latency: Latency | undefined
  /** How long the upstream and how long the rest took; only where it was asked for. */
  readonly upstreamP95Ms: number | undefined
  readonly ownP95Ms: number | undefined
}

/** Sums of calls over steps of time. */
export interface Rollup {
  readonly points: readonly RollupPoint[]
  /** Calls that were not forwarded whole, by the check they stopped at. */
  readonly refused: Readonly<Record<string, number>>
  readonly answered: number
  /** Of all calls together; undefined where there were none. */
  readonly latency: Latency | undefined
  /** There were so many calls that percentiles are those of the newest of each step. */
  readonly sampled: boolean
}

/** What a rollup is about; times in milliseconds since 1970. */
export interface RollupInput extends CallFilter {
  readonly from: number
  readonly to: number
  readonly stepMs: number
  /** Whether the upstream's part and ours are told apart. */
  readonly parts?: boolean | undefined
}

/** The keys and targets with the most calls, and the codes with the most refusals and failures. */
export interface TopOfCalls {
  readonly keys: readonly TopRow[]
  readonly targets: readonly TopRow[]
  readonly codes: readonly TopRow[]
}
type TopRow = Awaited<ReturnType<typeof callSums.top>>[number]

/** Counts of one target. */
export interface TargetTraffic {
  readonly calls24h: number
  readonly refused24h: number
  readonly recent: { readonly calls: number; readonly errors: number }
}

/** Calls of one target hour by hour. */
export interface TargetHours {
  readonly calls: number[]
  readonly failed: number[]
}

/** What passed through, counted. */
export interface Traffic {
  rollup(organizationId: OrganizationId, wish: RollupInput): Promise<Rollup>
  top(organizationId: OrganizationId, filter: CallFilter, limit: number): Promise<TopOfCalls>
  /** By target id; a target without calls is missing. */
  ofTargets(organizationId: OrganizationId): Promise<ReadonlyMap<string, TargetTraffic>>
  /** By target id: calls of each of the last 24 hours, oldest first, and those of them that were refused or failed. */
  hoursOfTargets(organizationId: OrganizationId): Promise<ReadonlyMap<string, TargetHours>>
  /** By rule id: decided, or would have refused, in the last 7 days. */
  ofRules(organizationId: OrganizationId): Promise<ReadonlyMap<string, number>>
}

/** Opens the counts. */
export function createTraffic(deps: { store: Store; clock: { now(): number } }): Traffic {
  const { store, clock } = deps
  const at = store.slowCallReads

  async function rollup(organizationId: OrganizationId, wish: RollupInput): Promise<Rollup> {
    const rows = await sumsOf(at, organizationId, wish)
    const count = rows.reduce((sum, row) => sum + row.passed + row.errors + row.refused, 0)
    const ofPart = async (part: TimedPart): Promise<Times> =>
      count === 0
        ? noTimes
        : timesOf(await callSums.percentiles(at, organizationId, { ...wish, count, part }))
    const isApart = wish.parts === true
    return rollupOf(wish, rows, {
      all: await ofPart('all'),
      upstream: isApart ? await ofPart('upstream') : noTimes,
      own: isApart ? await ofPart('own') : noTimes,
    })
  }

  return {
    rollup,
    async top(organizationId, filter, limit) {
      const of = async (by: 'key' | 'target' | 'code') =>
        await callSums.top(at, organizationId, { ...filter, by, limit })
      return { keys: await of('key'), targets: await of('target'), codes: await of('code') }
    },
    async ofTargets(organizationId) {
      const to = clock.now() + minuteMs
      const since = { from: to - dayMs, recentFrom: to - recentMs }
      const sums = await traffic.sumByTarget(at, organizationId, since)
      return new Map(sums.map((sum) => [sum.targetId, trafficOf(sum)]))
    },
    async hoursOfTargets(organizationId) {
      const to = clock.now() + minuteMs
      const range = { from: Math.floor((to - dayMs) / minuteMs) * minuteMs, to, stepMs: hourMs }
      return hoursOf(await traffic.sumByTargetAndStep(at, organizationId, range))
    },
    async ofRules(organizationId) {
      const sums = await traffic.sumByRule(at, organizationId, clock.now() - 7 * dayMs)
      return new Map(sums.map(({ ruleId, calls: n }) => [ruleId, n]))
    },
  }
}

function trafficOf(sum: Awaited<ReturnType<typeof traffic.sumByTarget>>[number]): TargetTraffic {
  return {
    calls24h: sum.calls,
    refused24h: sum.refused,
    recent: { calls: sum.recentCalls, errors: sum.recentErrors },
  }
}

function hoursOf(
  sums: Awaited<ReturnType<typeof traffic.sumByTargetAndStep>>,
): ReadonlyMap<string, TargetHours> {
  const hours = new Map<string, TargetHours>()
  for (const sum of sums) {
    const none = (): number[] => Array.from({ length: dayMs / hourMs }, () => 0)
    const of = hours.get(sum.targetId) ?? { calls: none(), failed: none() }
    const step = Math.min(of.calls.length - 1, sum.step)
    of.calls[step] = (of.calls[step] ?? 0) + sum.calls
    of.failed[step] = (of.failed[step] ?? 0) + sum.failed
    hours.set(sum.targetId, of)
  }
  return hours
}

/** What the minutes tell comes from them; what they do not know is counted from the calls themselves. */
async function sumsOf(
  at: Store['slowCallReads'],
  organizationId: OrganizationId,
  wish: RollupInput,
): Promise<SummedRow[]> {
  const { from, to, stepMs, targetId, stoppedAt, outcome, parts: _parts, ...finer } = wish
  const range = { from, to, stepMs, targetId }
  const { rows } = Object.values(finer).every((value) => value === undefined)
    ? await traffic.sum(at, organizationId, { ...range, check: stoppedAt })
    : await callSums.sum(at, organizationId, wish)
  return rows.map((row) => told(row, outcome))
}

function timesOf(found: Awaited<ReturnType<typeof callSums.percentiles>>): Times {
  return { ...found, steps: new Map(found.steps.map((step) => [step.step, step])) }
}

/** Percentiles by step; -1 is all steps together. */
interface Times {
  readonly steps: ReadonlyMap<number, Percentiles>
  readonly sampled: boolean
}

const noTimes: Times = { steps: new Map(), sampled: false }

function rollupOf(
  wish: RollupInput,
  rows: readonly SummedRow[],
  times: { readonly all: Times; readonly upstream: Times; readonly own: Times },
): Rollup {
  const points = emptyPoints(wish).map((point, step) => ({
    ...point,
    latency: latencyOf(times.all.steps.get(step)),
    upstreamP95Ms: toMs(times.upstream.steps.get(step)?.p95),
    ownP95Ms: toMs(times.own.steps.get(step)?.p95),
  }))
  const refused: Record<string, number> = {}
  let answered = 0
  for (const row of rows) {
    const point = points[row.step]
    if (point) {
      point.passed += row.passed
      point.errors += row.errors
      point.refused += row.refused
    }
    if (row.check === '') answered += row.passed + row.errors
    else refused[row.check] = (refused[row.check] ?? 0) + row.refused + row.errors
  }
  const latency = latencyOf(times.all.steps.get(-1))
  return { points, refused, answered, latency, sampled: times.all.sampled }
}

interface SummedRow {
  readonly step: number
  readonly check: string
  readonly passed: number
  readonly errors: number
  readonly refused: number
}

/** A row's calls by how they ended; those of another outcome than the wanted one are none. */
function told(
  row: Awaited<ReturnType<typeof traffic.sum>>['rows'][number],
  wanted: CallOutcome | undefined,
): SummedRow {
  const { step, check } = row
  const errors = check === '' ? row.errors : check === 'forward' ? row.calls : 0
  const passed = check === '' ? row.calls - row.errors : 0
  const refused = row.calls - errors - passed
  const only = (outcome: CallOutcome, calls: number) =>
    wanted === undefined || wanted === outcome ? calls : 0
  return {
    step,
    check,
    passed: only('answered', passed),
    errors: only('upstream_error', errors),
    refused: only('refused', refused),
  }
}

function latencyOf(found: Percentiles | undefined): Latency | undefined {
  if (found === undefined) return undefined
  const { p50, p95, p99 } = found
  return { p50Ms: roundedMs(p50), p95Ms: roundedMs(p95), p99Ms: roundedMs(p99) }
}

function toMs(us: number | undefined): number | undefined {
  return us === undefined ? undefined : roundedMs(us)
}

function roundedMs(us: number): number {
  return Math.round(us / 100) / 10
}

function emptyPoints({ from, to, stepMs }: RollupInput) {
  const steps = Math.ceil((to - from) / stepMs)
  return Array.from({ length: steps }, (_, step) => ({
    at: from + step * stepMs,
    passed: 0,
    errors: 0,
    refused: 0,
  }))
}
