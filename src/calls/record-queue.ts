import type { Clock } from '../clock.ts'
import {
  callPartitions,
  calls,
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
const partitionsEveryMs = 3_600_000

/** Records and the counts of their calls, written in one commit. */
interface Batch {
  readonly rows: CallRows
  readonly counts: readonly CountRows[]
  /** Its commit failed, or its answer was lost. */
  wasTried: boolean
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

  /** Counts a call, whether its record is kept or not. */
  count(entry: CallRecord): void {
    this.#counts.add(entry)
  }

  async write(): Promise<void> {
    // What waits is written first: while the database is away, counts go on adding up where they are.
    if (this.#batches.length === 0) this.#collect()
    if (this.#batches.length > 0) await this.#makePartitions()
    for (let batch = this.#batches[0]; batch !== undefined; batch = this.#batches[0]) {
      this.#isFailing = true
      await this.#writeOnce(batch)
      this.#isFailing = false
      // Only now: what could not be written is tried again, at the next turn of the timer.
      this.#batches.shift()
      this.#waiting -= batch.rows.count
    }
  }

  #collect(): void {
    const all = this.#rows.take()
    const counts = this.#counts.take()
    const last = all.pop() ?? noCallRows
    for (const rows of all) this.#batches.push({ rows, counts: [], wasTried: false })
    if (last.count > 0 || counts.length > 0) {
      this.#batches.push({ rows: last, counts, wasTried: false })
    }
  }

  /** A commit whose answer was lost is not counted a second time: its records are there. */
  async #writeOnce(batch: Batch): Promise<void> {
    const { rows, counts, wasTried } = batch
    if (wasTried && (await calls.areWritten(this.#store.calls, rows))) return
    batch.wasTried = true
    await this.#store.insertCalls(rows, counts)
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
