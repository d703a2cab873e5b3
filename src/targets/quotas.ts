import type { Quota } from '../access/index.ts'
import type { OrganizationId } from '../ids.ts'
import { traffic, type Store } from '../store/index.ts'
import { publish } from '../webhooks/index.ts'

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
}

/** Counts of calls per calendar day or month (UTC): here at once, in the database once a second, summed over all nodes. */
export interface Quotas {
  ask(subject: QuotaSubject, nowMs: number): QuotaVerdict | Promise<QuotaVerdict>
  /** Counts one call; only after `ask` has said yes. */
  spend(subject: QuotaSubject, nowMs: number): void
  /** Writes what was counted, and hears what other nodes have counted. */
  flush(): Promise<void>
}

interface Use {
  readonly subject: QuotaSubject
  readonly periodAt: number
  /** What the database knew last. */
  base: number
  pending: number
  /** Whether nobody has asked since the last flush. */
  idle: boolean
}

const usesAtMost = 200_000
const dueAtMost = 10_000
const warnAtShare = 0.8

/** A total that was written and is to be announced. */
interface Crossing {
  readonly use: Use
  readonly used: number
  readonly types: readonly string[]
}

/** Opens the counts. */
export function createQuotas(store: Store): Quotas {
  const uses = new Map<string, Use>()
  const loading = new Map<string, Promise<Use>>()
  // Written and still to be announced: what cannot be said now is said with the next flush.
  const due: Crossing[] = []
  let flushing: Promise<void> | undefined

  function ask(subject: QuotaSubject, nowMs: number): QuotaVerdict | Promise<QuotaVerdict> {
    const use = present(subject, nowMs)
    return use === undefined
      ? load(subject, nowMs).then((loaded) => verdict(subject.quota, loaded, nowMs))
      : verdict(subject.quota, use, nowMs)
  }

  function present(subject: QuotaSubject, nowMs: number): Use | undefined {
    const use = uses.get(subject.subjectId)
    if (use?.periodAt !== periodStart(subject.quota.period, nowMs)) return undefined
    use.idle = false
    return use
  }

  async function load(subject: QuotaSubject, nowMs: number): Promise<Use> {
    const periodAt = periodStart(subject.quota.period, nowMs)
    const name = `${subject.subjectId} ${periodAt}`
    const running = loading.get(name)
    if (running !== undefined) return await running
    const read = (async () => {
      const { organizationId, subjectId } = subject
      const base = await traffic.findQuotaUse(store.calls, organizationId, subjectId, periodAt)
      const use: Use = { subject, periodAt, base, pending: 0, idle: false }
      if (uses.size >= usesAtMost) await flush()
      uses.set(subjectId, use)
      return use
    })()
    loading.set(name, read)
    try {
      return await read
    } finally {
      loading.delete(name)
    }
  }

  // One after the other: two at once would write the same calls twice.
  async function flush(): Promise<void> {
    flushing ??= writePending().finally(() => {
      flushing = undefined
    })
    await flushing
  }

  async function writePending(): Promise<void> {
    const dirty: { use: Use; calls: number }[] = []
    for (const [subjectId, use] of uses) {
      if (use.pending > 0) dirty.push({ use, calls: use.pending })
      // What nobody asks for is forgotten; the database knows it.
      else if (use.idle) uses.delete(subjectId)
      use.idle = true
    }
    if (dirty.length > 0) await write(dirty)
    for (let next = due.shift(); next !== undefined; next = due.shift()) {
      try {
        await announce(next)
      } catch (error) {
        // Behind the others, so that one that never can be said stops none of them.
        if (due.length < dueAtMost) due.push(next)
        throw error
      }
    }
  }

  async function write(dirty: readonly { use: Use; calls: number }[]): Promise<void> {
    const totals = await store.transactionOnCalls(async (tx) => {
      const sums: number[] = []
      for (const { use, calls } of dirty) {
        const { organizationId, subjectId } = use.subject
        sums.push(
          await traffic.addQuotaUse(tx, {
            organizationId,
            subjectId,
            periodAt: use.periodAt,
            calls,
          }),
        )
      }
      return sums
    })
    for (const [at, { use, calls }] of dirty.entries()) {
      const total = totals[at] ?? use.base + calls
      use.pending -= calls
      use.base = total
      const crossing = {
        use,
        used: total,
        types: crossedBy(use.subject.quota, total - calls, total),
      }
      if (crossing.types.length > 0 && due.length < dueAtMost) due.push(crossing)
    }
  }

  async function announce({ use, used, types }: Crossing): Promise<void> {
    const { organizationId, subjectId, kind, quota } = use.subject
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
            period_started_at: new Date(use.periodAt).toISOString(),
          },
        })
      }
    })
  }

  return {
    ask,
    spend(subject, nowMs) {
      const use = present(subject, nowMs)
      if (use !== undefined) use.pending++
    },
    flush,
  }
}

function verdict(quota: Quota, use: Use, nowMs: number): QuotaVerdict {
  const used = use.base + use.pending
  return {
    admitted: used < quota.calls,
    remaining: Math.max(0, quota.calls - used - 1),
    resetSeconds: Math.max(1, Math.ceil((periodEnd(quota.period, nowMs) - nowMs) / 1000)),
  }
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
function crossedBy(quota: Quota, before: number, after: number): string[] {
  const crossed = (mark: number) => before < mark && after >= mark
  return [
    ...(crossed(Math.ceil(quota.calls * warnAtShare)) ? ['quota.warning'] : []),
    ...(crossed(quota.calls) ? ['quota.exhausted'] : []),
  ]
}
