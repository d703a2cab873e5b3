/** The source of time; tests hand in their own. */
export interface Clock {
  /** Milliseconds since 1970, by the wall clock. */
  now(): number
  /** Monotonic milliseconds, for durations. */
  monotonic(): number
}

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
}
