import type { Rate } from '../../rate.ts'
import type { rateShares } from '../../store/index.ts'
import { whole } from './deal.ts'
import { minuteMs } from '../../units.ts'

/** The owner of a rate. */
export interface RateSubject {
  /** A key, target, organization, SCIM token or source of failed credentials. */
  readonly id: string
  readonly organizationId: string
  /** A source of failed credentials; strangers can make up any number of them, so only some are held at once. */
  readonly isSource?: boolean
}

const shortestWindowMs = 250
const maxWindowMs = minuteMs
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
  /** What this node may spend, in millionths of the rate. */
  share = 0
  /** What this node has written about itself in the database. */
  written = { share: 0, demand: 0, short: false }
  /** Calls since the last tick, and the average number per second. */
  asked = 0
  demand = 0
  lastAskedAt: number
  /** Whether the share was too small for a call since the last tick, and in the tick before. */
  lacked = false
  hadTooLittle = false
  /** Calls that wait for a share. */
  waiting = 0
  /** Monotonic time before which asking for more is pointless: the last request got nothing. */
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

  /** The smallest share that lets one call pass. */
  get least(): number {
    return Math.min(whole, Math.ceil(whole / (this.rate.burst ?? this.rate.calls)))
  }

  /** Milliseconds that an empty bucket takes to fill. */
  get emptyMs(): number {
    return (1000 * (this.rate.burst ?? this.rate.calls)) / this.perSecond
  }

  /** The part that no node holds, as far as this node knows. */
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

  /** Updates the average demand with the calls since the last tick. */
  roll(elapsedMs: number): void {
    const windowMs = this.#windowMs
    const now = (this.asked * 1000) / elapsedMs
    const weight = Math.min(1, elapsedMs / windowMs)
    const average = now * weight + this.demand * (1 - weight)
    // Negligible demand counts as none, so that an unused share soon goes to another node.
    this.demand = average < this.perSecond * negligible ? 0 : average
    this.asked = 0
    this.hadTooLittle = this.lacked
    this.lacked = false
  }

  /** Calls per second, including those since the last tick. */
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

  /** The share that this node should hold now. */
  wanted(monotonic: number): number {
    if (monotonic - this.lastAskedAt > idleAfterMs) return 0
    const others = [...this.others.values()]
    const fair = this.#fair()
    if (others.some(({ short }) => short)) {
      if (this.demand === 0) return 0
      if (fair >= this.least) return fair
      // A fair share would be too small for a single call: the node with the most demand takes what one call needs.
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

  /** Whether this node needs more than it holds and holds less than its fair share. */
  isShort(): boolean {
    if (this.waiting > 0 && this.share < this.least) return true
    const used = (this.share / whole) * this.perSecond
    return this.demand > used && this.share < this.#fair() - 2 * hysteresis
  }

  /** What to write now; undefined if no change is worth a write. */
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

  /** How long demand is averaged: longer for slow rates, where a single call would look like a burst. */
  get #windowMs(): number {
    return Math.min(maxWindowMs, Math.max(shortestWindowMs, 2000 / this.perSecond))
  }

  #fair(): number {
    const sum = this.demand + this.othersDemand
    return sum === 0 ? 0 : Math.floor((whole * this.demand) / sum)
  }
}
