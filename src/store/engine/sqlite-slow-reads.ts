import {
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type QueryResult,
} from 'kysely'
import { Worker } from 'node:worker_threads'
import { Problem } from '../../errors.ts'
import type { Connection } from '../db/db.ts'
import type { Tables } from '../tables/index.ts'

const waitingAtMost = 64
const answerWithinMs = 30_000

/** What the thread is asked, and what it answers. */
export interface AsideQuestion {
  readonly number: number
  readonly sql: string
  readonly parameters: readonly unknown[]
}
export type AsideAnswer =
  | { readonly number: number; readonly rows: unknown[] }
  | { readonly number: number; readonly error: string; readonly code: string | undefined }

interface Waiting {
  resolve(rows: unknown[]): void
  reject(error: Error): void
}

/**
 * Reads on a thread of their own, for what must look at every row of a large organization: the process goes on
 * serving meanwhile. The thread starts with the first question; one that takes too long ends with it.
 */
export function openAside(path: string): { connection: Connection; close(): Promise<void> } {
  const waiting = new Map<number, Waiting>()
  let thread: Worker | undefined
  let deadline: NodeJS.Timeout | undefined
  let last = 0

  function start(): Worker {
    const started = new Worker(new URL('./sqlite-slow-reads-thread.ts', import.meta.url), {
      workerData: { asidePath: path },
    })
    started.unref()
    const failed = (): void => {
      if (thread !== started) return
      thread = undefined
      for (const each of waiting.values()) each.reject(unavailable())
      waiting.clear()
      clearTimeout(deadline)
    }
    started.on('message', (answer: AsideAnswer) => {
      const asked = waiting.get(answer.number)
      waiting.delete(answer.number)
      watch(started)
      if ('rows' in answer) asked?.resolve(answer.rows)
      else asked?.reject(Object.assign(new Error(answer.error), { code: answer.code }))
    })
    started.on('error', failed)
    started.on('exit', failed)
    return started
  }

  // One question after the other: each has its time from the answer before it.
  function watch(asked: Worker): void {
    clearTimeout(deadline)
    if (waiting.size > 0) deadline = setTimeout(() => void asked.terminate(), answerWithinMs)
  }

  async function ask(sql: string, parameters: readonly unknown[]): Promise<unknown[]> {
    if (waiting.size >= waitingAtMost) throw unavailable()
    thread ??= start()
    const asked = thread
    const number = ++last
    return await new Promise<unknown[]>((resolve, reject) => {
      waiting.set(number, { resolve, reject })
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      asked.postMessage({ number, sql, parameters } satisfies AsideQuestion)
      if (waiting.size === 1) watch(asked)
    })
  }

  return {
    connection: { query: new Kysely<Tables>({ dialect: dialectOver(ask) }), engine: 'sqlite' },
    async close() {
      await thread?.terminate()
    },
  }
}

function dialectOver(
  ask: (sql: string, parameters: readonly unknown[]) => Promise<unknown[]>,
): Dialect {
  const connection: DatabaseConnection = {
    async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
      // The rows are those of the statement's own type, as with every driver.
      return { rows: (await ask(sql, parameters)) as R[] }
    },
    streamQuery: refuse,
  }
  return {
    createAdapter: () => new AsideAdapter(),
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
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}

/** Questions wait for the thread, where they are counted, and not for each other here. */
class AsideAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true
  }
}

function refuse(): never {
  throw new Error('reads aside are single statements')
}

function unavailable(): Problem {
  return new Problem(
    'storage_unavailable',
    'The question takes too long. Ask a narrower one, or later.',
  )
}
