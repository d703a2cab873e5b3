import type { CallFilter } from './call-filter.ts'

/** Which calls to measure, the length of a time step, and which parts of each call's duration. */
export interface TimedRange extends CallFilter {
  readonly from: number
  readonly to: number
  readonly stepMs: number
  readonly parts: readonly TimedPart[]
}

/** The part of a call's duration: all of it, the upstream's share, or ours. */
export type TimedPart = 'all' | 'upstream' | 'own'

/** How many steps a sample has, and about how many records of each. */
export interface SampleSize {
  readonly steps: number
  readonly limit: number
}

/** The latencies, in microseconds, that 50, 95 and 99 percent of the calls did not exceed. */
export interface Percentiles {
  readonly part: TimedPart
  /** The step; -1 for all steps together. */
  readonly step: number
  /** The number of records behind these percentiles. */
  readonly calls: number
  readonly p50: number
  readonly p95: number
  readonly p99: number
}
