import type { Rate } from '../../rate.ts'
import type { rateShares } from '../../store/index.ts'
import { whole } from './deal.ts'
import { minuteMs } from '../../units.ts'

export interface RateSubject {
  /** A key, target, organization, SCIM token or source of failed credentials. */
  readonly id: string
  readonly organizationId: string
  /**
   * Whether the subject is a source of failed credentials. Strangers can invent any number of sources, so only some are
   * tracked.
   */
  readonly isSource?: boolean
}

/** A rate, and whose calls it limits. */
export interface LimitedRate {
  readonly subject: RateSubject
  readonly rate: Rate
  /** Whether to count on this node only. */
  readonly local?: boolean
}

const shortestWindowMs = 250
const longWindowMs = 2000
const maxWindowMs = minuteMs
// Divided by the calls per second, this gives the time in which four calls arrive.
const averagedMs = 4000
const negligible = 0.01
const idleAfterMs = 10_000
// An idle node may keep a small share for a while, because a node that needs the share gets it within two ticks.
const goneAfterMs = 2 * minuteMs
const idleShare = whole / 4
const hysteresis = whole / 50
const headroom = 1.2
// A smaller relative change of demand is not worth a write.
const demandStep = 0.25
const smallDemand = 0.05
const highDemand = 0.5
const fallenDemand = 0.25
const rememberedTicks = 4

/** This node's share of one subject's rate, and the shares of other nodes that it has read. */
export class Holding {
  readonly subject: RateSubject
  rate: Rate
  /** The share that this node may spend, in millionths of the rate. */
  share = 0
  /** This node's own row, as last written to the database. */
  written = { share: 0, demand: 0, short: false }
  /** Calls since the last tick. */
  asked = 0
  /** The average number of calls per second. */
  demand = 0
  lastAskedAt: number
  /** Whether, since the last tick, the share was too small for some call. */
  lacked = false
  /** For how many more ticks the share counts as too small, after it was too small for a call. */
  lackedTicks = 0
  /** Calls that wait for a share. */
  waiting = 0
  /** Monotonic time before which asking for more is pointless: the last request got nothing. */
  nothingUntil = 0
  claiming: Promise<void> | undefined
  /** Whether the next tick examines this holding. */
  isVisited = false
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

  /** The part of the rate that no node holds, according to what this node has read. */
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
    const now = (this.asked * 1000) / elapsedMs
    const windowMs = this.#windowMs(now)
    const weight = Math.min(1, elapsedMs / windowMs)
    const average = now * weight + this.demand * (1 - weight)
    // Negligible demand counts as none, so that an unused share soon goes to another node.
    this.demand = average < this.perSecond * negligible ? 0 : average
    this.asked = 0
    this.lackedTicks = this.lacked ? rememberedTicks : Math.max(0, this.lackedTicks - 1)
    this.lacked = false
  }

  /** Returns the calls per second, including those since the last tick. */
  demandNow(sinceTickMs: number): number {
    const now = (this.asked * 1000) / Math.max(sinceTickMs, shortestWindowMs)
    const perMs = this.asked / Math.max(sinceTickMs, this.#windowMs(now))
    return Math.max(this.demand, perMs * 1000)
  }

  /**
   * Whether the demand of all nodes together is below 90 % of the rate, or so low that half the burst covers the calls
   * of one averaging window.
   */
  get isCalm(): boolean {
    const sum = this.demandNow(0) + this.othersDemand
    const burst = this.rate.burst ?? this.rate.calls
    return sum < this.perSecond * 0.9 || (sum * this.#windowMs(0)) / 1000 <= burst / 2
  }

  get othersDemand(): number {
    let sum = 0
    for (const { demand } of this.others.values()) sum += demand
    return sum
  }

  /** Returns the members of a share request that depend only on the subject and its calls. */
  requirements(sinceTickMs: number) {
    const { subject, least, emptyMs } = this
    const demand = this.demandNow(sinceTickMs)
    return {
      ...{ subjectId: subject.id, organizationId: subject.organizationId },
      ...{ least, leastNow: Math.min(whole, least * (this.waiting + 1)), emptyMs },
      ...{ demand, need: Math.min(whole, this.needOf(demand)) },
    }
  }

  /** Returns the share that this node should hold now. */
  wanted(monotonic: number): number {
    const idleMs = monotonic - this.lastAskedAt
    if (idleMs > this.#goneAfterMs) return 0
    const need = this.needOf(this.demand)
    if (this.#othersShort) {
      if (this.demand === 0 && this.waiting === 0) return 0
      const others = [...this.others.values()]
      const needs = others.reduce((sum, { demand }) => sum + this.needOf(demand), need)
      // If there is enough for all, each node keeps what it needs and leaves the rest to the nodes that are short.
      if (needs <= whole) return need
      const fair = this.#fair()
      if (fair >= this.least) return fair
      // A fair share is too small for a single call, so only the node with the most demand takes what one call needs.
      const isFirst = others.every(({ demand }) => demand <= this.demand)
      return isFirst ? Math.min(this.least, Math.max(this.share, this.least)) : 0
    }
    if (idleMs > idleAfterMs) return Math.min(this.share, idleShare)
    if (this.share < this.least && (this.demand > 0 || this.waiting > 0)) {
      return Math.max(this.least, Math.min(need, Math.floor(this.free / 2)))
    }
    if (this.lackedTicks === 0) return this.share
    return Math.max(this.share, Math.min(whole, need))
  }

  /**
   * Whether other nodes must give back shares: a call waits here for the smallest useful share, or this node's share
   * and the free part together are well below what it needs and is entitled to.
   */
  isShort(): boolean {
    if (this.waiting > 0 && this.share < this.least) return true
    if (!this.lacked && this.lackedTicks === 0) return false
    const due = Math.min(this.#fair(), this.needOf(this.demand))
    return this.share + this.free < due - 2 * hysteresis
  }

  /** Returns the change to write now; undefined if no change is worth a write. */
  change(monotonic: number): { want: number; short: boolean } | undefined {
    const want = this.wanted(monotonic)
    const short = this.isShort()
    // A call that waits here needs even the smallest share at once.
    const step = this.waiting > 0 && this.share < this.least ? 1 : hysteresis
    const grows = want >= this.share + step && this.free >= step
    const shrinks = want < this.share - hysteresis || (want === 0 && this.share > 0)
    const isTold = short === this.written.short && this.share === this.written.share
    const moved = Math.abs(this.demand - this.written.demand)
    const least = Math.max(this.perSecond * smallDemand, this.written.demand * demandStep)
    // Other nodes need to know this demand only while some node is short, or when high demand has ended.
    const counts = short || this.#othersShort || this.#isOver
    const demandMoved = counts && (this.share > 0 || short) && moved > least
    if (!grows && !shrinks && isTold && !demandMoved) return undefined
    return { want: grows || shrinks ? want : this.share, short }
  }

  /** Whether nothing will change until the next call arrives, another node writes, or the holding is idle (`isIdle`). */
  get isQuiet(): boolean {
    const isSettled = this.demand === 0 && this.asked === 0 && this.waiting === 0
    return isSettled && !this.written.short && !this.#othersShort
  }

  /** Whether the holding has been unused for so long that its share must become smaller, or be given up. */
  isIdle(monotonic: number): boolean {
    const idleMs = monotonic - this.lastAskedAt
    return idleMs > this.#goneAfterMs || (idleMs > idleAfterMs && this.share > idleShare)
  }

  /**
   * How long a holding may be unused before its share is given up; shorter for sources, of which only some are tracked.
   */
  get #goneAfterMs(): number {
    return this.subject.isSource === true ? idleAfterMs : goneAfterMs
  }

  get #othersShort(): boolean {
    for (const { short } of this.others.values()) if (short) return true
    return false
  }

  /** Whether the high demand that this node last reported to the others is over. */
  get #isOver(): boolean {
    const { demand } = this.written
    return demand > this.perSecond * highDemand && this.demand < demand * fallenDemand
  }

  /**
   * Returns the time over which demand is averaged: longer where calls are so few that a single one would look like a
   * burst.
   */
  #windowMs(now: number): number {
    const rare = averagedMs / Math.max(now, this.demand)
    const slow = 2000 / this.perSecond
    return Math.min(maxWindowMs, Math.max(shortestWindowMs, slow, Math.min(rare, longWindowMs)))
  }

  /** Returns the share that lets this many calls a second pass; always large enough for one call. */
  needOf(demand: number): number {
    return Math.max(this.least, Math.ceil((whole * demand * headroom) / this.perSecond))
  }

  #fair(): number {
    const sum = this.demand + this.othersDemand
    return sum === 0 ? 0 : Math.floor((whole * this.demand) / sum)
  }
}
