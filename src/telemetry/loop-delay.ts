import { createHistogram, performance } from 'node:perf_hooks'
import { lazily } from '../timers.ts'

// Each sample wakes the process, so an idle one is sampled rarely. A busy one is sampled often enough to catch stalls.
const busyEveryMs = 100
const idleEveryMs = 1000
const busyShare = 0.02

/** Measures how late timers fire, which shows for how long the event loop was blocked. */
export class LoopDelay {
  readonly #lateNs = createHistogram()
  #cancel: () => void = () => undefined
  #used = performance.eventLoopUtilization()

  constructor() {
    this.#sampleSoon()
  }

  /** The delay in seconds that this share of the samples, in percent, did not exceed. */
  percentile(percent: number): number {
    return this.#lateNs.count === 0 ? 0 : this.#lateNs.percentile(percent) / 1e9
  }

  /** The longest delay in seconds. */
  max(): number {
    return this.#lateNs.count === 0 ? 0 : this.#lateNs.max / 1e9
  }

  /** Forgets all samples. */
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
    // A histogram takes whole numbers from 1 on.
    this.#lateNs.record(Math.max(1, Math.round(lateMs * 1e6)))
    const before = this.#used
    this.#used = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(this.#used, before)
    if (utilization > busyShare) this.#sampleSoon()
    else this.#cancel = lazily.after(idleEveryMs, (late) => this.#record(late))
  }
}
