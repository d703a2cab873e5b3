import type { Rate } from '../../rate.ts'
import type { rateShares } from '../../store/index.ts'
import { Holding, type RateSubject } from './holding.ts'

const maxHoldings = 200_000
// Each source costs statements and rows, and strangers with many addresses must not be able to cause too many of them.
const maxSources = 256
const sweepEveryMs = 10_000

/** A node's holdings by subject; their number is bounded, more tightly for sources of failed credentials. */
export class Holdings {
  readonly #bySubject = new Map<string, Holding>()
  #sources = 0
  #visited: Holding[] = []
  #sweptAt = 0

  get size(): number {
    return this.#bySubject.size
  }

  get(subjectId: string): Holding | undefined {
    return this.#bySubject.get(subjectId)
  }

  values(): MapIterator<Holding> {
    return this.#bySubject.values()
  }

  /** Finds or creates a subject's holding; undefined for a new source if too many sources are tracked already. */
  of(subject: RateSubject, rate: Rate, monotonic: number): Holding | undefined {
    const known = this.#bySubject.get(subject.id)
    if (known !== undefined) {
      known.rate = rate
      return known
    }
    if (subject.isSource === true && this.#sources >= maxSources) return undefined
    const holding = new Holding(subject, rate, monotonic)
    // Drops the oldest holding if there are too many. Its share then stays unused until this node asks for the subject
    // again or this node's lease ends.
    if (this.#bySubject.size >= maxHoldings) {
      const [oldest] = this.#bySubject.values()
      if (oldest !== undefined) this.forget(oldest)
    }
    this.#bySubject.set(subject.id, holding)
    if (subject.isSource === true) this.#sources += 1
    return holding
  }

  forget({ subject }: Holding): void {
    if (this.#bySubject.delete(subject.id) && subject.isSource === true) this.#sources -= 1
  }

  /** Marks a holding to be examined by the next tick, which skips unmarked ones. */
  visit(holding: Holding): void {
    if (holding.isVisited) return
    holding.isVisited = true
    this.#visited.push(holding)
  }

  /** Records another node's share of a rate, if this node tracks the same rate. */
  noteOther(record: rateShares.RateShareRecord): void {
    const holding = this.#bySubject.get(record.subjectId)
    if (holding === undefined) return
    holding.others.set(record.nodeId, record)
    this.visit(holding)
  }

  /**
   * Returns the holdings that were marked since the last call of this method; every ten seconds, also those that have
   * been idle for a long time.
   */
  takeVisited(monotonic: number): Holding[] {
    if (monotonic - this.#sweptAt > sweepEveryMs) {
      this.#sweptAt = monotonic
      for (const holding of this.#bySubject.values()) {
        if (holding.isIdle(monotonic)) this.visit(holding)
      }
    }
    const visited = this.#visited
    this.#visited = []
    for (const holding of visited) holding.isVisited = false
    return visited
  }

  clear(): void {
    this.#visited = []
    this.#bySubject.clear()
    this.#sources = 0
  }
}
