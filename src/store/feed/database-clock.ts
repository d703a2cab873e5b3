import type { Clock, Moment } from '../../clock.ts'

const maxSampleMs = 500

/** A clock that follows the database's, for all times that nodes compare with each other. */
export class DatabaseClock implements Clock {
  readonly #machine: Clock
  /** Milliseconds by which the database's clock is ahead of this machine's monotonic one. */
  #aheadMs: number | undefined

  constructor(machine: Clock) {
    this.#machine = machine
  }

  now(): number {
    if (this.#aheadMs === undefined) return this.#machine.now()
    return Math.round(this.#machine.monotonic() + this.#aheadMs)
  }

  moment(): Moment {
    const machineMs = this.#machine.now()
    const monotonicMs = this.#machine.monotonic()
    const nowMs = this.#aheadMs === undefined ? machineMs : Math.round(monotonicMs + this.#aheadMs)
    return { nowMs, machineMs, monotonicMs }
  }

  monotonic(): number {
    return this.#machine.monotonic()
  }

  /** Milliseconds by which the machine's clock is ahead of the database's; 0 before the first sample. */
  offsetMs(): number {
    return this.#aheadMs === undefined ? 0 : Math.round(this.#machine.now() - this.now())
  }

  /**
   * Asks the database for its time; the shorter the round trip, the more precise the sample. Without an answer the clock
   * stays as it is.
   */
  async sample(ask: () => Promise<number | undefined>): Promise<void> {
    const before = this.#machine.monotonic()
    const at = await ask()
    if (at === undefined) return
    const wayMs = this.#machine.monotonic() - before
    if (wayMs > maxSampleMs && this.#aheadMs !== undefined) return
    const aheadMs = at - before - wayMs / 2
    // A difference that the round trip alone can explain must not adjust the clock.
    const isWithinWay =
      this.#aheadMs !== undefined && Math.abs(aheadMs - this.#aheadMs) <= wayMs / 2 + 1
    if (!isWithinWay) this.#aheadMs = aheadMs
  }
}
