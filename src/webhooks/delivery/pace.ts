import { dayMs } from '../../units.ts'

const minPauseMs = 100
const maxPauseMs = dayMs
const maxCredit = 256
const creditPerSuccess = 2

/**
 * Paces the deliveries to a receiver that answers 429 with Retry-After. Successes earn credit and refusals spend it.
 * Without credit, the whole endpoint pauses instead of only the refused delivery. So a receiver with a rate limit is
 * left alone, while one that refuses only some deliveries gets the others.
 */
export class Pace {
  readonly #creditPerSuccess: number
  #pausedUntil = 0
  #credit = 0
  /** Refused deliveries, up to `maxCredit` of them, and the monotonic time until which each waits. */
  readonly #waiting = new Map<string, number>()

  /** Nothing may overtake a refused delivery of an ordered endpoint, so every refusal pauses that endpoint. */
  constructor(ordered: boolean) {
    this.#creditPerSuccess = ordered ? 0 : creditPerSuccess
  }

  succeeded(): void {
    this.#credit = Math.min(maxCredit, this.#credit + this.#creditPerSuccess)
  }

  /** Returns for how many milliseconds the refused delivery waits alone; 0 if the whole endpoint pauses instead. */
  refused(deliveryId: string, retryAfterMs: number, monotonic: number): number {
    const waitMs = Math.min(Math.max(retryAfterMs, minPauseMs), maxPauseMs)
    if (this.#credit >= 1 && this.waiting(monotonic).size < maxCredit) {
      this.#credit -= 1
      this.#waiting.set(deliveryId, monotonic + waitMs)
      return waitMs
    }
    this.#credit = 0
    this.#pausedUntil = Math.max(this.#pausedUntil, monotonic + waitMs)
    return 0
  }

  pauseMs(monotonic: number): number {
    return Math.max(0, this.#pausedUntil - monotonic)
  }

  /** Returns the ids of the refused deliveries that wait alone, and the monotonic time until which each waits. */
  waiting(monotonic: number): ReadonlyMap<string, number> {
    for (const [id, until] of this.#waiting) if (until <= monotonic) this.#waiting.delete(id)
    return this.#waiting
  }
}
