/** A limit of `calls` per `perSeconds` seconds on average, which is refilled evenly. */
export interface Rate {
  readonly calls: number
  readonly perSeconds: number
  /** The number of calls that may come at the same moment; defaults to `calls`. */
  readonly burst?: number | undefined
}

/** The longest window of a rate that people may set: a day. */
export const maxRateSeconds = 86_400

/** Whether people may set a rate: all numbers are whole and at least 1; `maxCalls` limits both calls and burst. */
export function isRate(rate: Partial<Rate>, maxCalls: number): boolean {
  const { calls, perSeconds, burst } = rate
  return (
    isCount(calls, maxCalls) &&
    isCount(perSeconds, maxRateSeconds) &&
    (burst === undefined || isCount(burst, maxCalls))
  )
}

export function isCount(value: unknown, max: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= max
}

/** A limiter's decision about one call. */
export interface RateVerdict {
  readonly admitted: boolean
  /** Further calls that would be admitted right now, after this one. */
  readonly remaining: number
  /** Seconds until the limit is completely refilled. */
  readonly resetSeconds: number
  /** Seconds until this call would be admitted; 0 if it was admitted. */
  readonly retrySeconds: number
}

/**
 * The generic cell rate algorithm (ITU-T I.371): one number per subject, the time at which its bucket is full again.
 * Times are monotonic milliseconds, so that a jump of the wall clock neither freezes nor resets a limit.
 */
export class RateLimiter {
  readonly #wholeAt = new Map<string, number>()
  readonly #subjectsAtMost: number

  constructor(maxSubjects = 200_000) {
    this.#subjectsAtMost = maxSubjects
  }

  /** The number of remembered subjects. */
  get size(): number {
    return this.#wholeAt.size
  }

  /**
   * Checks a call; with `spend` false nothing is counted. A `share` below 1 reduces both the rate and the burst, so
   * that the shares of all nodes add up to the whole rate.
   */
  // oxlint-disable-next-line max-params
  ask(subject: string, rate: Rate, nowMs: number, spend: boolean, share = 1): RateVerdict {
    const wholeMs = (rate.perSeconds * 1000) / rate.calls
    const toleranceMs = wholeMs * (rate.burst ?? rate.calls)
    const intervalMs = wholeMs / share
    const wholeAt = Math.max(this.#wholeAt.get(subject) ?? 0, nowMs)
    const next = wholeAt + intervalMs
    // Half a microsecond of tolerance, because sums of intervals are inexact.
    const excessMs = next - nowMs - toleranceMs - 0.0005
    const admitted = excessMs <= 0
    if (admitted && spend) this.#remember(subject, next, nowMs)
    const usedMs = (admitted ? next : wholeAt) - nowMs
    return {
      admitted,
      remaining: Math.max(0, Math.floor((toleranceMs - usedMs) / intervalMs + 1e-6)),
      // Never -0, which is no integer to V8: it would discard the compiled code of a call.
      resetSeconds: Math.max(0, Math.ceil(usedMs / 1000 - 1e-6)),
      retrySeconds: admitted ? 0 : Math.max(1, Math.ceil(excessMs / 1000 - 1e-6)),
    }
  }

  /** Returns when a subject's bucket is full again; a time in the past if it already is. */
  wholeAt(subject: string): number {
    return this.#wholeAt.get(subject) ?? 0
  }

  /** Sets when a subject's bucket is full again, after the shares of the nodes were distributed anew. */
  setWholeAt(subject: string, wholeAt: number, nowMs: number): void {
    this.#remember(subject, wholeAt, nowMs)
  }

  // Stores when a bucket is full again. When there are too many subjects, those with full buckets are dropped: a full
  // bucket is the same as none.
  #remember(subject: string, wholeAt: number, nowMs: number): void {
    if (this.#wholeAt.size >= this.#subjectsAtMost && !this.#wholeAt.has(subject)) {
      for (const [other, at] of this.#wholeAt) if (at <= nowMs) this.#wholeAt.delete(other)
      // If there are still too many, drop the oldest, a thousand at a time, rather than growing forever.
      let spare = this.#wholeAt.size >= this.#subjectsAtMost ? 1000 : 0
      for (const other of this.#wholeAt.keys()) {
        if (spare-- <= 0) break
        this.#wholeAt.delete(other)
      }
    }
    this.#wholeAt.set(subject, wholeAt)
  }
}
