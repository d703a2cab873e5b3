// The worker side of slow-reads.ts: a thread that runs reads, one statement after the other.
import Database from 'better-sqlite3'
import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import type { AsideAnswer, AsideQuestion } from './slow-reads.ts'

// Without the worker's data, importing this file does nothing.
const path = (workerData as { asidePath?: unknown } | null)?.asidePath
if (parentPort !== null && typeof path === 'string') serve(parentPort, path)

function serve(port: MessagePort, file: string): void {
  const database = new Database(file, { readonly: true })
  port.on('message', (question: AsideQuestion) => port.postMessage(answer(database, question)))
}

function answer(database: Database.Database, question: AsideQuestion): AsideAnswer {
  const { sql, parameters } = question
  try {
    return { rows: database.prepare(sql).all(...parameters) }
  } catch (error) {
    const { message, code } = error as { message: string; code?: string }
    return { error: message, code }
  }
}
