import type { Clock } from '../../clock.ts'
import type { AttemptOutcome, DueDelivery, EndpointRecord } from '../../store/index.ts'
import { healthAfter, type EndpointHealth } from './endpoint-health.ts'
import { verdictOf } from './outcome.ts'
import { Pace } from './pace.ts'
import type { Applicant } from './places.ts'
import type { PreparedEndpoint, SendResult } from './send.ts'
import type { DeliveryWork, HealthOutcome } from './work.ts'

const concurrencyFirst = 4
const maxConcurrency = 8
const maxQueue = 64
const queueLow = 24
// Endpoints that fail may be many and stay long: they keep little in memory.
const queueOfFailing = 4
// A send that starts this close to the lease's end would finish under somebody else's.
const leaseMarginMs = 500
/** A lane without work for so long gives its endpoint back; longer delays are left to polling. */
export const idleBeforeReleaseMs = 5000
const pacePollMs = 1000
// What is sent and not written would be sent again after a crash: a database that stands still must not make it many.
const maxUnwritten = 32
const retryStoreMs = 250

/** Whoever sends for all lanes. */
export interface LaneSender {
  readonly isStopped: boolean
  /** The deliveries of an endpoint that are being sent or not yet written, by id. */
  underWay(endpointId: string): ReadonlySet<string>
  unwrittenOf(endpointId: string): number
  /** Whether one more request may be started; if not, the lane is asked again when a place is free. */
  hasPlace(lane: Lane): boolean
  start(lane: Lane, delivery: DueDelivery): void
}

/** What varies. */
export interface LaneDeps {
  readonly work: DeliveryWork
  readonly clock: Clock
  readonly after: (ms: number, call: () => void) => () => void
  readonly onError: (error: unknown) => void
  readonly sender: LaneSender
}

/** One endpoint while this node holds its lease: what waits in memory, and how much may go out now. */
export class Lane {
  readonly prepared: PreparedEndpoint
  readonly #deps: LaneDeps
  readonly #pace: Pace
  /** As it was when the lease was taken last. */
  #endpoint: EndpointRecord
  /** How the endpoint is doing; written with every batch. */
  #health: EndpointHealth
  /** Monotonic milliseconds after which nothing may be started on this lease. */
  #leaseEndsAt: number
  #queue: DueDelivery[] = []
  /** How many may be under way at once: grows with successes, falls to one when the receiver hangs. */
  #concurrency = concurrencyFirst
  #isLoading = false
  /** Whether the store had no more that can be sent; a wake asks it anew. */
  #isExhausted = false
  /** Something was published while the lane was loading. */
  #isHinted = false
  #isClosed = false
  /** Monotonic milliseconds since which the lane has had nothing to do. */
  #idleSince: number | undefined
  /** Tokens of the endpoint's rate, as of a monotonic time. */
  #tokens: number
  #tokensAt: number
  #cancelWake: (() => void) | undefined
  /** When the next delivery is due, in milliseconds since 1970, as far as it is known. */
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

  /** A copy of what there is to write: the lane goes on meanwhile, and under which lease it was written must stay known. */
  get healthOutcome(): HealthOutcome {
    return { endpoint: this.#endpoint, health: this.#health, lastAttemptAt: this.#lastAttemptAt }
  }

  /** Who asks for a place for the lane's next request. */
  get applicant(): Applicant {
    const isProven = this.#health.lastSuccessAt !== undefined
    return {
      endpointId: this.#endpoint.id,
      organizationId: this.#endpoint.organizationId,
      standing: this.#health.failures > 0 ? 'sluggish' : isProven ? 'prompt' : 'unproven',
    }
  }

  // --- Its lease ---

  /**
   * Goes on under a lease just taken if that follows our own one, which a clock set forward let run out: what the lane
   * knows of the endpoint's health, and what is under way, is then newer than the row.
   */
  continueUnder(endpoint: EndpointRecord, leaseEndsAt: number): boolean {
    // We re-acquired our own lease with nothing in between: each taking moves the token.
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

  /** Whether it has had nothing to do for long enough to give the endpoint back. */
  isIdle(): boolean {
    const monotonic = this.#deps.clock.monotonic()
    const isPaused = this.#pace.pauseMs(monotonic) > 0
    if (isPaused || this.#isLoading || this.#queue.length + this.#underWay.size > 0) {
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

  // --- Filling ---

  /** Something may be there that was not before: asks the store, and sends what may be sent. */
  wake(): void {
    this.#nextDueAt = undefined
    this.#isExhausted = false
    void this.fill()
    this.pump()
  }

  /** A clock that was set forward has made some of what waits due. */
  wakeIfDue(): void {
    if (this.#nextDueAt !== undefined && this.#nextDueAt <= this.#deps.clock.now()) this.wake()
  }

  /** Asks the store for more when there is room, after what is in memory has been sent. */
  lookAgain(): void {
    this.#isExhausted = false
  }

  async fill(): Promise<void> {
    if (this.#isLoading) this.#isHinted = true
    if (this.#isLoading || this.#isStopped || this.#queue.length >= queueLow) return
    if (this.#pace.pauseMs(this.#deps.clock.monotonic()) > 0) return
    // One after the other: the next in order is known only when the one before is sent and written.
    if (this.#isOneByOne && this.#underWay.size + this.#queue.length > 0) return
    this.#isLoading = true
    this.#isHinted = false
    try {
      const { deliveries, exhausted } = await this.#load()
      // A page of which nothing can be sent would be the same again.
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
    const isProbe = this.state === 'held'
    return await this.#deps.work.load(this.#endpoint, {
      limit: this.#isOneByOne ? 1 : this.#room,
      order: isProbe ? 'probe' : this.#endpoint.ordered ? 'ordered' : 'due',
      except: known,
    })
  }

  async #take(deliveries: readonly DueDelivery[]): Promise<void> {
    const { clock, work } = this.#deps
    const { id, ordered } = this.#endpoint
    const [first] = deliveries
    const now = clock.now()
    if (ordered && this.state === 'active' && first && first.dueAt > now) {
      // Nothing more until then: asking again and again would keep SQLite's thread, which is everybody's.
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
    // Longer delays are left to polling, on whichever node.
    if (ms > idleBeforeReleaseMs || this.#isClosed) return
    this.#cancelWake?.()
    this.#cancelWake = this.#deps.after(Math.ceil(ms), () => {
      this.#cancelWake = undefined
      this.wake()
    })
  }

  // --- Sending ---

  /** Sends what may be sent now, and asks the store for more. */
  pump(): void {
    if (this.#isStopped) return
    while (this.#queue.length > 0) if (!this.sendNext()) return
    if (!this.#isExhausted || this.#isHinted) void this.fill()
  }

  /** Starts one attempt if everything allows it; sees to it that the lane is looked at again otherwise. */
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

  /** Takes over what an attempt has shown. */
  learn(outcome: AttemptOutcome, result: SendResult): void {
    const nowMs = this.#deps.clock.now()
    const verdict = verdictOf(result)
    const before = this.state
    this.#health = healthAfter(this.#health, verdict, nowMs)
    this.#lastAttemptAt = nowMs
    this.#adapt(verdict.succeeded, result.status !== undefined)
    if (outcome.paced) this.#pause(outcome)
    if (this.state !== before) this.#queue = []
    if (before === 'held' && this.state === 'active') this.#isExhausted = false
  }

  /** Receivers that hang or refuse connections hold few of everybody's places. */
  #adapt(succeeded: boolean, answered: boolean): void {
    if (succeeded) {
      this.#concurrency = Math.min(this.#concurrency + 1, maxConcurrency)
      this.#pace.succeeded()
    }
    if (!succeeded && !answered) this.#concurrency = 1
  }

  /** Those that the receiver refused come first again, after its pause. */
  #pause({ delivery, retryAfterMs }: AttemptOutcome): void {
    const { clock } = this.#deps
    const monotonic = clock.monotonic()
    this.#pace.refused(delivery.id, retryAfterMs ?? 0, monotonic)
    const pauseMs = this.#pace.pauseMs(monotonic)
    if (pauseMs === 0) return
    this.#queue = []
    this.#nextDueAt = clock.now() + pauseMs
    this.#wakeIn(pauseMs)
  }

  /** Takes one token of the endpoint's rate; else returns the milliseconds until there is one. */
  #takeToken(monotonic: number): number | undefined {
    const rate = this.#endpoint.ratePerSecond
    if (rate === undefined) return undefined
    // A second's worth may be saved up: the rate is an average over a second.
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

  /** How many may be under way now. A held endpoint gets one probe, an ordered one never a second delivery. */
  get #maxUnderWay(): number {
    if (this.state === 'disabled') return 0
    return this.#isOneByOne ? 1 : this.#concurrency
  }

  /** An ordered endpoint waits until the last outcome is written; others go on meanwhile. */
  get #unwritten(): number {
    if (this.#endpoint.ordered || this.state !== 'active') return 0
    return Math.min(this.#deps.sender.unwrittenOf(this.#endpoint.id), maxUnwritten)
  }

  /** How many more may be kept in memory. */
  get #room(): number {
    const most = this.#health.failures > 0 ? queueOfFailing : maxQueue
    return Math.max(1, most - this.#queue.length)
  }
}
