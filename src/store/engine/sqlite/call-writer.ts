import type Database from 'better-sqlite3'
import { Worker } from 'node:worker_threads'
import { batchInserter, type CallBatch, type CallsWritten } from './call-batch-insert.ts'

/**
 * The first batch with at least this many records and counts starts the thread; a node with few calls never starts it.
 */
const rowsForThread = 128
const youngMegabytes = 2

/**
 * Writes call records on a separate thread, so that neither inserts nor checkpoints (which wait for the disk) delay
 * calls. Until a large batch starts that thread, batches are written on the main thread.
 */
export class SqliteCallWriter {
  readonly #path: string
  readonly #file: Database.Database
  readonly #insert: (batch: CallBatch) => void
  readonly #others: { idle(): Promise<void> }
  #writing: Promise<void> | undefined
  #worker: Worker | undefined
  #answer: PromiseWithResolvers<void> | undefined

  constructor(given: {
    path: string
    file: Database.Database
    /** This process's other transactions on the same file; a batch must not overlap with them. */
    others: { idle(): Promise<void> }
  }) {
    this.#path = given.path
    this.#file = given.file
    this.#others = given.others
    this.#insert = batchInserter(given.file)
  }

  /**
   * Resolves when no batch is being written; a transaction must wait for this, or it would contend with the batch for
   * the file's lock.
   */
  async idle(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing.catch(() => undefined)
  }

  /**
   * Adds a batch with `records` records in a separate commit. The caller must wait until a batch is written before it
   * adds the next one.
   */
  async write(batch: CallBatch, records: number): Promise<void> {
    await this.idle()
    this.#writing = this.#writeAfterOthers(batch, records)
    try {
      await this.#writing
    } finally {
      this.#writing = undefined
    }
  }

  async #writeAfterOthers(batch: CallBatch, records: number): Promise<void> {
    await this.#others.idle()
    const rows = batch.counts.reduce((sum, { count }) => sum + count, records)
    if (this.#worker === undefined && rows < rowsForThread) {
      this.#insert(batch)
      return
    }
    this.#worker ??= this.#start()
    this.#answer = Promise.withResolvers()
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    this.#worker.postMessage(batch)
    await this.#answer.promise
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
  }

  #start(): Worker {
    const worker = new Worker(new URL('./call-writer-thread.ts', import.meta.url), {
      workerData: { callsPath: this.#path },
      // Rows live no longer than their batch, so a larger young generation would only waste memory.
      resourceLimits: { maxYoungGenerationSizeMb: youngMegabytes },
    })
    worker.unref()
    this.#file.pragma('wal_autocheckpoint = 0')
    worker.on('message', ({ error, code }: CallsWritten) => {
      if (error === undefined) this.#answer?.resolve()
      else this.#answer?.reject(Object.assign(new Error(error), { code }))
    })
    const ended = (cause?: Error): void => {
      if (this.#worker === worker) this.#worker = undefined
      this.#answer?.reject(cause ?? new Error('the thread that writes call records ended'))
    }
    worker.on('error', ended)
    worker.on('exit', () => ended())
    return worker
  }
}
