import { traffic, type CallRecord, type Store } from '../store/index.ts'
import { dayMs, minuteMs } from '../units.ts'

type Mutable<T> = { -readonly [K in keyof T]: T[K] }
type Minute = Mutable<traffic.MinuteCounts>
type RuleDay = Mutable<traffic.RuleCounts>

/** Counts of calls per minute, target and check, and of what rules decided per day; exact whatever records are kept. */
export class CallSums {
  readonly #store: Store
  #minutes = new Map<string, Minute>()
  #last: Minute | undefined
  #ruleDays = new Map<string, RuleDay>()

  constructor(store: Store) {
    this.#store = store
  }

  add(entry: CallRecord): void {
    addTo(this.#minuteOf(entry), entry)
    if (entry.ruleId !== undefined) this.#ruleDayOf(entry, entry.ruleId).decided++
    if (entry.trialRuleId !== undefined) this.#ruleDayOf(entry, entry.trialRuleId).wouldRefuse++
  }

  /** Writes what was counted; what cannot be written is counted on. */
  async write(): Promise<void> {
    if (this.#minutes.size === 0 && this.#ruleDays.size === 0) return
    const [minutes, ruleDays] = [this.#minutes, this.#ruleDays]
    this.#minutes = new Map()
    this.#ruleDays = new Map()
    this.#last = undefined
    try {
      await this.#store.transactionOnCalls(async (tx) => {
        await traffic.addMinutes(tx, [...minutes.values()])
        await traffic.addRuleDays(tx, [...ruleDays.values()])
      })
    } catch (error) {
      for (const [name, counts] of minutes) {
        this.#minutes.set(name, addUp(counts, this.#minutes.get(name)))
      }
      for (const [name, counts] of ruleDays) {
        this.#ruleDays.set(name, addUp(counts, this.#ruleDays.get(name)))
      }
      // It may be one of those that were just replaced.
      this.#last = undefined
      throw error
    }
  }

  #minuteOf(entry: CallRecord): Minute {
    const minute = entry.at - (entry.at % minuteMs)
    const targetId = entry.targetId ?? ''
    const stoppedAt = entry.stoppedAt ?? ''
    const last = this.#last
    // Most calls are counted where the one before was.
    if (
      last?.minute === minute &&
      last.targetId === targetId &&
      last.stoppedAt === stoppedAt &&
      last.organizationId === entry.organizationId
    ) {
      return last
    }
    const name = `${entry.organizationId}${minute}${targetId}${stoppedAt}`
    let counts = this.#minutes.get(name)
    if (counts === undefined) {
      const { organizationId } = entry
      counts = { organizationId, minute, targetId, stoppedAt, ...noCounts }
      this.#minutes.set(name, counts)
    }
    this.#last = counts
    return counts
  }

  #ruleDayOf(entry: CallRecord, ruleId: string): RuleDay {
    const dayAt = entry.at - (entry.at % dayMs)
    const name = `${ruleId}${dayAt}`
    let counts = this.#ruleDays.get(name)
    if (counts === undefined) {
      const { organizationId } = entry
      counts = { organizationId, ruleId, dayAt, decided: 0, wouldRefuse: 0 }
      this.#ruleDays.set(name, counts)
    }
    return counts
  }
}

function addTo(counts: Minute, entry: CallRecord): void {
  counts.calls++
  if (entry.status >= 500) counts.errors++
  counts.bytesIn += entry.bytesIn
  counts.bytesOut += entry.bytesOut
  counts.durationUs += entry.durationUs
}

const noCounts = { calls: 0, errors: 0, bytesIn: 0, bytesOut: 0, durationUs: 0 }

/** Two counts of the same thing as one; everything that is a sum is a number and grows. */
function addUp<T extends Minute | RuleDay>(earlier: T, later: T | undefined): T {
  if (later === undefined) return earlier
  const sum = { ...later }
  for (const name of sums) {
    if (name in sum) Object.assign(sum, { [name]: countOf(earlier, name) + countOf(later, name) })
  }
  return sum
}

const sums = [...Object.keys(noCounts), 'decided', 'wouldRefuse']

function countOf(counts: object, name: string): number {
  return Number((counts as Record<string, unknown>)[name] ?? 0)
}
