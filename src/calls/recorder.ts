import type { Clock } from '../clock.ts'
import type { RecordChoice } from '../record-choice.ts'
import type { CallRecord, Store } from '../store/index.ts'
import type { Metrics } from '../telemetry/index.ts'
import { forgetCalls } from './forget-calls.ts'
import { KeyUses, type UsedSecret } from './key-uses.ts'
import { createRecordChoice } from './record-choice.ts'
import { RecordQueue } from './record-queue.ts'

/** Keeps what passed: call records, counts per minute, rules' counts, last uses; written in batches. */
export interface Recorder {
  /** Takes note of a finished call; never waits. Counts are exact whatever is chosen to be kept. */
  record(entry: CallRecord, secret: UsedSecret, choice: RecordChoice): void
  /** Deletes records and counts older than this; in small commits. */
  forget(olderThanMs: number): Promise<void>
  /** Writes what is waiting. */
  flush(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export interface RecorderDeps {
  readonly store: Store
  readonly clock: Clock
  readonly metrics: Metrics
  readonly log: { error(fields: object, text: string): void }
  /** What else is written at each flush, by name. */
  readonly besides: Readonly<Record<string, () => Promise<void>>>
}

const flushMs = 250
/** A node that nobody has called for five minutes is not woken any more. */
const maxQuietTurns = 1200

/** Opens the recorder. */
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
  readonly #calls: Part
  /** Each is written though another can't be: what one database refuses holds up nothing of the others. */
  readonly #parts: readonly Part[]
  #timer: NodeJS.Timeout | undefined
  #quietTurns = 0

  constructor({ store, clock, metrics, log, besides }: RecorderDeps) {
    this.#store = store
    this.#log = log
    this.#dropped = metrics.counter(
      'intercept_calls_dropped_total',
      'Call records lost to a full buffer.',
    )
    this.#uncounted = metrics.counter(
      'intercept_calls_uncounted_total',
      'Calls missing from charts: the database was away for too long to count them.',
    )
    this.#queue = new RecordQueue({
      store,
      clock,
      report: (error) => this.#report('call records', error),
    })
    this.#uses = new KeyUses(store, clock)
    this.#calls = new Part('call records and counts', async () => await this.#queue.write())
    this.#parts = [
      this.#calls,
      new Part('last uses of keys', async () => await this.#uses.write(false)),
      ...Object.entries(besides).map(([name, write]) => new Part(name, write)),
    ]
    metrics.measured(
      'intercept_calls_waiting',
      'Call records not yet written.',
      () => this.#queue.waiting,
    )
  }

  readonly record = (entry: CallRecord, secret: UsedSecret, choice: RecordChoice): void => {
    this.#quietTurns = 0
    this.#timer ??= setInterval(() => this.#turn(), flushMs).unref()
    if (this.#choose(entry, choice) && !this.#queue.add(entry)) this.#dropped.add()
    if (!this.#queue.count(entry)) this.#uncounted.add()
    if (this.#queue.isDue && !this.#calls.isRunning) void this.#reported(this.#calls)
    this.#uses.note(secret, entry)
  }

  readonly forget = async (olderThanMs: number): Promise<void> => {
    await forgetCalls(this.#store, olderThanMs)
  }

  readonly flush = async (): Promise<void> => {
    const results = await Promise.allSettled(this.#parts.map(async (part) => await part.run()))
    const failed = results.find((result) => result.status === 'rejected')
    if (failed !== undefined) throw failed.reason
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    // Twice: the first may find one under way that took nothing of what came last.
    await this.#reportedAll()
    await this.#reportedAll()
    await this.#reported(new Part('last uses of keys', async () => await this.#uses.write(true)))
  }

  #turn(): void {
    if (++this.#quietTurns > maxQuietTurns) {
      clearInterval(this.#timer)
      this.#timer = undefined
    } else {
      void this.#reportedAll()
    }
  }

  async #reportedAll(): Promise<void> {
    await Promise.all(this.#parts.map(async (part) => await this.#reported(part)))
  }

  async #reported(part: Part): Promise<void> {
    try {
      await part.run()
    } catch (error) {
      this.#report(part.name, error)
    }
  }

  #report(what: string, err: unknown): void {
    this.#log.error({ err, what }, 'what was kept of calls could not be written')
  }
}

/** One kind of work, once at a time; whoever comes in between waits for the one under way. */
class Part {
  readonly name: string
  readonly #work: () => Promise<void>
  #running: Promise<void> | undefined

  constructor(name: string, work: () => Promise<void>) {
    this.name = name
    this.#work = work
  }

  get isRunning(): boolean {
    return this.#running !== undefined
  }

  async run(): Promise<void> {
    this.#running ??= this.#work().finally(() => {
      this.#running = undefined
    })
    await this.#running
  }
}
