import { createHistogram, performance } from 'node:perf_hooks'
import { idleTurnMs, lazily } from '../timers.ts'

// Each sample wakes the process, so an idle process is sampled rarely, a busy one often enough for its p99.9.
const busyEveryMs = 20
const busyShare = 0.02

/** Measures how late timers fire, which shows for how long the event loop was blocked. */
export class LoopDelay {
  readonly #lateNs = createHistogram()
  #cancel: () => void = () => undefined
  #used = performance.eventLoopUtilization()

  constructor() {
    this.#sampleSoon()
  }

  /** Returns the delay in seconds that `percent` percent of the samples did not exceed; 0 without samples. */
  percentile(percent: number): number {
    return this.#lateNs.count === 0 ? 0 : this.#lateNs.percentile(percent) / 1e9
  }

  /** Returns the longest delay in seconds; 0 without samples. */
  max(): number {
    return this.#lateNs.count === 0 ? 0 : this.#lateNs.max / 1e9
  }

  reset(): void {
    this.#lateNs.reset()
  }

  stop(): void {
    this.#cancel()
  }

  #sampleSoon(): void {
    const dueAt = performance.now() + busyEveryMs
    const timer = setTimeout(() => this.#record(performance.now() - dueAt), busyEveryMs).unref()
    this.#cancel = () => clearTimeout(timer)
  }

  #record(lateMs: number): void {
    // The histogram accepts only whole numbers of at least 1.
    this.#lateNs.record(Math.max(1, Math.round(lateMs * 1e6)))
    const before = this.#used
    this.#used = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(this.#used, before)
    if (utilization > busyShare) this.#sampleSoon()
    else this.#cancel = lazily.after(idleTurnMs, (late) => this.#record(late))
  }
}
