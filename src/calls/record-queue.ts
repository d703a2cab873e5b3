import type { Clock } from '../clock.ts'
import {
  callPartitions,
  CallRowsBuffer,
  type CallRecord,
  type CallRows,
  type Store,
} from '../store/index.ts'

const maxWaiting = 100_000
const rowsInCommit = 512
const partitionsEveryMs = 3_600_000

/** Call records on their way to the database: kept as bytes, written in batches, oldest first. */
export class RecordQueue {
  readonly #store: Store
  readonly #clock: Clock
  readonly #report: (error: unknown) => void
  readonly #rows = new CallRowsBuffer()
  /** Batches that are not written yet, oldest first. */
  readonly #batches: CallRows[] = []
  #waiting = 0
  #isFailing = false
  #partitionsDueAt = -Infinity

  constructor(given: { store: Store; clock: Clock; report: (error: unknown) => void }) {
    this.#store = given.store
    this.#clock = given.clock
    this.#report = given.report
  }

  /** Records that are not written yet. */
  get waiting(): number {
    return this.#waiting
  }

  /** Whether there is enough for a commit of its own. */
  get isDue(): boolean {
    return this.#rows.count >= rowsInCommit && !this.#isFailing
  }

  /** Takes a record; false when too many wait already. */
  add(entry: CallRecord): boolean {
    if (this.#waiting >= maxWaiting) return false
    this.#rows.add(entry)
    this.#waiting++
    return true
  }

  async write(): Promise<void> {
    this.#batches.push(...this.#rows.take())
    if (this.#batches.length > 0) await this.#makePartitions()
    for (let batch = this.#batches[0]; batch !== undefined; batch = this.#batches[0]) {
      this.#isFailing = true
      await this.#store.insertCalls(batch)
      this.#isFailing = false
      // Only now: what could not be written is tried again, at the next turn of the timer.
      this.#batches.shift()
      this.#waiting -= batch.count
    }
  }

  /** Made ahead by whoever writes, so that they are there whichever nodes run; a day without one has a place too. */
  async #makePartitions(): Promise<void> {
    const monotonic = this.#clock.monotonic()
    if (this.#store.engine === 'sqlite' || monotonic < this.#partitionsDueAt) return
    this.#partitionsDueAt = monotonic + partitionsEveryMs
    try {
      await this.#store.transactionOnCalls(async (tx) => await callPartitions.makePartitions(tx))
    } catch (error) {
      this.#report(error)
    }
  }
}
