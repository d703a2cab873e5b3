import type { Clock } from '../clock.ts'
import {
  callPartitions,
  createCallRowsBuffer,
  halvesOf,
  isRefusedForGood,
  noCallRows,
  type CallRecord,
  type CallRows,
  type CallRowsBuffer,
  type CountRows,
  type Store,
} from '../store/index.ts'
import { nextTurn } from '../timers.ts'
import { hourMs } from '../units.ts'
import { CallCounts } from './call-counts.ts'

const maxWaiting = 100_000
/**
 * The maximum number of counts of calls, and likewise of rules, in one commit. A count of calls becomes up to seven
 * rows, which takes about 15 µs on the thread that also serves calls.
 */
const countsInCommit = 500
const partitionsEveryMs = hourMs

/** Records and counts that are written in one commit. */
interface Batch {
  readonly rows: CallRows
  /** Undefined until the first attempt to write, so that counts become rows one batch at a time. */
  counts: readonly CountRows[] | undefined
}

/** Holds call records (as bytes) and counts until they are written to the database, in batches and oldest first. */
export class RecordQueue {
  readonly #store: Store
  readonly #clock: Clock
  readonly #report: (error: unknown) => void
  readonly #dropped: () => void
  readonly #rows: CallRowsBuffer
  readonly #batches: Batch[] = []
  readonly #counts = new CallCounts()
  #waiting = 0
  #isFailing = false
  #writing: Promise<void> | undefined
  #partitionsDueAt = -Infinity

  constructor(given: {
    store: Store
    clock: Clock
    report: (error: unknown) => void
    /** Called for each record that the database refused. */
    dropped: () => void
  }) {
    this.#store = given.store
    this.#rows = createCallRowsBuffer(given.store.engine)
    this.#clock = given.clock
    this.#report = given.report
    this.#dropped = given.dropped
  }

  /** The number of records not written yet. */
  get waiting(): number {
    return this.#waiting
  }

  /**
   * Whether enough records wait to fill a commit. False while something is being written, and after a batch has failed:
   * the timer retries it.
   */
  get isDue(): boolean {
    return this.#rows.isDue && !this.#isFailing && this.#writing === undefined
  }

  /** Adds a record; returns false if too many are waiting already, or if one of its numbers is not whole. */
  add(entry: CallRecord): boolean {
    if (this.#waiting >= maxWaiting) return false
    if (!hasWholeNumbers(entry)) {
      this.#report(new Error('a number of a call record is not whole'))
      return false
    }
    this.#rows.add(entry)
    this.#waiting++
    return true
  }

  /** Counts a call, whether or not its record is kept; returns false if memory is full. */
  count(entry: CallRecord): boolean {
    return this.#counts.add(entry)
  }

  /**
   * Writes what waits, after what is being written. Full commits of records are written without counts, because counts
   * add up in memory meanwhile and are then fewer rows.
   */
  async write(what: 'all' | 'records'): Promise<void> {
    while (this.#writing !== undefined) await this.#writing.catch(() => undefined)
    this.#writing = this.#write(what)
    try {
      await this.#writing
    } finally {
      this.#writing = undefined
    }
  }

  async #write(what: 'all' | 'records'): Promise<void> {
    // Earlier batches come first: if they fail again, new counts stay in memory, where they keep adding up.
    if (this.#batches.length > 0) await this.#writeAll(what)
    this.#collect(what)
    await this.#writeAll(what)
  }

  #collect(what: 'all' | 'records'): void {
    const all = this.#rows.take()
    const counts = what === 'all' ? this.#counts.size : 0
    const batches = Math.max(all.length, Math.ceil(counts / countsInCommit))
    for (let at = 0; at < batches; at++) {
      this.#batches.push({ rows: all[at] ?? noCallRows, counts: undefined })
    }
  }

  async #writeAll(what: 'all' | 'records'): Promise<void> {
    if (this.#batches.length > 0) await this.#makePartitions()
    for (let batch = this.#batches[0]; batch !== undefined; batch = this.#batches[0]) {
      batch.counts ??= what === 'all' ? this.#counts.take(countsInCommit) : []
      this.#isFailing = true
      try {
        await this.#store.insertCalls(batch.rows, batch.counts)
        // Removed only after the commit: a batch that failed is retried at the next flush.
        this.#batches.shift()
        this.#rows.reuse(batch.rows)
        this.#waiting -= batch.rows.count
      } catch (error) {
        if (!isRefusedForGood(error)) throw error
        this.#divide(batch, error)
      }
      this.#isFailing = false
      // Yield to live traffic.
      if (this.#batches.length > 0) await nextTurn()
    }
  }

  /**
   * Replaces a batch that the database refused with two smaller ones, or drops it if it can't be split, so that one bad
   * record or count cannot block all others.
   */
  #divide(batch: Batch, error: unknown): void {
    const parts = partsOf(batch)
    this.#batches.splice(0, 1, ...parts)
    if (parts.length > 0) return
    if (batch.rows.count > 0) {
      this.#waiting--
      this.#dropped()
    }
    this.#report(error)
  }

  /**
   * Creates the partitions of the coming days. A failure is only reported, because records without a partition go to
   * the default one.
   */
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

/** Whether all numbers are whole. PostgreSQL would refuse the whole batch; a block would store NaN without an error. */
function hasWholeNumbers({
  at,
  status,
  bytesIn,
  bytesOut,
  durationUs,
  upstreamUs = 0,
}: CallRecord) {
  return (
    Number.isSafeInteger(at) &&
    Number.isSafeInteger(status) &&
    Number.isSafeInteger(bytesIn) &&
    Number.isSafeInteger(bytesOut) &&
    Number.isSafeInteger(durationUs) &&
    Number.isSafeInteger(upstreamUs)
  )
}

/** Splits a batch, or returns no parts if it consists of a single record or of the counts for a single table. */
function partsOf({ rows, counts = [] }: Batch): Batch[] {
  if (rows.count > 1) {
    const [first, second] = halvesOf(rows)
    return [
      { rows: first, counts },
      { rows: second, counts: [] },
    ]
  }
  if (rows.count + counts.length < 2) return []
  const middle = rows.count === 1 ? 0 : Math.ceil(counts.length / 2)
  return [
    { rows, counts: counts.slice(0, middle) },
    { rows: noCallRows, counts: counts.slice(middle) },
  ]
}
