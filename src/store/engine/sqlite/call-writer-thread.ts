// The worker side of call-writer.ts: a thread that writes, merges and deletes call records, one commit after the other.
import Database from 'better-sqlite3'
import { flushCompileCache } from 'node:module'
import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import { createCallJobs, type CallJob, type CallJobDone } from './call-jobs.ts'
import { boundPageCache } from './page-cache.ts'
import { createRest, yieldToCalls } from '../../../thread-priority.ts'

const busyTimeoutMs = 5000
/**
 * How far this thread lowers its priority: it still gets a tenth of a core that it shares with the main thread, twice
 * what it needs.
 */
const niceness = 10
/**
 * A checkpoint comes after the commit with which the log reaches this many pages. It takes 3 to 5 µs a page, and the
 * thread cannot rest meanwhile: SQLite's default of 1,000 would keep a shared core from calls for 3 ms and more. With
 * fewer pages, the thread would wait for the disk more often.
 */
const pagesToCheckpoint = 64
/**
 * How long the thread works before it rests, in milliseconds. Without rests, calls would wait for the shared core until
 * the kernel's next tick, up to 4 ms.
 */
const workMs = 0.05

// Without the worker's data, importing this file does nothing.
const path = (workerData as { callsPath?: unknown } | null)?.callsPath
if (parentPort !== null && typeof path === 'string') serve(parentPort, path)

function serve(port: MessagePort, file: string): void {
  // The compile cache is written now, because a thread that is terminated gets no chance to write it.
  flushCompileCache()
  yieldToCalls(niceness)
  // This connection makes the checkpoints. They wait for the disk, so the main thread's connection has them switched
  // off.
  const database = new Database(file, { timeout: busyTimeoutMs })
  database.pragma('synchronous = NORMAL')
  database.pragma(`wal_autocheckpoint = ${pagesToCheckpoint}`)
  // It writes few pages again and again; the operating system's cache serves the others.
  boundPageCache(database, 'passing')
  const run = createCallJobs(database, createRest(workMs))
  port.on('message', (job: CallJob) => port.postMessage(done(run, job)))
}

function done(run: (job: CallJob) => boolean, job: CallJob): CallJobDone {
  try {
    return { isMore: run(job) }
  } catch (error) {
    const { message, code } = error as { message: string; code?: string }
    return { error: message, code }
  }
}
