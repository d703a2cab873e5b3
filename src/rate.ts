/** At most `calls` in any `perSeconds`, evenly refilled. */
export interface Rate {
  readonly calls: number
  readonly perSeconds: number
  /** Calls that may come at once; `calls` when left out. */
  readonly burst?: number | undefined
}

/** What a limiter says of one call. */
export interface RateVerdict {
  readonly admitted: boolean
  /** Calls that would be admitted right now, after this one. */
  readonly remaining: number
  /** Seconds until the limit is whole again. */
  readonly resetSeconds: number
  /** Seconds until the next call is admitted; 0 if it is now. */
  readonly retrySeconds: number
}

/**
 * The generic cell rate algorithm (ITU-T I.371): one number per subject, the time at which its bucket is whole again.
 * Times are monotonic milliseconds, so that a jump of the wall clock neither freezes nor resets a limit.
 */
export class RateLimiter {
  readonly #wholeAt = new Map<string, number>()
  readonly #subjectsAtMost: number

  constructor(maxSubjects = 200_000) {
    this.#subjectsAtMost = maxSubjects
  }

  /** Subjects that are remembered. */
  get size(): number {
    return this.#wholeAt.size
  }

  /**
   * Asks for a call; with `spend` false nothing is counted. With a `share` of the rate below 1 both the rate and what may
   * come at once are that much smaller: the shares of all nodes together keep the whole rate.
   */
  // oxlint-disable-next-line max-params
  ask(subject: string, rate: Rate, nowMs: number, spend: boolean, share = 1): RateVerdict {
    const wholeMs = (rate.perSeconds * 1000) / rate.calls
    const toleranceMs = wholeMs * (rate.burst ?? rate.calls)
    const intervalMs = wholeMs / share
    const wholeAt = Math.max(this.#wholeAt.get(subject) ?? 0, nowMs)
    const next = wholeAt + intervalMs
    // Half a microsecond of grace: sums of intervals are not exact.
    const excessMs = next - nowMs - toleranceMs - 0.0005
    const admitted = excessMs <= 0
    if (admitted && spend) this.#remember(subject, next, nowMs)
    const usedMs = (admitted ? next : wholeAt) - nowMs
    return {
      admitted,
      remaining: Math.max(0, Math.floor((toleranceMs - usedMs) / intervalMs + 1e-6)),
      resetSeconds: Math.ceil(usedMs / 1000 - 1e-6),
      retrySeconds: admitted ? 0 : Math.max(1, Math.ceil(excessMs / 1000 - 1e-6)),
    }
  }

  /** When a subject's bucket is whole again; a time in the past if it is. */
  wholeAt(subject: string): number {
    return this.#wholeAt.get(subject) ?? 0
  }

  /** Sets that time, for a share that was given by somebody who has spent of it. */
  setWholeAt(subject: string, wholeAt: number, nowMs: number): void {
    this.#remember(subject, wholeAt, nowMs)
  }

  // A whole bucket is as good as none: what is whole is forgotten when there is much to remember.
  #remember(subject: string, wholeAt: number, nowMs: number): void {
    if (this.#wholeAt.size >= this.#subjectsAtMost && !this.#wholeAt.has(subject)) {
      for (const [other, at] of this.#wholeAt) if (at <= nowMs) this.#wholeAt.delete(other)
      // Still full: the oldest go, a thousand at a time, rather than growing for ever.
      let spare = this.#wholeAt.size >= this.#subjectsAtMost ? 1000 : 0
      for (const other of this.#wholeAt.keys()) {
        if (spare-- <= 0) break
        this.#wholeAt.delete(other)
      }
    }
    this.#wholeAt.set(subject, wholeAt)
  }
}
