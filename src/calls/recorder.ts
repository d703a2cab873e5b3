import type { Clock } from '../clock.ts'
import type { RecordChoice } from '../record-choice.ts'
import type { CallRecord, Store } from '../store/index.ts'
import type { Metrics } from '../telemetry/index.ts'
import { nextTurn } from '../timers.ts'
import { minuteMs } from '../units.ts'
import { forgetCalls } from './forget-calls.ts'
import { KeyUses, type UsedSecret } from './key-uses.ts'
import { createRecordChoice } from './record-choice.ts'
import { RecordQueue } from './record-queue.ts'

/** Records finished calls: call records, counts, and the last use of each key, all written in batches. */
export interface Recorder {
  /** Records a finished call without waiting. A call for which `choice` keeps no record is still counted. */
  record(entry: CallRecord, secret: UsedSecret, choice: RecordChoice): void
  /** Deletes records and most counts older than the given time, in small commits; see `forgetCalls`. */
  forget(olderThanMs: number): Promise<void>
  /**
   * Writes what waits; throws if one of the writes fails. Leaves out the last uses of keys if they were written less
   * than two seconds ago.
   */
  flush(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export interface RecorderDeps {
  readonly store: Store
  readonly clock: Clock
  readonly metrics: Metrics
  readonly log: { error(fields: object, text: string): void }
  /** Further work done at each flush, by its name in the log. */
  readonly alsoFlush: Readonly<Record<string, () => Promise<void>>>
}

const flushMs = 250
const mergeEveryMs = minuteMs
/** Blocks are merged once all their calls arrived longer ago than this: most of their neighbours exist by then. */
const mergeAfterMs = minuteMs
/** After this many flushes without a call (five minutes), the timer stops, so that an idle node does no work. */
const maxIdleFlushes = 1200

export function createRecorder(deps: RecorderDeps): Recorder {
  return new CallRecorder(deps)
}

class CallRecorder implements Recorder {
  readonly #store: Store
  readonly #log: RecorderDeps['log']
  readonly #choose = createRecordChoice()
  readonly #dropped: { add(): void }
  readonly #uncounted: { add(): void }
  readonly #queue: RecordQueue
  readonly #uses: KeyUses
  readonly #records: FlushTask
  /** Each task runs on its own, so that the failure of one does not delay the others. */
  readonly #tasks: readonly FlushTask[]
  readonly #merging: FlushTask
  readonly #clock: Clock
  #mergeDueAt: number
  #isEnding = false
  #timer: NodeJS.Timeout | undefined
  #idleFlushes = 0

  constructor({ store, clock, metrics, log, alsoFlush }: RecorderDeps) {
    this.#store = store
    this.#clock = clock
    this.#log = log
    this.#dropped = metrics.counter(
      'intercept_calls_dropped_total',
      'Call records lost: too many waited, or the database refused them.',
    )
    this.#uncounted = metrics.counter(
      'intercept_calls_uncounted_total',
      'Calls missing from charts: the database was away for too long to count them.',
    )
    this.#queue = new RecordQueue({
      store,
      clock,
      report: (error) => this.#report('call records', error),
      dropped: () => this.#dropped.add(),
    })
    this.#uses = new KeyUses(store, clock)
    this.#records = new FlushTask('call records', async () => await this.#queue.write('records'))
    this.#tasks = [
      new FlushTask('call records and counts', async () => await this.#queue.write('all')),
      new FlushTask('last uses of keys', async () => await this.#uses.write(false)),
      ...Object.entries(alsoFlush).map(([name, write]) => new FlushTask(name, write)),
    ]
    this.#merging = new FlushTask('merging of call records', async () => await this.#merge())
    this.#mergeDueAt = clock.monotonic() + mergeEveryMs
    metrics.measured(
      'intercept_calls_waiting',
      'Call records not yet written.',
      () => this.#queue.waiting,
    )
  }

  readonly record = (entry: CallRecord, secret: UsedSecret, choice: RecordChoice): void => {
    this.#idleFlushes = 0
    this.#timer ??= setInterval(() => this.#onTimer(), flushMs).unref()
    if (this.#choose(entry, choice) && !this.#queue.add(entry)) this.#dropped.add()
    if (!this.#queue.count(entry)) this.#uncounted.add()
    if (this.#queue.isDue) void this.#runReported(this.#records)
    this.#uses.note(secret, entry)
  }

  readonly forget = async (olderThanMs: number): Promise<void> => {
    await forgetCalls(this.#store, olderThanMs)
  }

  readonly flush = async (): Promise<void> => {
    const results = await Promise.allSettled(this.#tasks.map(async (task) => await task.run()))
    const failed = results.find((result) => result.status === 'rejected')
    if (failed !== undefined) throw failed.reason
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    this.#isEnding = true
    await this.#merging.settled()
    // Runs everything twice, because the first run may only join a flush that began before the last call was recorded.
    await this.#runAllReported()
    await this.#runAllReported()
    await this.#runReported(
      new FlushTask('last uses of keys', async () => await this.#uses.write(true)),
    )
  }

  #onTimer(): void {
    if (++this.#idleFlushes > maxIdleFlushes) {
      clearInterval(this.#timer)
      this.#timer = undefined
    } else {
      void this.#runAllReported()
      if (this.#clock.monotonic() >= this.#mergeDueAt) void this.#runReported(this.#merging)
    }
  }

  async #merge(): Promise<void> {
    this.#mergeDueAt = this.#clock.monotonic() + mergeEveryMs
    const olderThanMs = this.#clock.now() - mergeAfterMs
    let isMore = true
    while (isMore && !this.#isEnding) {
      isMore = await this.#store.mergeCalls(olderThanMs)
      await nextTurn()
    }
  }

  async #runAllReported(): Promise<void> {
    await Promise.all(this.#tasks.map(async (task) => await this.#runReported(task)))
  }

  async #runReported(task: FlushTask): Promise<void> {
    try {
      await task.run()
    } catch (error) {
      this.#report(task.name, error)
    }
  }

  #report(what: string, err: unknown): void {
    this.#log.error({ err, what }, 'what was kept of calls could not be written')
  }
}

/** Work that never runs twice at once: `run` joins a run that is already in progress. */
class FlushTask {
  readonly name: string
  readonly #work: () => Promise<void>
  #running: Promise<void> | undefined

  constructor(name: string, work: () => Promise<void>) {
    this.name = name
    this.#work = work
  }

  async run(): Promise<void> {
    this.#running ??= this.#work().finally(() => {
      this.#running = undefined
    })
    await this.#running
  }

  /** Resolves when the work is not in progress, however it ended. */
  async settled(): Promise<void> {
    await this.#running?.catch(() => undefined)
  }
}
