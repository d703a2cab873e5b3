import type { Clock } from '../../clock.ts'
import { lazily } from '../../timers.ts'

/** The feed is polled less often once nobody has relied on it for this long, in milliseconds. */
const idleAfterMs = 5000

/** How often the feed is polled, in milliseconds. */
export interface FeedPace {
  /** While callers rely on it. */
  readonly pollMs: number
  /** While nobody calls `isCurrent`, but changes must be heard within a second. */
  readonly idlePollMs: number
  /**
   * While nobody needs the feed; undefined while notifications cannot be heard. The feed need not stay current: the
   * next caller proves it.
   */
  readonly restPollMs?: number | undefined
}

/** Timers, handed in so that tests can replace them. */
export interface Timers {
  after(ms: number, call: () => void): () => void
  every(ms: number, call: () => void): () => void
  soon(call: () => void): void
}

/** Polls and heartbeats may come early, together with other background work, but are never postponed for it. */
export const systemTimers: Timers = {
  after: (ms, call) => lazily.after(ms, call),
  every: (ms, call) => lazily.every(ms, call),
  soon: (call) => void setImmediate(call),
}

interface FeedPollsDeps {
  readonly clock: Pick<Clock, 'monotonic'>
  readonly timers: Timers
  readonly pace: () => FeedPace
  /** When the last successful read began, in monotonic milliseconds. */
  readonly readAt: () => number
  readonly poll: () => void
}

/** Decides when the feed is polled. */
export class FeedPolls {
  readonly #deps: FeedPollsDeps
  readonly #needs: (() => boolean)[] = []
  #reliedAt = Number.NEGATIVE_INFINITY
  #scheduledAt = Number.NEGATIVE_INFINITY
  #isResting = false
  #cancel: () => void = () => undefined

  constructor(deps: FeedPollsDeps) {
    this.#deps = deps
  }

  start(): void {
    this.#scheduleNext()
  }

  stop(): void {
    this.#cancel()
  }

  /** Someone relies on the feed now: a rest ends with a poll. */
  rely(now: number): void {
    this.#reliedAt = now
    if (!this.#isResting) return
    this.#endRest()
    this.#deps.poll()
  }

  /** A poll failed: the next one must not wait until a rest is over. */
  failed(): void {
    if (this.#isResting) this.#endRest()
  }

  /** The feed does not rest while `isNeeded` returns true. */
  keepAwakeWhile(isNeeded: () => boolean): void {
    this.#needs.push(isNeeded)
  }

  #endRest(): void {
    this.#cancel()
    this.#scheduleNext()
  }

  #scheduleNext(): void {
    const pauseMs = this.#pauseMs()
    this.#scheduledAt = this.#deps.clock.monotonic()
    this.#cancel = this.#deps.timers.after(pauseMs, () => {
      this.#scheduleNext()
      this.#deps.poll()
    })
  }

  #pauseMs(): number {
    const { pollMs, idlePollMs, restPollMs } = this.#deps.pace()
    this.#isResting = false
    const hasRead = this.#deps.readAt() >= this.#scheduledAt
    const isIdle = this.#deps.clock.monotonic() - this.#reliedAt > idleAfterMs
    if (!hasRead || !isIdle) return pollMs
    if (restPollMs === undefined || this.#needs.some((isNeeded) => isNeeded())) return idlePollMs
    this.#isResting = true
    return restPollMs
  }
}
