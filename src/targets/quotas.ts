import type { Quota } from '../access/index.ts'
import type { Clock } from '../clock.ts'
import type { OrganizationId } from '../ids.ts'
import { traffic, type Store } from '../store/index.ts'
import { publish } from '../webhooks/events/index.ts'

/** Whose calls are counted against what. */
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
  /** Seconds after which a refused call may be tried again. */
  readonly retrySeconds: number
}

/**
 * Counts of calls per calendar day or month (UTC), exact over all nodes: a node spends only what it has claimed in the
 * database before. It claims a little ahead of demand and gives back what it does not use.
 */
export interface Quotas extends AsyncDisposable {
  ask(subject: QuotaSubject, nowMs: number): QuotaVerdict | Promise<QuotaVerdict>
  /** Counts one call; only after `ask` has said yes, in the same turn. */
  spend(subject: QuotaSubject, nowMs: number): void
  /** Reports what was spent, claims ahead, gives back, and announces what was crossed. */
  flush(): Promise<void>
  /** What this node holds: quotas in use, and those of them that are used up. */
  state(): { readonly subjects: number; readonly exhausted: number }
}

/** What this node holds of one quota in one period. */
interface Holding {
  subject: QuotaSubject
  readonly periodAt: number
  /** Claimed and not spent. */
  available: number
  /** Spent and not reported. */
  pending: number
  /** As the database said last, over all nodes. */
  claimed: number
  spent: number
  /** Calls taken out of `available` that are on their way back to the store. */
  returning: number
  /** Calls that wait for a claim. */
  waiting: number
  /** Asked for since the last flush, and at the one before. */
  asked: number
  demand: number
  /** Monotonic time since which a claim has found nothing while others hold some. */
  shortSince: number | undefined
  /** Monotonic time until which nothing is claimed: there was nothing. */
  emptyUntil: number
}

/** A total that was reported and is to be announced. */
interface Crossing {
  readonly subject: QuotaSubject
  readonly periodAt: number
  readonly used: number
  readonly types: readonly QuotaEvent[]
}

const maxHoldings = 200_000
const maxDue = 10_000
const warnAtShare = 0.8
// A slice covers twice the demand between two flushes, and at most this part of what nobody has claimed.
const flushesAhead = 2
const maxSlice = 1 / 8
// Other nodes give back at their next flush what they do not use: so long a call waits rather than being refused.
const patienceMs = 750
const patiencePollMs = 50
const emptyForMs = 1000

/** Where quotas are claimed; the simulation has one of its own. */
interface QuotaBook {
  claim(claims: readonly traffic.QuotaClaim[]): Promise<traffic.QuotaStanding[]>
  announce(crossing: Crossing): Promise<void>
  /** Calls back when everything that was claimed before may be somebody else's. */
  onReset(reset: () => void): void
  wait(ms: number): Promise<void>
}

/** Opens the counts. */
export function createQuotas({ store, clock }: { store: Store; clock: Clock }): Quotas {
  const book: QuotaBook = {
    claim: async (claims) =>
      await store.transactionOnCalls(async (tx) => await traffic.claimQuotas(tx, claims)),
    announce: async (crossing) => await announce(store, crossing),
    onReset: (reset) => store.feed.onReset(reset),
    wait: async (ms) => await new Promise((resolve) => setTimeout(resolve, ms)),
  }
  return new ClaimedQuotas(book, clock)
}

/** Quotas that are spent only as far as they were claimed before. */
export class ClaimedQuotas implements Quotas {
  readonly #book: QuotaBook
  readonly #clock: Clock
  readonly #holdings = new Map<string, Holding>()
  // Reported and still to be announced: what cannot be said now is said with the next flush.
  readonly #due: Crossing[] = []
  #round: Promise<void> | undefined
  #nextRound: Promise<void> | undefined
  #nextIsWhole = false
  #closed = false

  constructor(book: QuotaBook, clock: Clock) {
    this.#book = book
    this.#clock = clock
    // What was claimed in another history of the database is not ours in this one.
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
      const isIdle = holding.asked === 0 && holding.demand === 0 && holding.waiting === 0
      // What nobody asks for is forgotten; the database knows it.
      if (isIdle && holding.pending + holding.available === 0) this.#holdings.delete(name)
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
        // A smaller quota: what was claimed under the larger one goes back, and is claimed anew if there is room.
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
    }
    // Full: what holds nothing is forgotten first, then the oldest, whose slice is lost until the period ends.
    if (this.#holdings.size >= maxHoldings) this.#forgetOne()
    this.#holdings.set(name, holding)
    return holding
  }

  #forgetOne(): void {
    let tried = 0
    for (const [name, { available, pending, waiting }] of this.#holdings) {
      tried += 1
      if (available + pending + waiting > 0 && tried < 1000) continue
      this.#holdings.delete(name)
      return
    }
  }

  /** Resolves when the holding has something, or when there is nothing to be had. */
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

  /** One round at a time; whoever comes while one is under way shares the next. */
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
    // Given back before the database says so: a call must not spend it meanwhile.
    for (const { holding, claim } of parts) {
      holding.available -= claim.returned - holding.returning
      holding.returning = 0
    }
    const claims = parts.map(({ claim }) => claim)
    const standings = await this.#book.claim(claims)
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
    // Once all is claimed nobody keeps more than what is asked for right now: the rest is for whoever asks.
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

  /** Whether there is nothing to be had: certainly once all is spent, else when nobody gave anything back for a while. */
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
        // Behind the others, so that one that never can be said stops none of them.
        if (this.#due.length < maxDue) this.#due.push(next)
        throw error
      }
    }
  }
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
    // What nobody has claimed and what this node holds: at least so many are left.
    remaining: Math.max(0, calls - claimed + available - 1),
    resetSeconds,
    // Other nodes may still give back what they do not use.
    retrySeconds: spent + pending < calls ? 1 : resetSeconds,
  }
}

/** How much of a quota is used in the present period, as the nodes have reported it, and when the next one begins. */
export async function quotaStanding(
  store: Store,
  { organizationId, subjectId, quota }: Omit<QuotaSubject, 'kind'>,
  nowMs: number,
): Promise<{ readonly used: number; readonly resetsAt: number }> {
  const periodAt = periodStart(quota.period, nowMs)
  const used = await traffic.quotaUse(store.slowCallReads, organizationId, { subjectId, periodAt })
  return { used, resetsAt: periodEnd(quota.period, nowMs) }
}

/** The first moment of the period that holds a time, UTC. */
function periodStart(period: Quota['period'], nowMs: number): number {
  const now = new Date(nowMs)
  const day = period === 'day' ? now.getUTCDate() : 1
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), day)
}

function periodEnd(period: Quota['period'], nowMs: number): number {
  const now = new Date(nowMs)
  return period === 'day'
    ? Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1)
    : Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)
}

// The total grows in steps, each by one node: exactly one of them crosses a mark. Whoever spends it all at once has
// passed the warning too: a receiver of warnings hears of it.
type QuotaEvent = 'quota.warning' | 'quota.exhausted'

function crossedBy(quota: Quota, before: number, after: number): QuotaEvent[] {
  const crossed = (mark: number) => before < mark && after >= mark
  return [
    ...(crossed(Math.ceil(quota.calls * warnAtShare)) ? (['quota.warning'] as const) : []),
    ...(crossed(quota.calls) ? (['quota.exhausted'] as const) : []),
  ]
}
