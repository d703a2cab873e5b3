import type { Rate } from '../../rate.ts'
import { Holding, type RateSubject } from './holding.ts'

const maxHoldings = 200_000
// Each source costs statements and rows: strangers with many addresses must not cause more of either.
const maxSources = 256

/** What a node holds of each subject's rate; bounded, with a tighter bound for strangers. */
export class Holdings {
  readonly #bySubject = new Map<string, Holding>()
  #sources = 0

  get size(): number {
    return this.#bySubject.size
  }

  get(subjectId: string): Holding | undefined {
    return this.#bySubject.get(subjectId)
  }

  values(): MapIterator<Holding> {
    return this.#bySubject.values()
  }

  /** Finds or makes a subject's holding; undefined for a stranger when all places for strangers are taken. */
  of(subject: RateSubject, rate: Rate, monotonic: number): Holding | undefined {
    const known = this.#bySubject.get(subject.id)
    if (known !== undefined) {
      known.rate = rate
      return known
    }
    if (subject.isSource === true && this.#sources >= maxSources) return undefined
    const holding = new Holding(subject, rate, monotonic)
    // Full: drops the oldest, whose share becomes free for others when this node's lease ends.
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

  clear(): void {
    this.#bySubject.clear()
    this.#sources = 0
  }
}
