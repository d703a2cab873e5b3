import { createId, type Id } from '../../ids.ts'
import { RateLimiter, type Rate, type RateVerdict } from '../../rate.ts'
import { rateShares } from '../../store/index.ts'
import { dealAll } from './deal-all.ts'
import { whole, type Dealt, type ShareRequest } from './deal.ts'
import type { Holding, LimitedRate, RateSubject } from './holding.ts'
import { Holdings } from './holdings.ts'
import { Settler } from './settler.ts'
import type { SharedRatesDeps, SharedRatesState } from './shared-rates-types.ts'
import { hourMs, minuteMs } from '../../units.ts'

const tickMs = 250
// A node that died or was cut off holds nothing after this time; the others take over its shares.
const leaseMs = 1500
const leaseMarginMs = 100
// Reads overlap by this much, because a row carries the time at which it was written, but may be committed later.
const lookBackMs = 1000
const joinMs = 100
const aloneAfterMs = 3000
const maxLimited = 200_000
const maxWaiting = 64
const patienceTicks = 4 // Two suffice unless the node that holds the share is busy.
const nothingForMs = 1000
const keptMs = hourMs
const sourceKeptMs = minuteMs
const forgetEveryMs = minuteMs

/**
 * Enforces rates across all nodes. A node that is alone spends whole rates and stores no shares. Several nodes spend
 * only their shares, which are stored in the database, move to where the calls are, and never add up to more than the
 * rate.
 *
 * A share is the part of a rate that a node may spend, in millionths. A holding is what a node knows of all shares of
 * one rate. `least` is the smallest share that lets a call pass. A node is short if it needs more than it could get.
 * Every 250 ms (a tick), a node that shares rates renews its lease, reads what others wrote, and returns or requests
 * shares.
 */
export class SharedRates implements AsyncDisposable {
  readonly #deps: SharedRatesDeps
  readonly #nodeId: Id<'node'>
  readonly #limiter = new RateLimiter(maxLimited)
  readonly #holdings = new Holdings()
  readonly #settler: Settler
  readonly #tickEnds: (() => void)[] = []
  #isShared = false
  #nodes: ReadonlySet<string> = new Set()
  /** Monotonic time after which other nodes may have taken over the shares held here. */
  #leaseEndsAt = 0
  #resets = 0
  #aloneSince: number | undefined
  #readFrom: rateShares.ChangedPlace = { changedAt: 0, subjectId: '', nodeId: '' }
  #tickedAt = 0
  #forgotAt = 0
  #ticking: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(deps: SharedRatesDeps) {
    this.#deps = deps
    this.#nodeId = createId('node', deps.clock.now())
    this.#settler = new Settler({
      settle: async (requests) => await this.#settle(requests),
      claimOf: (holding) => this.#claimOf(holding),
      isCurrent: (holding) => this.#holdings.get(holding.subject.id) === holding,
      monotonic: () => deps.clock.monotonic(),
    })
  }

  /**
   * Joins the other nodes on this database. Waits up to 100 ms for the confirmation that this node is alone; without
   * it, the node starts sharing.
   */
  async start(): Promise<void> {
    const { store } = this.#deps
    const share = (): void => this.#share()
    // After a gap in the feed or the restoration of a database, the shares held here may belong to another node.
    const reset = (): void => {
      this.#resets += 1
      for (const holding of this.#holdings.values()) holding.share = 0
      this.#leaseEndsAt = 0
      share()
    }
    const heard = ({ subjectId }: { subjectId: string }): void => {
      if (subjectId !== this.#nodeId) share()
    }
    store.feed.on('node', heard, reset)
    const joining = store.transactionConfirmed(async (tx) => {
      await Promise.resolve()
      tx.changed({ kind: 'node', organizationId: 'system', subjectId: this.#nodeId })
    })
    const isAlone = joining.then(
      // The confirmation counts this process too.
      ({ confirmation }) => confirmation.nodes + confirmation.silentNodes <= 1,
    )
    const isLate = new Promise<false>((resolve) => void setTimeout(resolve, joinMs, false))
    // The start does not wait for silent nodes: without the database, they soon refuse calls, because they cannot
    // verify keys.
    if (!(await Promise.race([isAlone, isLate]))) this.#share()
    isAlone.catch(this.#deps.onError)
  }

  /**
   * Returns whether a call may pass now, and spends nothing. Returns a promise if this node must first get a share: ask
   * again once the promise resolves. Whoever asks about several rates reads the clock once and hands in the time.
   */
  ask(limit: LimitedRate, monotonic = this.#deps.clock.monotonic()): RateVerdict | Promise<void> {
    const { subject, rate, local = false } = limit
    if (local || !this.#isShared) return this.#limiter.ask(subject.id, rate, monotonic, false)
    const holding = this.#holdings.of(subject, rate, monotonic)
    if (holding === undefined) return nothingHere
    holding.noteAsked(monotonic)
    this.#holdings.visit(holding)
    const share = monotonic < this.#leaseEndsAt ? holding.share : 0
    if (share >= holding.least) {
      const verdict = this.#limiter.ask(subject.id, rate, monotonic, false, share / whole)
      if (verdict.admitted || share === whole) return verdict
      holding.lacked = true
      return this.#mayClaim(holding, monotonic) ? this.#claim(holding) : verdict
    }
    holding.lacked = true
    return this.#mayClaim(holding, monotonic) ? this.#claim(holding) : nothingHere
  }

  /** Returns whether this node's present share lets a call pass; undefined if the node does not track the subject. */
  known(subject: RateSubject, rate: Rate): RateVerdict | undefined {
    const holding = this.#holdings.get(subject.id)
    if (holding === undefined) return undefined
    const monotonic = this.#deps.clock.monotonic()
    if (monotonic >= this.#leaseEndsAt || holding.share < holding.least) return nothingHere
    return this.#limiter.ask(subject.id, rate, monotonic, false, holding.share / whole)
  }

  /** Whether there may be other nodes. */
  get isShared(): boolean {
    return this.#isShared
  }

  /** Like `ask`, for callers that can wait for the verdict. */
  async askUntilKnown(subject: RateSubject, rate: Rate): Promise<RateVerdict> {
    for (;;) {
      const verdict = this.ask({ subject, rate })
      if (!(verdict instanceof Promise)) return verdict
      await verdict
    }
  }

  /** Counts a call; must run in the same event-loop turn as the `ask` that admitted it. */
  spend(limit: LimitedRate, monotonic = this.#deps.clock.monotonic()): void {
    const { subject, rate, local = false } = limit
    const share = local || !this.#isShared ? whole : (this.#holdings.get(subject.id)?.share ?? 0)
    this.#limiter.ask(subject.id, rate, monotonic, true, Math.max(share, 1) / whole)
  }

  /** Returns this node's part (above 0, up to 1) of limits that are divided evenly; reads no database. */
  readonly part = (): number => (this.#isShared ? 1 / Math.max(1, this.#nodes.size) : 1)

  state(): SharedRatesState {
    let short = 0
    for (const { written } of this.#holdings.values()) if (written.short) short += 1
    return {
      short,
      nodes: Math.max(1, this.#nodes.size),
      isShared: this.#isShared,
      subjects: this.#holdings.size,
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#ticking
    if (!this.#isShared) return
    try {
      const held = [...this.#holdings.values()].filter(({ share }) => share > 0)
      await this.#settler.settleAll(held, (holding) => this.#yieldAll(holding))
      await this.#deps.store.transactionOnCalls(
        async (tx) => await rateShares.leaveNode(tx, this.#nodeId),
      )
    } catch (error) {
      // Shares that could not be returned become free when the lease ends.
      this.#deps.onError(error)
    }
  }

  #yieldAll(holding: Holding): ShareRequest {
    const request = this.#requestOf(holding, { want: 0, short: false })
    holding.share = 0
    return request
  }

  /** Starts sharing because there may be another node: from now on, this node spends only the shares that it holds. */
  #share(): void {
    this.#aloneSince = undefined
    if (this.#isShared || this.#closed) return
    this.#isShared = true
    this.#leaseEndsAt = 0
    this.#nodes = new Set([this.#nodeId])
    this.#tickedAt = this.#deps.clock.monotonic()
    this.#tickSoon(0)
  }

  #mayClaim(holding: Holding, monotonic: number): boolean {
    return holding.nothingUntil <= monotonic && holding.waiting < maxWaiting && !this.#closed
  }

  /**
   * Claims a part that no node holds. If that is too little but total demand is low, waits for shares of other nodes.
   */
  async #claim(holding: Holding): Promise<void> {
    holding.waiting += 1
    try {
      holding.claiming ??= this.#claimNow(holding).finally(() => {
        holding.claiming = undefined
      })
      await holding.claiming
    } finally {
      holding.waiting -= 1
    }
  }

  async #claimNow(holding: Holding): Promise<void> {
    const before = holding.share
    await this.#settler.claim(holding)
    for (let tick = 0; tick < patienceTicks && holding.share < holding.least; tick++) {
      if (!holding.isCalm) break
      await new Promise<void>((resolve) => void this.#tickEnds.push(resolve))
    }
    if (holding.share <= before) {
      holding.nothingUntil = this.#deps.clock.monotonic() + nothingForMs
    }
  }

  #claimOf(holding: Holding): ShareRequest {
    const want = holding.share === 0 ? 'start' : 'more'
    const short = holding.share === 0 || holding.isShort()
    return this.#requestOf(holding, { want, short })
  }

  #requestOf(
    holding: Holding,
    { want, short }: { want: ShareRequest['want']; short: boolean },
  ): ShareRequest {
    const monotonic = this.#deps.clock.monotonic()
    const wholeInMs = Math.max(0, this.#limiter.wholeAt(holding.subject.id) - monotonic)
    const sinceTickMs = monotonic - this.#tickedAt
    return { ...holding.requirements(sinceTickMs), nodeId: this.#nodeId, want, short, wholeInMs }
  }

  async #settle(requests: readonly (readonly [Holding, ShareRequest])[]): Promise<void> {
    const { store, clock } = this.#deps
    const resets = this.#resets
    const node = { id: this.#nodeId, ttlMs: leaseMs }
    const { dealt, nodes, startedAt } = await store.transactionOnCalls(async (tx) => {
      // The lease counts from before the database reads its clock, in the try that is committed.
      const startedAt = clock.monotonic()
      return { startedAt, ...(await dealAll(tx, requests, node)) }
    })
    // The feed was reset during the transaction, so by now these shares may belong to another node.
    if (resets !== this.#resets) return
    this.#renewed(nodes, startedAt)
    for (const [at, [holding, request]] of requests.entries()) {
      const result = dealt[at]
      if (result !== undefined) this.#take(holding, request, result)
    }
  }

  #take(holding: Holding, request: ShareRequest, dealt: Dealt): void {
    const monotonic = this.#deps.clock.monotonic()
    const { id } = holding.subject
    // Carries over what was spent during the transaction; if the share grew, the same calls use a smaller part of it.
    const spentMs = Math.max(0, this.#limiter.wholeAt(id) - monotonic - request.wholeInMs)
    const weight = dealt.share === 0 ? 0 : Math.min(1, holding.share / dealt.share)
    const wholeInMs = dealt.share === 0 ? 0 : dealt.wholeInMs + spentMs * weight
    this.#limiter.setWholeAt(id, monotonic + wholeInMs, monotonic)
    holding.share = dealt.share
    holding.written = { share: dealt.share, demand: request.demand, short: dealt.short }
    holding.noteOthers(dealt.others)
  }

  #renewed(nodes: rateShares.RateNodes, startedAt: number): void {
    const { clock } = this.#deps
    // A renewal counts once it is committed; if the lease ended before that, other nodes may have taken the shares.
    if (this.#leaseEndsAt < clock.monotonic()) {
      for (const holding of this.#holdings.values()) {
        holding.share = 0
        holding.nothingUntil = 0
      }
    }
    this.#leaseEndsAt = startedAt + leaseMs - leaseMarginMs
    if (!nodes.live.isSupersetOf(this.#nodes)) {
      for (const holding of this.#holdings.values()) holding.forgetDead(nodes.live)
    }
    this.#nodes = nodes.live
    if (nodes.live.size > 1) this.#aloneSince = undefined
    else this.#aloneSince ??= clock.monotonic()
  }

  #tickSoon(ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#ticking = this.#tick()
        .catch(this.#deps.onError)
        .finally(() => {
          this.#ticking = undefined
          for (const resolve of this.#tickEnds.splice(0)) resolve()
          if (!this.#isShared || this.#closed) return
          // After a long tick, the next one comes at once, because the lease must not end in between.
          const nextAt = this.#tickedAt + tickMs
          this.#tickSoon(Math.max(0, nextAt - this.#deps.clock.monotonic()))
        })
    }, ms).unref()
  }

  async #tick(): Promise<void> {
    const { clock } = this.#deps
    const startedAt = clock.monotonic()
    const elapsedMs = Math.max(1, startedAt - this.#tickedAt)
    this.#tickedAt = startedAt
    const visited = this.#holdings.takeVisited(startedAt)
    for (const holding of visited) holding.roll(elapsedMs)
    try {
      await this.#listen()
      // Adds the holdings about which other nodes have just written.
      const all = [...new Set([...visited, ...this.#holdings.takeVisited(startedAt)])]
      visited.splice(0, visited.length, ...all)
      await this.#settler.settleAll(all, (holding) => this.#changeOf(holding))
    } catch (error) {
      // The next tick tries again.
      for (const holding of visited) this.#holdings.visit(holding)
      throw error
    }
    if (this.#aloneSince !== undefined && clock.monotonic() - this.#aloneSince > aloneAfterMs) {
      await this.#beAlone()
    }
  }

  /** Renews this node's lease and reads what others have written. */
  async #listen(): Promise<void> {
    const { store, clock } = this.#deps
    const nodeId = this.#nodeId
    const { nodes, startedAt, changed, next } = await store.transactionOnCalls(async (tx) => {
      const startedAt = clock.monotonic()
      const renewed = await rateShares.renewNode(tx, { id: nodeId, ttlMs: leaseMs })
      if (startedAt - this.#forgotAt > forgetEveryMs) {
        this.#forgotAt = startedAt
        const { now } = renewed
        await rateShares.forgetOld(tx, { before: now - keptMs, sourcesBefore: now - sourceKeptMs })
      }
      const found = await rateShares.listChanged(tx, nodeId, this.#readFrom)
      return { nodes: renewed, startedAt, ...found }
    })
    this.#renewed(nodes, startedAt)
    const changedAt = nodes.now - lookBackMs
    this.#readFrom = next ?? { changedAt, subjectId: '', nodeId: '' }
    for (const record of changed) {
      if (nodes.live.has(record.nodeId)) this.#holdings.noteOther(record)
    }
  }

  #changeOf(holding: Holding): ShareRequest | undefined {
    if (this.#holdings.get(holding.subject.id) !== holding) return undefined
    const change = holding.change(this.#deps.clock.monotonic())
    if (change === undefined) {
      const isForgotten = holding.share === 0 && holding.demand === 0 && holding.waiting === 0
      if (isForgotten && !holding.written.short) this.#holdings.forget(holding)
      else if (!holding.isQuiet) this.#holdings.visit(holding)
      return undefined
    }
    this.#holdings.visit(holding)
    const request = this.#requestOf(holding, change)
    // The returned part must not be spent any more, because the database may soon give it to another node.
    if (change.want < holding.share) holding.share = change.want
    return request
  }

  /** Stops sharing if no other node is left: from then on, this node spends whole rates, less what is already spent. */
  async #beAlone(): Promise<void> {
    const { store } = this.#deps
    const isStillAlone = await this.#settler.inTurn(
      async () =>
        await store.transactionOnCalls(async (tx) => {
          const { live } = await rateShares.renewNode(tx, { id: this.#nodeId, ttlMs: 1 })
          if (live.size <= 1) await rateShares.forgetAll(tx)
          return live.size <= 1
        }),
    )
    if (!isStillAlone) return
    this.#holdings.clear()
    // Another node has joined in the meantime and may get any share, because no rows are left: sharing continues.
    if (this.#aloneSince === undefined) return
    this.#isShared = false
    this.#nodes = new Set()
  }
}

const nothingHere: RateVerdict = { admitted: false, remaining: 0, resetSeconds: 1, retrySeconds: 1 }
