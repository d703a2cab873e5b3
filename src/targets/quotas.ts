import type { Quota } from '../access/index.ts'
import type { Clock } from '../clock.ts'
import type { OrganizationId } from '../ids.ts'
import { changedNothing, traffic, UnknownOrganization, type Store } from '../store/index.ts'
import { publish } from '../webhooks/events/index.ts'
import { periodEnd, periodStart } from './quota-period.ts'

/** The key or target whose calls count against a quota. */
export interface QuotaSubject {
  readonly organizationId: OrganizationId
  readonly subjectId: string
  readonly kind: 'key' | 'target'
  readonly quota: Quota
}

export interface QuotaVerdict {
  readonly admitted: boolean
  readonly remaining: number
  /** Seconds until the next period begins. */
  readonly resetSeconds: number
  /** Seconds until a refused call may be retried. */
  readonly retrySeconds: number
}

/**
 * Counts calls per calendar day or month (UTC), exactly across all nodes: a node spends only what it has already
 * claimed in the database. A node claims slightly ahead of demand and returns what it does not use.
 */
export interface Quotas extends AsyncDisposable {
  ask(subject: QuotaSubject, nowMs: number): QuotaVerdict | Promise<QuotaVerdict>
  /** Counts one call, which `ask` must have admitted in the same event-loop turn. */
  spend(subject: QuotaSubject, nowMs: number): void
  /** Reports spent calls, claims ahead, returns unused claims, and announces crossed thresholds. */
  flush(): Promise<void>
  /** The number of quotas in use on this node, and how many of them are exhausted. */
  state(): { readonly subjects: number; readonly exhausted: number }
}

/** This node's share of one quota in one period. */
interface Holding {
  subject: QuotaSubject
  readonly periodAt: number
  /** Claimed but not spent. */
  available: number
  /** Spent but not yet reported. */
  pending: number
  /** What all nodes have claimed and what they have spent, as the database last reported. */
  claimed: number
  spent: number
  /** Claimed calls that the next claim returns to the database; they are no longer part of `available`. */
  returning: number
  /** Whether a claim is on its way to the database: it may add to `available` or, if it fails, to `returning`. */
  isClaiming: boolean
  /** Calls waiting for a claim. */
  waiting: number
  /** Calls requested since the last flush. */
  asked: number
  /** Calls expected until the next flush: as many as in the last interval, or half the former estimate if greater. */
  demand: number
  /** The monotonic time in milliseconds since which claims have got nothing; undefined if the last one got some. */
  shortSince: number | undefined
  /** The monotonic time in milliseconds until which nothing is claimed, because nothing was left. */
  emptyUntil: number
}

/** A total that has crossed one or both thresholds; the crossing must be announced. */
interface Crossing {
  readonly subject: QuotaSubject
  readonly periodAt: number
  readonly used: number
  readonly types: readonly QuotaEvent[]
}

const usualMaxHoldings = 200_000
const maxDue = 10_000
const warnAtShare = 0.8
// A claim ahead covers twice the demand between two flushes, but at most an eighth of what is still unclaimed.
const flushesAhead = 2
const maxSlice = 1 / 8
// Other nodes return unused claims at their next flush; a call waits up to this long for that before it is refused.
const patienceMs = 750
const patiencePollMs = 50
const emptyForMs = 1000

/** The store in which quotas are claimed; tests hand in simulated ones. */
interface QuotaBook {
  claim(claims: readonly traffic.QuotaClaim[]): Promise<traffic.QuotaStanding[]>
  /** Whether a claim that failed with this error certainly had no effect. */
  changedNothing(error: unknown): boolean
  announce(crossing: Crossing): Promise<void>
  /** Calls `reset` when the database may no longer contain this node's claims. */
  onReset(reset: () => void): void
  wait(ms: number): Promise<void>
}

export function createQuotas({ store, clock }: { store: Store; clock: Clock }): Quotas {
  const book: QuotaBook = {
    claim: async (claims) =>
      await store.transactionOnCallsThroughLocks(
        async (tx) => await traffic.claimQuotas(tx, claims),
      ),
    changedNothing,
    announce: async (crossing) => await announce(store, crossing),
    onReset: (reset) => store.feed.onReset(reset),
    wait: async (ms) => await new Promise((resolve) => setTimeout(resolve, ms)),
  }
  return new ClaimedQuotas(book, clock)
}

export class ClaimedQuotas implements Quotas {
  readonly #book: QuotaBook
  readonly #clock: Clock
  readonly #maxHoldings: number
  readonly #holdings = new Map<string, Holding>()
  // Crossings still to be announced; a failed announcement is retried at the next flush.
  readonly #due: Crossing[] = []
  #round: Promise<void> | undefined
  #nextRound: Promise<void> | undefined
  #nextIsWhole = false
  /** Counts resets: a claim or return from before a reset means nothing after it. */
  #resets = 0
  #closed = false

  constructor(book: QuotaBook, clock: Clock, maxHoldings = usualMaxHoldings) {
    this.#book = book
    this.#clock = clock
    this.#maxHoldings = maxHoldings
    book.onReset(() => this.#dropClaims())
  }

  ask(subject: QuotaSubject, nowMs: number): QuotaVerdict | Promise<QuotaVerdict> {
    const holding = this.#holdingOf(subject, nowMs)
    holding.asked += 1
    if (holding.available > 0) return verdict(holding, nowMs)
    if (this.#closed || holding.emptyUntil > this.#clock.monotonic()) return verdict(holding, nowMs)
    return this.#claimFor(holding).then(() => verdict(holding, nowMs))
  }

  spend(subject: QuotaSubject, nowMs: number): void {
    const holding = this.#holdingOf(subject, nowMs)
    holding.available -= 1
    holding.pending += 1
  }

  async flush(): Promise<void> {
    for (const [name, holding] of this.#holdings) {
      // An idle quota is forgotten, because the database knows its state.
      const isIdle = holding.asked === 0 && holding.demand === 0
      if (isIdle && isEmpty(holding)) this.#holdings.delete(name)
      holding.demand = Math.max(holding.asked, Math.floor(holding.demand / 2))
      holding.asked = 0
    }
    await this.#deal('whole')
    await this.#announceAll()
  }

  state(): { readonly subjects: number; readonly exhausted: number } {
    let exhausted = 0
    for (const { spent, pending, subject } of this.#holdings.values()) {
      if (spent + pending >= subject.quota.calls) exhausted += 1
    }
    return { subjects: this.#holdings.size, exhausted }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    await this.#deal('whole').catch(() => undefined)
  }

  #holdingOf(subject: QuotaSubject, nowMs: number): Holding {
    const { subjectId, quota } = subject
    const periodAt = periodStart(quota.period, nowMs)
    const name = `${subjectId} ${periodAt}`
    const known = this.#holdings.get(name)
    if (known !== undefined) {
      if (known.subject.quota.calls !== quota.calls) {
        known.emptyUntil = 0
        known.shortSince = undefined
        // The quota was reduced: calls claimed under the old one are returned, and claimed again if the new one allows.
        if (quota.calls < known.subject.quota.calls) {
          known.returning += known.available
          known.available = 0
        }
      }
      known.subject = subject
      return known
    }
    const holding: Holding = {
      ...{ subject, periodAt, available: 0, returning: 0, pending: 0, claimed: 0, spent: 0 },
      ...{ waiting: 0, asked: 0, demand: 0, shortSince: undefined, emptyUntil: 0 },
      isClaiming: false,
    }
    // Forgets the oldest empty holding. If none of the 999 oldest is empty, the thousandth and its claims are lost.
    if (this.#holdings.size >= this.#maxHoldings) this.#forgetOne()
    this.#holdings.set(name, holding)
    return holding
  }

  #forgetOne(): void {
    let tried = 0
    for (const [name, holding] of this.#holdings) {
      tried += 1
      if (!isEmpty(holding) && tried < 1000) continue
      this.#holdings.delete(name)
      return
    }
  }

  /** Claims part of the quota for a waiting call; resolves when some is available, or when none is expected for now. */
  async #claimFor(holding: Holding): Promise<void> {
    holding.waiting += 1
    try {
      while (holding.available < 1 && holding.emptyUntil <= this.#clock.monotonic()) {
        await this.#deal('waiting')
        if (holding.available < 1 && holding.shortSince !== undefined) {
          await this.#book.wait(patiencePollMs)
        }
      }
    } finally {
      holding.waiting -= 1
    }
  }

  /** Runs one round of claims at a time; whatever is asked for during a round is done in the next one. */
  async #deal(which: 'whole' | 'waiting'): Promise<void> {
    const running = this.#round
    this.#nextIsWhole ||= which === 'whole'
    this.#nextRound ??= (async () => {
      await running?.catch(() => undefined)
      const isWhole = this.#nextIsWhole
      this.#nextRound = undefined
      this.#nextIsWhole = false
      this.#round = this.#write((holding) => isWhole || holding.waiting > 0)
      await this.#round
    })()
    await this.#nextRound
  }

  async #write(takesPart: (holding: Holding) => boolean): Promise<void> {
    const parts: { holding: Holding; claim: traffic.QuotaClaim }[] = []
    for (const holding of this.#holdings.values()) {
      if (!takesPart(holding)) continue
      const claim = this.#claimOf(holding)
      if (claim.spent + claim.wanted + claim.returned > 0) parts.push({ holding, claim })
    }
    if (parts.length === 0) return
    // Returned calls are deducted before the database confirms their return, so that nobody spends them meanwhile.
    for (const { holding, claim } of parts) {
      holding.available -= claim.returned - holding.returning
      holding.returning = 0
      holding.isClaiming = true
    }
    const resets = this.#resets
    const claims = parts.map(({ claim }) => claim)
    const claiming = this.#book.claim(claims).finally(() => {
      for (const { holding } of parts) holding.isClaiming = false
    })
    const standings = await claiming.catch((error: unknown) => {
      // Unused claims are returned with the next claim, unless the database may have taken them back already.
      const isKept = resets === this.#resets && this.#book.changedNothing(error)
      if (isKept) for (const { holding, claim } of parts) holding.returning += claim.returned
      throw error
    })
    if (resets !== this.#resets) return
    for (const [at, { holding, claim }] of parts.entries()) {
      const standing = standings[at]
      if (standing !== undefined) this.#settle(holding, claim, standing)
    }
  }

  #claimOf(holding: Holding): traffic.QuotaClaim {
    const { subject, periodAt, available, waiting, demand, pending, claimed } = holding
    const { organizationId, subjectId, quota } = subject
    const unclaimed = Math.max(0, quota.calls - claimed)
    const ahead = Math.min(demand * flushesAhead, Math.floor(unclaimed * maxSlice))
    // Once everything is claimed, a node keeps only as many calls as are waiting, and leaves the rest to other nodes.
    const kept = this.#closed ? 0 : waiting + ahead
    const isEmpty = holding.emptyUntil > this.#clock.monotonic()
    return {
      ...{ organizationId, subjectId, periodAt, limit: quota.calls, spent: pending },
      wanted: isEmpty ? 0 : Math.max(0, kept - available),
      returned: holding.returning + Math.max(0, available - kept),
    }
  }

  #settle(holding: Holding, claim: traffic.QuotaClaim, standing: traffic.QuotaStanding): void {
    holding.pending -= claim.spent
    holding.available += standing.granted
    holding.claimed = standing.claimed
    holding.spent = standing.spent
    this.#judge(holding, claim)
    const types = crossedBy(holding.subject.quota, standing.spent - claim.spent, standing.spent)
    if (types.length === 0 || this.#due.length >= maxDue) return
    const { subject, periodAt } = holding
    this.#due.push({ subject, periodAt, used: standing.spent, types })
  }

  /**
   * Stops claiming for a second if a claim got nothing and more can't be expected: all calls are spent, or no node has
   * returned any for a while.
   */
  #judge(holding: Holding, claim: traffic.QuotaClaim): void {
    if (claim.wanted === 0) return
    if (holding.available > 0) {
      holding.shortSince = undefined
      return
    }
    const monotonic = this.#clock.monotonic()
    holding.shortSince ??= monotonic
    const isSpent = holding.spent + holding.pending >= holding.subject.quota.calls
    if (isSpent || monotonic - holding.shortSince >= patienceMs) {
      holding.emptyUntil = monotonic + emptyForMs
    }
  }

  #dropClaims(): void {
    this.#resets += 1
    for (const holding of this.#holdings.values()) {
      holding.available = 0
      holding.returning = 0
      holding.emptyUntil = 0
      holding.shortSince = undefined
    }
  }

  async #announceAll(): Promise<void> {
    for (let next = this.#due.shift(); next !== undefined; next = this.#due.shift()) {
      try {
        await this.#book.announce(next)
      } catch (error) {
        if (error instanceof UnknownOrganization) continue
        // The crossing goes to the end of the queue, so that one that can never be announced does not block the others.
        if (this.#due.length < maxDue) this.#due.push(next)
        throw error
      }
    }
  }
}

/** Whether a holding can be forgotten without losing spent, claimed or waiting calls. */
function isEmpty({ available, pending, returning, waiting, isClaiming }: Holding): boolean {
  return available + pending + returning + waiting === 0 && !isClaiming
}

async function announce(store: Store, { subject, periodAt, used, types }: Crossing): Promise<void> {
  const { organizationId, subjectId, kind, quota } = subject
  await store.transaction(async (tx) => {
    for (const type of types) {
      publish(tx, {
        organizationId,
        type,
        data: {
          subject: kind,
          [`${kind}_id`]: subjectId,
          calls: quota.calls,
          period: quota.period,
          used,
          period_started_at: new Date(periodAt).toISOString(),
        },
      })
    }
  })
}

function verdict(holding: Holding, nowMs: number): QuotaVerdict {
  const { subject, available, claimed, spent, pending } = holding
  const { calls, period } = subject.quota
  const resetSeconds = Math.max(1, Math.ceil((periodEnd(period, nowMs) - nowMs) / 1000))
  return {
    admitted: available > 0,
    // An estimate: the calls that no node had claimed at the last report, plus those available here, minus this call.
    remaining: Math.max(0, calls - claimed + available - 1),
    resetSeconds,
    // Other nodes may still return unused claims.
    retrySeconds: spent + pending < calls ? 1 : resetSeconds,
  }
}

/** Returns a quota's use in the current period, as the nodes last reported, and when the next period begins. */
export async function quotaStanding(
  store: Store,
  { organizationId, subjectId, quota }: Omit<QuotaSubject, 'kind'>,
  nowMs: number,
): Promise<{ readonly used: number; readonly resetsAt: number }> {
  const periodAt = periodStart(quota.period, nowMs)
  const used = await traffic.quotaUse(store.slowCallReads, organizationId, { subjectId, periodAt })
  return { used, resetsAt: periodEnd(quota.period, nowMs) }
}

type QuotaEvent = 'quota.warning' | 'quota.exhausted'

// Returns the events for the thresholds that the total has crossed with this report.
function crossedBy(quota: Quota, before: number, after: number): QuotaEvent[] {
  const crossed = (mark: number) => before < mark && after >= mark
  return [
    ...(crossed(Math.ceil(quota.calls * warnAtShare)) ? (['quota.warning'] as const) : []),
    ...(crossed(quota.calls) ? (['quota.exhausted'] as const) : []),
  ]
}
