import { performance } from 'node:perf_hooks'

/** The source of time; tests hand in their own. */
export interface Clock {
  /** Milliseconds since 1970, by the wall clock. */
  now(): number
  /** Monotonic milliseconds, for durations. */
  monotonic(): number
}

/** The same moment by several clocks, in milliseconds. */
export interface Moment {
  /** Since 1970, by the store's clock, which may follow the database's. */
  readonly nowMs: number
  /** Since 1970, by this machine's own wall clock. */
  readonly machineMs: number
  /** By this machine's monotonic clock. */
  readonly monotonicMs: number
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
}

/**
 * Whether a span has passed since a time of the wall clock, or there is no such time yet. A clock that was set back by
 * the span or more counts too; otherwise periodic work would stop until the clock had caught up.
 */
export function hasPassed(spanMs: number, sinceMs: number | undefined, nowMs: number): boolean {
  return sinceMs === undefined || Math.abs(nowMs - sinceMs) >= spanMs
}

/** Time that never goes back: setting the clock back must not revive a credential that has expired. */
export class ForwardClock {
  readonly #clock: Pick<Clock, 'now'>
  #latestMs = 0

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  now(): number {
    this.#latestMs = Math.max(this.#latestMs, this.#clock.now())
    return this.#latestMs
  }
}
