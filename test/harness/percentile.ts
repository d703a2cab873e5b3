/**
 * Returns the value that this share (0 to 1) of the values are below, by nearest rank; NaN if there are none, so that
 * nothing measured never passes for a small figure.
 */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
