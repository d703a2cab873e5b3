import type { Clock } from '../../clock.ts'
import type { AttemptOutcome, DueDelivery, EndpointRecord, Release } from '../../store/index.ts'
import { healthAfter, type EndpointHealth } from './endpoint-health.ts'
import { verdictOf } from './outcome.ts'
import { Pace } from './pace.ts'
import type { Applicant } from './places.ts'
import type { PreparedEndpoint, SendResult } from './send.ts'
import type { DeliveryWork, HealthOutcome } from './work.ts'
import { minuteMs } from '../../units.ts'

const concurrencyFirst = 4
const maxConcurrency = 8
const maxQueue = 64
const queueLow = 24
// Many endpoints may fail for a long time, so the lane of a failing endpoint keeps few deliveries in memory.
const queueOfFailing = 4
// No request starts this close to the end of the lease, because it might arrive when another node already has the
// lease.
const leaseMarginMs = 500
/** The lane of an active endpoint releases it after being idle for this long. Longer waits are left to polling. */
export const idleBeforeReleaseMs = 5000
const pacePollMs = 1000
const maxWaitInLaneMs = minuteMs
// After a crash, a delivery is sent again if its outcome was not written. This limit keeps such deliveries few while
// the database stalls.
const maxUnwritten = 32
const retryStoreMs = 250

export interface LaneSender {
  readonly isStopped: boolean
  /** The ids of an endpoint's deliveries that are being sent or whose outcomes are not written yet. */
  underWay(endpointId: string): ReadonlySet<string>
  unwrittenOf(endpointId: string): number
  /** Whether another request may start; if not, the lane is called back when one may. */
  hasPlace(lane: Lane): boolean
  start(lane: Lane, delivery: DueDelivery): void
}

export interface LaneDeps {
  readonly work: DeliveryWork
  readonly clock: Clock
  readonly after: (ms: number, call: () => void) => () => void
  readonly onError: (error: unknown) => void
  readonly sender: LaneSender
}

/** Sends to one endpoint while this node holds the endpoint's lease. */
export class Lane {
  readonly prepared: PreparedEndpoint
  readonly #deps: LaneDeps
  readonly #pace: Pace
  /** The endpoint as it was when its lease was last taken. */
  #endpoint: EndpointRecord
  /** The endpoint's current health; it is written with the endpoint's outcomes. */
  #health: EndpointHealth
  /** The end of the lease, in monotonic milliseconds. */
  #leaseEndsAt: number
  #queue: DueDelivery[] = []
  /** How many requests may run at once, unless the endpoint is ordered or held. */
  #concurrency = concurrencyFirst
  #isLoading = false
  /** Whether a query is not worth repeating yet: the last one found nothing more to send now, or failed. */
  #isExhausted = false
  /** Whether to load again after loading, because something may have been published in the meantime. */
  #isHinted = false
  #isClosed = false
  /** The monotonic time in milliseconds at which the lane became idle; undefined while it is not. */
  #idleSince: number | undefined
  /** How many tokens of the endpoint's rate limit were left at the monotonic time `#tokensAt`. */
  #tokens: number
  #tokensAt: number
  #cancelWake: (() => void) | undefined
  /** When something can be sent next, in milliseconds since 1970: a delivery is due or a pause has ended. */
  #nextDueAt: number | undefined
  #lastAttemptAt: number | undefined

  constructor(
    taken: { endpoint: EndpointRecord; prepared: PreparedEndpoint; leaseEndsAt: number },
    deps: LaneDeps,
  ) {
    this.prepared = taken.prepared
    this.#deps = deps
    this.#endpoint = taken.endpoint
    this.#pace = new Pace(taken.endpoint.ordered)
    this.#health = taken.endpoint.health as EndpointHealth
    this.#leaseEndsAt = taken.leaseEndsAt
    this.#tokens = taken.endpoint.ratePerSecond ?? 0
    this.#tokensAt = deps.clock.monotonic()
  }

  get endpoint(): EndpointRecord {
    return this.#endpoint
  }

  get state(): EndpointHealth['state'] {
    return this.#health.state
  }

  get hasQueue(): boolean {
    return this.#queue.length > 0
  }

  /**
   * The health to write and the lease to write it under, as they are now: both may change while the write is in
   * progress.
   */
  get healthOutcome(): HealthOutcome {
    return { endpoint: this.#endpoint, health: this.#health, lastAttemptAt: this.#lastAttemptAt }
  }

  get applicant(): Applicant {
    const isProven = this.#health.lastSuccessAt !== undefined
    return {
      endpointId: this.#endpoint.id,
      organizationId: this.#endpoint.organizationId,
      standing: this.#health.failures > 0 ? 'sluggish' : isProven ? 'prompt' : 'unproven',
    }
  }

  // --- Lease ---

  /**
   * Continues under a new lease that directly follows the lane's own expired lease, unless the endpoint has changed;
   * returns whether it does. The lane is kept because it knows more than the row about the endpoint's health and the
   * requests in progress.
   */
  continueUnder(endpoint: EndpointRecord, leaseEndsAt: number): boolean {
    // Every lease increments the token: if it grew by exactly one, nobody else held a lease in between.
    const isNext = endpoint.leaseToken === this.#endpoint.leaseToken + 1
    if (!isNext || endpoint.version !== this.#endpoint.version) return false
    this.#endpoint = endpoint
    this.#leaseEndsAt = leaseEndsAt
    this.wake()
    return true
  }

  renewed(leaseEndsAt: number): void {
    this.#leaseEndsAt = leaseEndsAt
  }

  /** Includes the rest of the endpoint's pause, because the pause must outlast the lane. */
  get release(): Release {
    const { id, leaseToken } = this.#endpoint
    return { id, leaseToken, restMs: this.#pace.pauseMs(this.#deps.clock.monotonic()) }
  }

  /**
   * Whether the lane can release its endpoint: an active one after `idleBeforeReleaseMs` without work, any other as soon
   * as there is no work. During a long pause, queued deliveries do not count as work.
   */
  isIdle(): boolean {
    const monotonic = this.#deps.clock.monotonic()
    const pauseMs = this.#pace.pauseMs(monotonic)
    const waits = [...this.#pace.waiting(monotonic).values()].map((until) => until - monotonic)
    const isAwaited = waits.some((waitMs) => waitMs > pauseMs && waitMs <= maxWaitInLaneMs)
    const isBusy = this.#isLoading || isAwaited || this.#underWay.size > 0
    // During a long pause the lane may close even with queued deliveries: they are loaded again afterwards.
    if (!isBusy && pauseMs > idleBeforeReleaseMs) return true
    if (isBusy || pauseMs > 0 || this.#queue.length > 0) {
      this.#idleSince = undefined
      return false
    }
    this.#idleSince ??= monotonic
    return this.state !== 'active' || monotonic - this.#idleSince >= idleBeforeReleaseMs
  }

  close(): void {
    this.#isClosed = true
    this.#queue = []
    this.#cancelWake?.()
  }

  // --- Loading ---

  /** Called when there may be something new to send. */
  wake(): void {
    this.#nextDueAt = undefined
    this.#isExhausted = false
    void this.fill()
    this.pump()
  }

  /** Wakes the lane if something is due although no timer has fired, for example after a clock was set forward. */
  wakeIfDue(): void {
    if (this.#nextDueAt !== undefined && this.#nextDueAt <= this.#deps.clock.now()) this.wake()
  }

  /** Lets the next `pump` query the store again, even if the last query left nothing to load. */
  lookAgain(): void {
    this.#isExhausted = false
  }

  async fill(): Promise<void> {
    if (this.#isLoading) this.#isHinted = true
    if (this.#isLoading || this.#isStopped || this.#queue.length >= queueLow) return
    if (this.#pace.pauseMs(this.#deps.clock.monotonic()) > 0) return
    // An ordered or held endpoint gets one delivery at a time, because the next one is known only once the outcome of
    // the previous one is written.
    if (this.#isOneByOne && this.#underWay.size + this.#queue.length > 0) return
    this.#isLoading = true
    this.#isHinted = false
    try {
      const { deliveries, exhausted } = await this.#load()
      // An empty page means that nothing can be sent now: loading again would only return the same.
      this.#isExhausted = exhausted || deliveries.length === 0
      if (!this.#isClosed) await this.#take(deliveries)
    } catch (error) {
      this.#deps.onError(error)
      this.#isExhausted = true
      this.#wakeIn(retryStoreMs)
    } finally {
      this.#isLoading = false
    }
    this.pump()
    if (this.#isHinted) void this.fill()
  }

  async #load(): Promise<{ deliveries: DueDelivery[]; exhausted: boolean }> {
    const known = new Set(this.#underWay)
    for (const { id } of this.#queue) known.add(id)
    for (const id of this.#pace.waiting(this.#deps.clock.monotonic()).keys()) known.add(id)
    return await this.#deps.work.load(this.#endpoint, {
      limit: this.#isOneByOne ? 1 : this.#room,
      order: this.#endpoint.ordered ? 'ordered' : this.state === 'held' ? 'probe' : 'due',
      except: known,
    })
  }

  async #take(deliveries: readonly DueDelivery[]): Promise<void> {
    const { clock, work } = this.#deps
    const { id, ordered } = this.#endpoint
    const [first] = deliveries
    const now = clock.now()
    if (ordered && this.state === 'active' && first && first.dueAt > now) {
      // Nothing can be sent before the first delivery is due, and repeated queries would block SQLite's thread, which
      // everything shares.
      this.#isExhausted = true
      this.#nextDueAt = first.dueAt
      this.#wakeIn(first.dueAt - now)
      return
    }
    this.#queue.push(...deliveries.filter((delivery) => !this.#underWay.has(delivery.id)))
    if (deliveries.length > 0 || ordered) return
    const monotonic = clock.monotonic()
    const waiting = [...this.#pace.waiting(monotonic).values()]
    if (waiting.length > 0) {
      this.#wakeIn(Math.min(pacePollMs, ...waiting.map((until) => until - monotonic)))
      return
    }
    this.#nextDueAt = await work.nextDueAt(id)
    if (this.#nextDueAt !== undefined) this.#wakeIn(Math.max(this.#nextDueAt - now, 1))
  }

  #wakeIn(ms: number): void {
    // Longer delays are left to polling by any node.
    if (ms > idleBeforeReleaseMs || this.#isClosed) return
    this.#cancelWake?.()
    this.#cancelWake = this.#deps.after(Math.ceil(ms), () => {
      this.#cancelWake = undefined
      this.wake()
    })
  }

  // --- Sending ---

  pump(): void {
    if (this.#isStopped) return
    while (this.#queue.length > 0) if (!this.sendNext()) return
    if (!this.#isExhausted || this.#isHinted) void this.fill()
  }

  /** Starts one attempt if nothing forbids it; returns whether it did. */
  sendNext(): boolean {
    if (this.#isStopped) return false
    const { clock, sender } = this.#deps
    const monotonic = clock.monotonic()
    if (this.#underWay.size >= this.#maxUnderWay + this.#unwritten) return false
    if (monotonic > this.#leaseEndsAt - leaseMarginMs) return false
    if (this.#pace.pauseMs(monotonic) > 0) return false
    if (!sender.hasPlace(this)) return false
    const waitMs = this.#takeToken(monotonic)
    if (waitMs !== undefined) {
      this.#wakeIn(waitMs)
      return false
    }
    const delivery = this.#queue.shift()
    if (delivery) sender.start(this, delivery)
    return delivery !== undefined
  }

  /** Applies the result of an attempt; returns the outcome to write. */
  learn(outcome: AttemptOutcome, result: SendResult): AttemptOutcome {
    const nowMs = this.#deps.clock.now()
    const verdict = verdictOf(result)
    const before = this.state
    this.#health = healthAfter(this.#health, verdict, nowMs)
    this.#lastAttemptAt = nowMs
    this.#adapt(verdict.succeeded, result.status !== undefined)
    if (this.state !== before) this.#queue = []
    if (before === 'held' && this.state === 'active') this.#isExhausted = false
    return outcome.paced ? this.#paced(outcome) : outcome
  }

  /** A receiver that hangs or can't be reached gets one request at a time, until one succeeds. */
  #adapt(succeeded: boolean, answered: boolean): void {
    if (succeeded) {
      this.#concurrency = Math.min(this.#concurrency + 1, maxConcurrency)
      this.#pace.succeeded()
    }
    if (!succeeded && !answered) this.#concurrency = 1
  }

  /**
   * A delivery that waits alone for more than a minute gets a new due time in the store, because the lane may close
   * before that time.
   */
  #paced(outcome: AttemptOutcome): AttemptOutcome {
    const { clock } = this.#deps
    const monotonic = clock.monotonic()
    const { delivery, retryAfterMs = 0 } = outcome
    const refusedMs = clock.now() - (this.#health.failingSince ?? clock.now())
    // Each attempt costs a write, so a receiver that has accepted nothing for a long time is tried less and less often.
    const minMs = Math.min(refusedMs / 10, maxWaitInLaneMs)
    const waitMs = this.#pace.refused(delivery.id, Math.max(retryAfterMs, minMs), monotonic)
    const pauseMs = this.#pace.pauseMs(monotonic)
    if (pauseMs > 0) {
      this.#queue = []
      this.#nextDueAt = clock.now() + pauseMs
      this.#wakeIn(pauseMs)
    }
    return waitMs > maxWaitInLaneMs ? { ...outcome, dueAt: clock.now() + waitMs } : outcome
  }

  /** Takes one token of the endpoint's rate limit; if none is left, returns the milliseconds until there is one. */
  #takeToken(monotonic: number): number | undefined {
    const rate = this.#endpoint.ratePerSecond
    if (rate === undefined) return undefined
    // Up to one second's tokens may accumulate, because the rate is an average over a second.
    this.#tokens = Math.min(rate, this.#tokens + ((monotonic - this.#tokensAt) * rate) / 1000)
    this.#tokensAt = monotonic
    if (this.#tokens >= 1) {
      this.#tokens -= 1
      return undefined
    }
    return Math.ceil(((1 - this.#tokens) * 1000) / rate)
  }

  get #isStopped(): boolean {
    return this.#isClosed || this.#deps.sender.isStopped
  }

  get #underWay(): ReadonlySet<string> {
    return this.#deps.sender.underWay(this.#endpoint.id)
  }

  get #isOneByOne(): boolean {
    return this.#endpoint.ordered || this.state === 'held'
  }

  get #maxUnderWay(): number {
    if (this.state === 'disabled') return 0
    return this.#isOneByOne ? 1 : this.#concurrency
  }

  /**
   * How many unwritten outcomes the next request need not wait for; an ordered or held endpoint waits for all of them.
   */
  get #unwritten(): number {
    if (this.#endpoint.ordered || this.state !== 'active') return 0
    return Math.min(this.#deps.sender.unwrittenOf(this.#endpoint.id), maxUnwritten)
  }

  get #room(): number {
    const most = this.#health.failures > 0 ? queueOfFailing : maxQueue
    return Math.max(1, most - this.#queue.length)
  }
}
