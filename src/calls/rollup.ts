import type { CallFilter, CallOutcome, Percentiles } from '../store/index.ts'

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
  /** Percentiles are estimates: there were too many calls to look at each, or not all of them left a record. */
  readonly sampled: boolean
  /** Only calls from this time on are told of: there were too many to look at all of them. */
  readonly searchedBackTo: number | undefined
}

/** What a rollup is about; times in milliseconds since 1970. */
export interface RollupInput extends CallFilter {
  readonly from: number
  readonly to: number
  readonly stepMs: number
  /** Whether the upstream's part and ours are told apart. */
  readonly parts?: boolean | undefined
}

/** Calls of a step that stopped at the same check; '' for those that were forwarded whole. */
export interface SummedRow {
  readonly step: number
  readonly check: string
  readonly calls: number
  /** Those with a status of 500 or above. */
  readonly errors: number
}

/** Percentiles by step, in microseconds; -1 is all steps together. */
export type Times = ReadonlyMap<number, Shares>
type Shares = Pick<Percentiles, 'p50' | 'p95' | 'p99'>

/** What is known of the calls of a rollup. */
export interface RollupParts {
  readonly rows: readonly SummedRow[]
  readonly all: Times
  readonly upstream: Times
  readonly own: Times
  readonly sampled: boolean
  readonly searchedBackTo?: number | undefined
}

/** Puts the calls of each step together. */
export function rollupOf(input: RollupInput, parts: RollupParts): Rollup {
  const points = emptyPoints(input).map((point, step) => ({
    ...point,
    latency: latencyOf(parts.all.get(step)),
    upstreamP95Ms: toMs(parts.upstream.get(step)?.p95),
    ownP95Ms: toMs(parts.own.get(step)?.p95),
  }))
  const refused: Record<string, number> = {}
  let answered = 0
  for (const row of parts.rows.map((summed) => told(summed, input.outcome))) {
    const point = points[row.step]
    if (point) {
      point.passed += row.passed
      point.errors += row.errors
      point.refused += row.refused
    }
    if (row.check === '') answered += row.passed + row.errors
    else refused[row.check] = (refused[row.check] ?? 0) + row.refused + row.errors
  }
  const latency = latencyOf(parts.all.get(-1))
  const { sampled, searchedBackTo } = parts
  return { points, refused, answered, latency, sampled, searchedBackTo }
}

/** How many calls these are, of the wanted outcome. */
export function callsIn(rows: readonly SummedRow[], wanted: CallOutcome | undefined): number {
  return rows.reduce((sum, row) => {
    const { passed, errors, refused } = told(row, wanted)
    return sum + passed + errors + refused
  }, 0)
}

/** A row's calls by how they ended; those of another outcome than the wanted one are none. */
function told({ step, check, calls, errors: failed }: SummedRow, wanted: CallOutcome | undefined) {
  const errors = check === '' ? failed : check === 'forward' ? calls : 0
  const passed = check === '' ? calls - failed : 0
  const refused = calls - errors - passed
  const only = (outcome: CallOutcome, count: number) =>
    wanted === undefined || wanted === outcome ? count : 0
  return {
    step,
    check,
    passed: only('answered', passed),
    errors: only('upstream_error', errors),
    refused: only('refused', refused),
  }
}

function latencyOf(found: Shares | undefined): Latency | undefined {
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
