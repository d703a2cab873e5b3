// The worker side of slow-reads.ts: a thread that runs reads, one statement after the other.
import Database from 'better-sqlite3'
import { flushCompileCache } from 'node:module'
import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import { addBlockFunctions } from './block-functions.ts'
import { addFoldCase } from './fold-case.ts'
import { boundPageCache } from './page-cache.ts'
import type { ReadResponse, ReadRequest } from './slow-reads.ts'
import { yieldToCalls } from '../../../thread-priority.ts'

const maxStatements = 100

// Without the worker's data, importing this file does nothing.
const given = workerData as { slowReadsPath?: unknown; niceness?: number } | null
const path = given?.slowReadsPath
if (parentPort !== null && typeof path === 'string') serve(parentPort, path)

function serve(port: MessagePort, file: string): void {
  yieldToCalls(given?.niceness ?? 0)
  // The compile cache is written now, because a thread that is terminated gets no chance to write it.
  flushCompileCache()
  const database = new Database(file, { readonly: true })
  boundPageCache(database, 'passing')
  addFoldCase(database)
  addBlockFunctions(database)
  const prepare = keepStatements(database)
  port.on('message', (question: ReadRequest) => port.postMessage(answer(prepare, question)))
}

type Prepare = (sql: string) => Database.Statement

/**
 * Returns a function that keeps prepared statements for reuse. The driver frees a statement only when V8 collects it,
 * and V8 does not count its memory: if each query prepared its own, hundreds would stay in memory.
 */
function keepStatements(database: Database.Database): Prepare {
  const kept = new Map<string, Database.Statement>()
  return (sql) => {
    const statement = kept.get(sql) ?? database.prepare(sql)
    // The statement moves to the end, so that the first one is the least recently used.
    kept.delete(sql)
    kept.set(sql, statement)
    const [oldest] = kept.keys()
    if (kept.size > maxStatements && oldest !== undefined) kept.delete(oldest)
    return statement
  }
}

function answer(prepare: Prepare, { sql, parameters }: ReadRequest): ReadResponse {
  try {
    const rows = prepare(sql).all(...parameters)
    return { rows, byteColumns: byteColumnsOf(rows as Record<string, unknown>[]) }
  } catch (error) {
    const { message, code } = error as { message: string; code?: string }
    return { error: message, code }
  }
}

/** Finds the columns with bytes. Every row is searched, because a column may be null in some and have bytes in others. */
function byteColumnsOf(rows: readonly Record<string, unknown>[]): string[] {
  const found = new Set<string>()
  for (const row of rows) {
    for (const name in row) if (row[name] instanceof Uint8Array) found.add(name)
  }
  return [...found]
}
