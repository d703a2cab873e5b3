import type { CallFilter, CallOutcome, Percentiles } from '../store/index.ts'

/** Percentiles of the duration of calls, in milliseconds. */
export interface Latency {
  readonly p50Ms: number
  readonly p95Ms: number
  readonly p99Ms: number
}

export interface RollupPoint {
  readonly at: number
  /** Calls without a refusal and with a status below 500 (0 if the caller left before the response). */
  readonly passed: number
  /** Calls that the upstream answered with 500 or above, and calls that failed while they were being forwarded. */
  readonly errors: number
  /** Calls that one of our checks refused. */
  readonly refused: number
  /** Undefined if no call was timed. */
  readonly latency: Latency | undefined
  /**
   * The 95th percentiles of the upstream's part of the duration and of the rest; undefined unless the input asked for
   * `parts` and calls were timed.
   */
  readonly upstreamP95Ms: number | undefined
  readonly ownP95Ms: number | undefined
}

/** Counts and latencies of calls in consecutive steps of time. */
export interface Rollup {
  readonly points: readonly RollupPoint[]
  /** Calls by the check that stopped them; `forward` means that they failed while they were being forwarded. */
  readonly refused: Readonly<Record<string, number>>
  readonly answered: number
  /** The latency of all calls together; undefined if no call was timed. */
  readonly latency: Latency | undefined
  /** Whether percentiles are estimates, because there were too many calls to read or not all of them left a record. */
  readonly sampled: boolean
  /** Calls before this time were left out, because there were too many to read; undefined if none were left out. */
  readonly searchedBackTo: number | undefined
}

/** Selects the calls to sum, and the steps; times are in milliseconds since 1970. */
export interface RollupInput extends CallFilter {
  readonly from: number
  readonly to: number
  readonly stepMs: number
  /** Whether the upstream's share of the duration is reported separately from ours. */
  readonly parts?: boolean | undefined
}

/** The calls of one step that stopped at the same check; `check` is '' for calls without a refusal. */
export interface SummedRow {
  readonly step: number
  readonly check: string
  readonly calls: number
  /** Calls with a status of 500 or above. */
  readonly errors: number
}

/** Percentiles in microseconds by step; -1 stands for all steps together. */
export type Times = ReadonlyMap<number, Shares>
type Shares = Pick<Percentiles, 'p50' | 'p95' | 'p99'>

/** The data read from the store for a rollup. */
export interface RollupParts {
  readonly rows: readonly SummedRow[]
  readonly all: Times
  readonly upstream: Times
  readonly own: Times
  readonly sampled: boolean
  readonly searchedBackTo?: number | undefined
}

export function rollupOf(input: RollupInput, parts: RollupParts): Rollup {
  const points = emptyPoints(input).map((point, step) => ({
    ...point,
    latency: latencyOf(parts.all.get(step)),
    upstreamP95Ms: toMs(parts.upstream.get(step)?.p95),
    ownP95Ms: toMs(parts.own.get(step)?.p95),
  }))
  const refused: Record<string, number> = {}
  let answered = 0
  for (const row of parts.rows.map((summed) => outcomesOf(summed, input.outcome))) {
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

/** Counts the calls in these rows that ended with the wanted outcome; all of them if `wanted` is undefined. */
export function countOutcome(rows: readonly SummedRow[], wanted: CallOutcome | undefined): number {
  return rows.reduce((sum, row) => {
    const { passed, errors, refused } = outcomesOf(row, wanted)
    return sum + passed + errors + refused
  }, 0)
}

/** Splits the calls of a row by outcome; if one outcome is wanted, the others count 0. */
function outcomesOf(
  { step, check, calls, errors: failed }: SummedRow,
  wanted: CallOutcome | undefined,
) {
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
