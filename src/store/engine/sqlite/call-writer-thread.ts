// The worker side of call-writer.ts: a thread that writes call records, one commit after the other.
import Database from 'better-sqlite3'
import { flushCompileCache } from 'node:module'
import { getPriority, setPriority } from 'node:os'
import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import { batchInserter, type CallBatch, type CallsWritten } from './call-rows-insert.ts'
import { boundPageCache } from './page-cache.ts'

const busyTimeoutMs = 5000
/**
 * How far this thread lowers its priority. When it competes with the main thread for one core, it still gets a quarter
 * of that core: twice what it needs to write the records of the calls served meanwhile.
 */
const niceness = 5
const leastPriority = 19

// Without the worker's data, importing this file does nothing.
const path = (workerData as { callsPath?: unknown } | null)?.callsPath
if (parentPort !== null && typeof path === 'string') serve(parentPort, path)

function serve(port: MessagePort, file: string): void {
  // Written now, because a thread is ended without a chance to write its compile cache.
  flushCompileCache()
  yieldToCalls()
  // Only this connection runs checkpoints, as SQLite does by default. They wait for the disk, so the main thread's
  // connection has them switched off.
  const database = new Database(file, { timeout: busyTimeoutMs })
  database.pragma('synchronous = NORMAL')
  boundPageCache(database, 'lasting')
  const insert = batchInserter(database)
  port.on('message', (batch: CallBatch) => {
    let written: CallsWritten = {}
    try {
      insert(batch)
    } catch (error) {
      const { message, code } = error as { message: string; code?: string }
      written = { error: message, code }
    }
    port.postMessage(written)
  })
}

/**
 * Lowers this thread's priority, so that a commit of several milliseconds does not delay calls when both threads share
 * a core. Only Linux has a priority per thread; elsewhere this would slow down the whole process.
 */
function yieldToCalls(): void {
  if (process.platform !== 'linux') return
  try {
    setPriority(0, Math.min(leastPriority, getPriority() + niceness))
  } catch {
    // A sandbox may forbid it; records are written all the same.
  }
}
