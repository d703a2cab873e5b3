import type { Rate } from '../../rate.ts'
import type { rateShares } from '../../store/index.ts'
import { whole } from './deal.ts'

/** Whose rate it is. */
export interface RateSubject {
  /** A key, target, organization, SCIM token or source of failed credentials. */
  readonly id: string
  readonly organizationId: string
  /** A stranger's: as many as strangers like, so that only some of them are held at once. */
  readonly isSource?: boolean
}

const shortestWindowMs = 250
const maxWindowMs = 60_000
const negligible = 0.01
const idleAfterMs = 10_000
const hysteresis = whole / 50
const headroom = 1.2
// Demand that changes by less is not worth a write.
const demandStep = 0.25
const smallDemand = 0.05

/** What this node holds of one subject's rate, and what it knows of the others. */
export class Holding {
  readonly subject: RateSubject
  rate: Rate
  /** Millionths of the rate. */
  share = 0
  /** What the database says of it. */
  written = { share: 0, demand: 0, short: false }
  /** Calls that were asked for since the last tick, and a second on average. */
  asked = 0
  demand = 0
  lastAskedAt: number
  /** Whether a call found too little here since the last tick, and before it. */
  lacked = false
  hadTooLittle = false
  /** Calls that wait for a share. */
  waiting = 0
  /** Monotonic time until which there is nothing to be had. */
  nothingUntil = 0
  claiming: Promise<void> | undefined
  readonly others = new Map<string, rateShares.RateShareRecord>()

  constructor(subject: RateSubject, rate: Rate, monotonic: number) {
    this.subject = subject
    this.rate = rate
    this.lastAskedAt = monotonic
  }

  get perSecond(): number {
    return this.rate.calls / this.rate.perSeconds
  }

  /** The least share that lets one call pass. */
  get least(): number {
    return Math.min(whole, Math.ceil(whole / (this.rate.burst ?? this.rate.calls)))
  }

  /** How long an empty bucket takes to be whole. */
  get emptyMs(): number {
    return (1000 * (this.rate.burst ?? this.rate.calls)) / this.perSecond
  }

  /** What nobody seems to hold. */
  get free(): number {
    let held = this.share
    for (const { share } of this.others.values()) held += share
    return Math.max(0, whole - held)
  }

  noteAsked(monotonic: number): void {
    this.asked += 1
    this.lastAskedAt = monotonic
  }

  noteOthers(records: readonly rateShares.RateShareRecord[]): void {
    this.others.clear()
    for (const record of records) this.others.set(record.nodeId, record)
  }

  forgetDead(live: ReadonlySet<string>): void {
    for (const nodeId of this.others.keys()) if (!live.has(nodeId)) this.others.delete(nodeId)
  }

  /** Takes stock of the time since the last tick. */
  roll(elapsedMs: number): void {
    const windowMs = this.#windowMs
    const now = (this.asked * 1000) / elapsedMs
    const weight = Math.min(1, elapsedMs / windowMs)
    const average = now * weight + this.demand * (1 - weight)
    // Falls at once for fast rates: a share that is not used here is somebody else's soon.
    this.demand = average < this.perSecond * negligible ? 0 : average
    this.asked = 0
    this.hadTooLittle = this.lacked
    this.lacked = false
  }

  /** Calls a second as far as they are known before the next tick. */
  demandNow(sinceTickMs: number): number {
    const perMs = this.asked / Math.max(sinceTickMs, this.#windowMs)
    return Math.max(this.demand, perMs * 1000)
  }

  /** Whether all nodes together are asked for less than the rate. */
  get isCalm(): boolean {
    const sum = this.demandNow(0) + this.othersDemand
    const burst = this.rate.burst ?? this.rate.calls
    return sum < this.perSecond * 0.9 || (sum * this.#windowMs) / 1000 <= burst / 2
  }

  get othersDemand(): number {
    let sum = 0
    for (const { demand } of this.others.values()) sum += demand
    return sum
  }

  /** The share it should have now. */
  wanted(monotonic: number): number {
    if (monotonic - this.lastAskedAt > idleAfterMs) return 0
    const others = [...this.others.values()]
    const fair = this.#fair()
    if (others.some(({ short }) => short)) {
      if (this.demand === 0) return 0
      if (fair >= this.least) return fair
      // Too little for one call: the whole goes where more is asked for.
      const isFirst = others.every(({ demand }) => demand <= this.demand)
      return isFirst ? Math.min(this.least, Math.max(this.share, this.least)) : 0
    }
    const need = Math.ceil((whole * this.demand * headroom) / this.perSecond)
    if (this.share < this.least && this.demand > 0) {
      return Math.max(this.least, Math.min(need, Math.floor(this.free / 2)))
    }
    if (!this.hadTooLittle) return this.share
    return Math.max(this.share, Math.min(whole, need))
  }

  /** Whether it needs more than it holds and than others leave it. */
  isShort(): boolean {
    if (this.waiting > 0 && this.share < this.least) return true
    const used = (this.share / whole) * this.perSecond
    return this.demand > used && this.share < this.#fair() - 2 * hysteresis
  }

  /** What is to be written now; undefined if nothing is worth it. */
  change(monotonic: number): { want: number; short: boolean } | undefined {
    const want = this.wanted(monotonic)
    const short = this.isShort()
    const grows = want > this.share + hysteresis && this.free >= hysteresis
    const shrinks = want < this.share - hysteresis || (want === 0 && this.share > 0)
    const isTold = short === this.written.short && this.share === this.written.share
    const step = Math.abs(this.demand - this.written.demand)
    const least = Math.max(this.perSecond * smallDemand, this.written.demand * demandStep)
    const demandMoved = this.share > 0 || short ? step > least : false
    if (!grows && !shrinks && isTold && !demandMoved) return undefined
    return { want: grows || shrinks ? want : this.share, short }
  }

  /** Over how long demand is measured: of a slow rate a single call is a burst. */
  get #windowMs(): number {
    return Math.min(maxWindowMs, Math.max(shortestWindowMs, 2000 / this.perSecond))
  }

  #fair(): number {
    const sum = this.demand + this.othersDemand
    return sum === 0 ? 0 : Math.floor((whole * this.demand) / sum)
  }
}
