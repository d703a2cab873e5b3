/**
 * The number of latency buckets. The first ends at 0.5 ms, and each further one at √2 times the end of the previous
 * one; the last has no end.
 */
export const latencyBuckets = 32
const firstUs = 500

/** The columns that hold the count of each bucket. */
export const latencyColumns = Array.from({ length: latencyBuckets }, (_, at) => `l${at}` as const)

/** The bucket of a duration in microseconds. */
export function latencyBucketOf(us: number): number {
  if (us <= firstUs) return 0
  return Math.min(latencyBuckets - 1, Math.ceil(2 * Math.log2(us / firstUs)))
}

/** The duration in microseconds that stands for a bucket: from 0.5 ms to 16 s it is off by at most a fifth. */
export function latencyOfBucket(bucket: number): number {
  return firstUs * 2 ** ((bucket - 0.5) / 2)
}

/** A percentile in microseconds by nearest rank, from the count of each bucket; undefined if nothing was counted. */
export function percentileOf(counts: readonly number[], percent: number): number | undefined {
  const all = counts.reduce((sum, count) => sum + count, 0)
  if (all === 0) return undefined
  const rank = Math.ceil((all * percent) / 100)
  let passed = 0
  const bucket = counts.findIndex((count) => (passed += count) >= rank)
  return latencyOfBucket(bucket)
}
