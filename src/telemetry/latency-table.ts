import type { CollectedSample, Labels } from './exposition.ts'

/** Upper bounds in microseconds; the last bucket holds anything slower. */
const boundsUs = [
  100, 250, 500, 1000, 2500, 5000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
  2_500_000, 5_000_000, 10_000_000, 30_000_000, 60_000_000,
] as const
const buckets = boundsUs.length + 1
/** Cells per row: the buckets, followed by the sum. */
const width = buckets + 1
const firstRows = 16

/** Latency histograms, one per row, in a single typed array, so that an observation allocates nothing. */
export class LatencyTable {
  #cells: Float64Array
  #rows = 0

  constructor(rows = 0) {
    this.#cells = new Float64Array(Math.max(rows, firstRows) * width)
    this.#rows = rows
  }

  /** Adds a row and returns its index. */
  addRow(): number {
    if ((this.#rows + 1) * width > this.#cells.length) {
      const larger = new Float64Array(this.#cells.length * 2)
      larger.set(this.#cells)
      this.#cells = larger
    }
    this.#rows += 1
    return this.#rows - 1
  }

  observe(row: number, us: number): void {
    let bucket = 0
    while (bucket < boundsUs.length && us > (boundsUs[bucket] ?? 0)) bucket += 1
    const cells = this.#cells
    const start = row * width
    cells[start + bucket] = (cells[start + bucket] ?? 0) + 1
    cells[start + buckets] = (cells[start + buckets] ?? 0) + us
  }

  /** Returns a row as a histogram's series; empty if nothing has been observed. */
  samples(row: number, labels: Labels | undefined): CollectedSample[] {
    const cells = this.#cells.subarray(row * width, (row + 1) * width)
    let total = 0
    const series: CollectedSample[] = []
    for (let bucket = 0; bucket < buckets; bucket += 1) {
      total += cells[bucket] ?? 0
      const us = boundsUs[bucket]
      series.push([labels, total, `_bucket le="${us === undefined ? '+Inf' : us / 1e6}"`])
    }
    if (total === 0) return []
    return [...series, [labels, (cells[buckets] ?? 0) / 1e6, '_sum'], [labels, total, '_count']]
  }
}
