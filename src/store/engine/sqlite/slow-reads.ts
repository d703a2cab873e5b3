import {
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type QueryResult,
} from 'kysely'
import { Worker } from 'node:worker_threads'
import { Problem } from '../../../errors.ts'
import { startYielding } from '../../../thread-priority.ts'
import type { Db } from '../../db/db.ts'
import type { Tables } from '../../tables/index.ts'
import { PlannedOnceCompiler } from './dialect.ts'

const maxThreads = 2
const maxWaiting = 64
const answerWithinMs = 30_000
const againAfterSeconds = 5
/**
 * A thread takes 10 to 16 MB, so one without a query is kept only briefly at first: hourly tasks need it for a moment. It
 * is kept longer if its predecessor had ended not long before, because somebody is probably using the dashboard then, and
 * the start of a thread delays a page by 100 ms or more.
 */
const usualIdle: IdleLimits = { firstMs: 5000, againMs: 60_000 }
/** How much the niceness of these threads rises: an export may take longer, so that calls beside it do not. */
const niceness = 10

/** A query that is sent to a thread; the thread replies with a `ReadResponse`. */
export interface ReadRequest {
  readonly sql: string
  readonly parameters: readonly unknown[]
}
export type ReadResponse =
  | {
      readonly rows: unknown[]
      /** The columns with bytes in at least one row. */
      readonly byteColumns: readonly string[]
    }
  | { readonly error: string; readonly code: string | undefined }

interface IdleLimits {
  /** How long a thread without a query is kept at first. */
  readonly firstMs: number
  /** How soon after the last thread ended a new one counts as needed again, and how long it is then kept. */
  readonly againMs: number
}

interface Question extends ReadRequest {
  resolve(rows: unknown[]): void
  reject(error: Error): void
}

interface Reader {
  readonly worker: Worker
  question: Question | undefined
  /** Ends the thread when its query takes too long, or when it has had none for a while. */
  deadline: NodeJS.Timeout | undefined
  isEnding: boolean
}

/**
 * Runs reads that scan many rows on separate threads, so that the process keeps serving. A query that takes too long is
 * ended together with its thread.
 */
class ReaderThreads {
  readonly #path: string
  readonly #readers = new Set<Reader>()
  readonly #queue: Question[] = []
  readonly #idle: IdleLimits
  #idleMs: number
  /** When the last of the threads ended, in monotonic milliseconds. */
  #allEndedAt = Number.NEGATIVE_INFINITY
  #closed = false

  constructor(path: string, idle: IdleLimits) {
    this.#path = path
    this.#idle = idle
    this.#idleMs = idle.firstMs
  }

  async ask(sql: string, parameters: readonly unknown[]): Promise<unknown[]> {
    const busy = [...this.#readers].filter(({ question }) => question !== undefined).length
    if (this.#closed || this.#queue.length + busy >= maxWaiting) throw unavailable()
    return await new Promise<unknown[]>((resolve, reject) => {
      this.#queue.push({ sql, parameters, resolve, reject })
      this.#dispatch()
    })
  }

  /** Ends the threads, which hold the file open; the next query starts a new one. */
  async restart(): Promise<void> {
    await Promise.all([...this.#readers].map(async (reader) => await this.#end(reader)))
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const question of this.#queue.splice(0)) question.reject(unavailable())
    await Promise.all([...this.#readers].map(async (reader) => await this.#end(reader)))
  }

  #dispatch(): void {
    if (this.#queue.length === 0) return
    const reader = this.#idleReader()
    if (reader === undefined) return
    const question = this.#queue.shift()
    if (question === undefined) return
    const { worker } = reader
    const { sql, parameters } = question
    clearTimeout(reader.deadline)
    reader.question = question
    reader.deadline = setTimeout(() => void this.#end(reader), answerWithinMs)
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    worker.postMessage({ sql, parameters } satisfies ReadRequest)
  }

  #idleReader(): Reader | undefined {
    for (const reader of this.#readers) {
      if (reader.question === undefined && !reader.isEnding) return reader
    }
    return this.#readers.size < maxThreads && !this.#closed ? this.#start() : undefined
  }

  #start(): Reader {
    if (this.#isEnded()) {
      const { firstMs, againMs } = this.#idle
      this.#idleMs = performance.now() - this.#allEndedAt < againMs ? againMs : firstMs
    }
    const file = new URL('./slow-reads-thread.ts', import.meta.url)
    const workerData = { slowReadsPath: this.#path, niceness }
    const worker = startYielding(niceness, () => new Worker(file, { workerData }))
    worker.unref()
    const reader: Reader = { worker, question: undefined, deadline: undefined, isEnding: false }
    const ended = (): void => {
      if (!this.#readers.has(reader)) return
      this.#noteEnd(reader)
      this.#readers.delete(reader)
      finish(reader)?.reject(unavailable())
      if (!this.#closed) this.#dispatch()
    }
    worker.on('message', (answer: ReadResponse) => {
      const question = finish(reader)
      reader.deadline = setTimeout(() => void this.#end(reader), this.#idleMs).unref()
      this.#dispatch()
      if ('rows' in answer) question?.resolve(withBuffers(answer.rows, answer.byteColumns))
      else question?.reject(Object.assign(new Error(answer.error), { code: answer.code }))
    })
    worker.on('error', ended)
    worker.on('exit', ended)
    this.#readers.add(reader)
    return reader
  }

  async #end(reader: Reader): Promise<void> {
    this.#noteEnd(reader)
    await reader.worker.terminate()
  }

  #noteEnd(reader: Reader): void {
    if (reader.isEnding) return
    reader.isEnding = true
    if (this.#isEnded()) this.#allEndedAt = performance.now()
  }

  /** Whether every thread has ended or is ending. */
  #isEnded(): boolean {
    return [...this.#readers].every(({ isEnding }) => isEnding)
  }
}

/** Detaches the query from a reader whose thread has replied or ended, and returns it; undefined if there was none. */
function finish(reader: Reader): Question | undefined {
  const { question } = reader
  clearTimeout(reader.deadline)
  reader.question = undefined
  return question
}

/** Turns the bytes from a thread into Buffers, as the driver in this process returns them. */
function withBuffers(rows: unknown[], byteColumns: readonly string[]): unknown[] {
  for (const row of byteColumns.length === 0 ? [] : (rows as Record<string, unknown>[])) {
    for (const name of byteColumns) {
      const bytes = row[name]
      if (!(bytes instanceof Uint8Array)) continue
      row[name] = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    }
  }
  return rows
}

export function openSlowReads(
  path: string,
  idle = usualIdle,
): {
  connection: Db
  restart(): Promise<void>
  close(): Promise<void>
} {
  const readers = new ReaderThreads(path, idle)
  const dialect = dialectOver(async (sql, parameters) => await readers.ask(sql, parameters))
  return {
    connection: { query: new Kysely<Tables>({ dialect }), engine: 'sqlite' },
    restart: async () => await readers.restart(),
    close: async () => await readers.close(),
  }
}

function dialectOver(
  ask: (sql: string, parameters: readonly unknown[]) => Promise<unknown[]>,
): Dialect {
  const connection: DatabaseConnection = {
    async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
      // As in every driver, nothing checks that the rows have the type the statement declares.
      return { rows: (await ask(sql, parameters)) as R[] }
    },
    streamQuery: refuse,
  }
  return {
    createAdapter: () => new SlowReadAdapter(),
    createDriver: () => ({
      init: async () => undefined,
      acquireConnection: async () => connection,
      beginTransaction: refuse,
      commitTransaction: refuse,
      rollbackTransaction: refuse,
      releaseConnection: async () => undefined,
      destroy: async () => undefined,
    }),
    createIntrospector: (database) => new SqliteIntrospector(database),
    createQueryCompiler: () => new PlannedOnceCompiler(),
  }
}

/**
 * An adapter that lets Kysely run queries concurrently: they already queue for a thread, where their number is bounded.
 */
class SlowReadAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true
  }
}

function refuse(): never {
  throw new Error('slow reads are single statements')
}

function unavailable(): Problem {
  return new Problem(
    'storage_unavailable',
    'The question takes too long. Ask a narrower one, or later.',
    // A refusal with this code but without Retry-After would mean that something may have been changed.
    { headers: { 'Retry-After': String(againAfterSeconds) } },
  )
}
