import type Database from 'better-sqlite3'
import { Worker } from 'node:worker_threads'
import type { OldCalls } from '../../tables/calls/calls.ts'
import { createCallJobs, type CallBatch, type CallJob, type CallJobDone } from './call-jobs.ts'

/**
 * The first batch with at least this many records and counts starts the thread; a node with few calls never starts it.
 */
const rowsForThread = 128
const youngMegabytes = 2
/** After how many pages the main thread makes checkpoints while the thread does not run; SQLite's default. */
const usualCheckpointPages = 1000

/**
 * Writes, merges and deletes call records on a separate thread, so that neither this work nor checkpoints (which wait for
 * the disk) delay calls. Until a large batch starts that thread, the main thread does this work.
 */
export class SqliteCallWriter {
  readonly #path: string
  readonly #file: Database.Database
  readonly #do: (job: CallJob) => boolean
  #last: Promise<unknown> = Promise.resolve()
  #isClosed = false
  #closing: Promise<void> | undefined
  #worker: Worker | undefined
  #done: PromiseWithResolvers<boolean> | undefined

  constructor(path: string, file: Database.Database) {
    this.#path = path
    this.#file = file
    this.#do = createCallJobs(file)
  }

  /**
   * Adds a batch with `records` records in a separate commit. The caller must wait until a batch is written before it
   * adds the next one.
   */
  async write(batch: CallBatch, records: number): Promise<void> {
    const rows = batch.counts.reduce((sum, { count }) => sum + count, records)
    await this.alone(async () => {
      if (rows >= rowsForThread) this.#worker ??= this.#start()
      await this.#run({ kind: 'insert', ...batch })
    })
  }

  /** Merges some small blocks of calls that all arrived before this time; returns whether more may be left. */
  async merge(olderThanMs: number): Promise<boolean> {
    return await this.alone(async () => await this.#run({ kind: 'merge', olderThanMs }))
  }

  /** Deletes old calls in one commit; returns whether more may be left. */
  async forget(old: OldCalls): Promise<boolean> {
    return await this.alone(async () => await this.#run({ kind: 'forget', ...old }))
  }

  /**
   * Does work while this process writes nothing else to the file, because two writers would contend for the file's lock.
   * Must not be called within such work, which would wait for itself.
   */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(async () => {
      if (this.#isClosed) throw new TypeError('The database connection is not open')
      return await work()
    })
    this.#last = done.catch(() => undefined)
    return await done
  }

  /** Ends the thread after the work that waits; refuses later work. */
  async close(): Promise<void> {
    this.#closing ??= this.alone(async () => {
      this.#isClosed = true
      await this.#worker?.terminate()
    })
    await this.#closing
  }

  async #run(job: CallJob): Promise<boolean> {
    if (this.#worker === undefined) return this.#do(job)
    this.#done = Promise.withResolvers()
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    this.#worker.postMessage(job)
    return await this.#done.promise
  }

  #start(): Worker {
    const worker = new Worker(new URL('./call-writer-thread.ts', import.meta.url), {
      workerData: { callsPath: this.#path },
      // Rows live no longer than their batch, so a larger young generation would only waste memory.
      resourceLimits: { maxYoungGenerationSizeMb: youngMegabytes },
    })
    worker.unref()
    this.#file.pragma('wal_autocheckpoint = 0')
    worker.on('message', (done: CallJobDone) => {
      if (this.#worker !== worker) return
      if ('isMore' in done) this.#done?.resolve(done.isMore)
      else this.#done?.reject(Object.assign(new Error(done.error), { code: done.code }))
    })
    const ended = (cause?: Error): void => {
      // After an error, the exit follows when another thread may already be at work.
      if (this.#worker !== worker) return
      this.#worker = undefined
      if (this.#file.open) this.#file.pragma(`wal_autocheckpoint = ${usualCheckpointPages}`)
      this.#done?.reject(cause ?? new Error('the thread that writes call records ended'))
    }
    worker.on('error', ended)
    worker.on('exit', () => ended())
    return worker
  }
}
