/** Where time comes from; tests hand in their own. */
export interface Clock {
  /** Milliseconds since 1970, as the wall says. */
  now(): number
  /** Milliseconds that never jump, for durations. */
  monotonic(): number
}

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
}
