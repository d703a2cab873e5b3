/** Durations are counted in this many buckets; each reaches √2 times as far as the one before, the first to 0.5 ms. */
export const latencyBuckets = 32
const firstUs = 500

/** The columns that count them. */
export const latencyColumns = Array.from({ length: latencyBuckets }, (_, at) => `l${at}` as const)

/** The bucket of a duration in microseconds; the last one has no upper bound. */
export function latencyBucketOf(us: number): number {
  if (us <= firstUs) return 0
  return Math.min(latencyBuckets - 1, Math.ceil(2 * Math.log2(us / firstUs)))
}

/** A duration that stands for all of a bucket: none of them is further from it than a fifth (0.5 ms to 16 s). */
export function latencyOfBucket(bucket: number): number {
  return firstUs * 2 ** ((bucket - 0.5) / 2)
}

/** The duration that a share of the counted calls did not exceed, by nearest rank; undefined where none was counted. */
export function percentileOf(counts: readonly number[], share: number): number | undefined {
  const all = counts.reduce((sum, count) => sum + count, 0)
  if (all === 0) return undefined
  const rank = Math.ceil((all * share) / 100)
  let passed = 0
  const bucket = counts.findIndex((count) => (passed += count) >= rank)
  return latencyOfBucket(bucket)
}
