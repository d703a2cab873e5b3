// The worker side of call-writer.ts: a thread that writes call records, one commit after the other.
import Database from 'better-sqlite3'
import { flushCompileCache } from 'node:module'
import { getPriority, setPriority } from 'node:os'
import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import { batchInserter, type CallBatch, type CallsWritten } from './call-rows-insert.ts'
import { boundPageCache } from './page-cache.ts'

const busyTimeoutMs = 5000
/**
 * When both threads compete for one core, this leaves a quarter of it to this thread: twice what it needs to write the
 * records of the calls that the core can serve meanwhile.
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
  // Only this connection runs checkpoints (SQLite's default), because they wait for the disk.
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
 * Lets the calls go first where both threads share a core, since a commit takes milliseconds. Only Linux has a priority
 * per thread; elsewhere this would slow the whole process down.
 */
function yieldToCalls(): void {
  if (process.platform !== 'linux') return
  try {
    setPriority(0, Math.min(leastPriority, getPriority() + niceness))
  } catch {
    // A sandbox may forbid it; records are written all the same.
  }
}
