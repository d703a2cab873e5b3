import type Database from 'better-sqlite3'
import { Worker } from 'node:worker_threads'
import type { CallRows } from '../../tables/calls/call-rows.ts'
import { rowInserter, type CallsWritten } from './call-rows-insert.ts'

/** Batches of this many rows and more are the thread's; a node with few calls needs none. */
const rowsForThread = 128

/**
 * Writes call records on a thread of its own, so that neither the inserts nor the checkpoints of their file (which wait
 * for the disk) hold up the calls. Batches of a quiet node are written here, which costs less than a thread.
 */
export class SqliteCallWriter {
  readonly #path: string
  readonly #file: Database.Database
  readonly #insert: (json: string) => void
  readonly #others: { idle(): Promise<void> }
  #writing: Promise<void> | undefined
  #worker: Worker | undefined
  #answer: PromiseWithResolvers<void> | undefined

  constructor(given: {
    path: string
    file: Database.Database
    /** The transactions of this process on the same file. */
    others: { idle(): Promise<void> }
  }) {
    this.#path = given.path
    this.#file = given.file
    this.#others = given.others
    this.#insert = rowInserter(given.file)
  }

  /** Resolves when no batch is being written: its commit and another one would wait for each other's lock. */
  async idle(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing.catch(() => undefined)
  }

  /** Adds rows in a commit of their own; one batch at a time. */
  async write(rows: CallRows): Promise<void> {
    await this.idle()
    this.#writing = this.#writeAfterOthers(rows)
    try {
      await this.#writing
    } finally {
      this.#writing = undefined
    }
  }

  async #writeAfterOthers(rows: CallRows): Promise<void> {
    await this.#others.idle()
    if (this.#worker === undefined && rows.count < rowsForThread) {
      this.#insert(rows.json)
      return
    }
    this.#worker ??= this.#start()
    this.#answer = Promise.withResolvers()
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    this.#worker.postMessage(rows.json)
    await this.#answer.promise
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
  }

  #start(): Worker {
    const worker = new Worker(new URL('./call-writer-thread.ts', import.meta.url), {
      workerData: { callsPath: this.#path },
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
