import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../clock.ts'
import {
  callPartitions,
  CallRowsBuffer,
  noCallRows,
  type CallRecord,
  type CallRows,
  type CountRows,
  type Store,
} from '../store/index.ts'
import { CallCounts } from './call-counts.ts'

const maxWaiting = 100_000
const rowsInCommit = 512
/** Each becomes up to seven rows, made on the calls' thread in about 15 µs. */
const countsInCommit = 500
const partitionsEveryMs = 3_600_000

/** Records and the counts of their calls, written in one commit. */
interface Batch {
  readonly rows: CallRows
  /** Taken when it is first tried, so that they are made into rows batch by batch. */
  counts: readonly CountRows[] | undefined
}

/** Call records and counts on their way to the database: records are kept as bytes, and written in batches, oldest first. */
export class RecordQueue {
  readonly #store: Store
  readonly #clock: Clock
  readonly #report: (error: unknown) => void
  readonly #rows = new CallRowsBuffer()
  /** Batches that are not written yet, oldest first. */
  readonly #batches: Batch[] = []
  readonly #counts = new CallCounts()
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

  /** Counts a call, whether its record is kept or not; false when there is no place for more counts. */
  count(entry: CallRecord): boolean {
    return this.#counts.add(entry)
  }

  async write(): Promise<void> {
    // What waits is written first: while the database is away, counts go on adding up where they are.
    if (this.#batches.length > 0) await this.#writeAll()
    this.#collect()
    await this.#writeAll()
  }

  /** As many batches as there are records or counts for; counts go with the first, so that they are not behind records. */
  #collect(): void {
    const all = this.#rows.take()
    const batches = Math.max(all.length, Math.ceil(this.#counts.size / countsInCommit))
    for (let at = 0; at < batches; at++) {
      this.#batches.push({ rows: all[at] ?? noCallRows, counts: undefined })
    }
  }

  async #writeAll(): Promise<void> {
    if (this.#batches.length > 0) await this.#makePartitions()
    for (let batch = this.#batches[0]; batch !== undefined; batch = this.#batches[0]) {
      batch.counts ??= this.#counts.take(countsInCommit)
      this.#isFailing = true
      await this.#store.insertCalls(batch.rows, batch.counts)
      this.#isFailing = false
      // Only now: what could not be written is tried again, at the next turn of the timer.
      this.#batches.shift()
      this.#waiting -= batch.rows.count
      // Calls come first.
      if (this.#batches.length > 0) await setImmediate()
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
