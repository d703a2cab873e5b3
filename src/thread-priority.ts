import { readdirSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import type { Worker } from 'node:worker_threads'

const leastPriority = 19

/** The id that stands for the calling thread. */
const callingThread = 0

/** Where Linux shows the threads of this process. */
export const threadsFolder = '/proc/self/task'

/**
 * Makes a thread's niceness this much higher than the main thread's, so that its work does not delay calls when both share
 * a core; doing so again changes nothing. Does nothing except on Linux: elsewhere, only whole processes have a priority.
 */
export function yieldToCalls(niceness: number, threadId = callingThread): void {
  if (process.platform !== 'linux') return
  try {
    setPriority(threadId, Math.min(leastPriority, getPriority(process.pid) + niceness))
  } catch {
    // A sandbox may forbid this, or the thread may have ended.
  }
}

/**
 * Starts a thread and lowers its priority at once (`yieldToCalls`). A thread that lowers its own has delayed calls by then:
 * it takes 70 to 120 ms of CPU time before its own code runs. It should do so too, for sandboxes without `/proc`.
 */
export function startYielding(niceness: number, start: () => Worker): Worker {
  const before = new Set(idsOfThreads())
  const worker = start()
  const [started, ...others] = idsOfThreads().filter((id) => !before.has(id))
  // With more than one new id, the first reading failed or something else started a thread too; a thread's priority can
  // be lowered but not raised again.
  if (started !== undefined && others.length === 0) yieldToCalls(niceness, started)
  return worker
}

/** Returns the ids of the threads of this process; none where they are not known. */
export function idsOfThreads(): number[] {
  if (process.platform !== 'linux') return []
  try {
    const ids = readdirSync(threadsFolder).map(Number)
    // In a sandbox, /proc may show the ids of another namespace, where ours mean other threads.
    return ids.includes(process.pid) ? ids : []
  } catch {
    // A sandbox may have no /proc.
    return []
  }
}

const restMs = 0.02
const neverWoken = new Int32Array(new SharedArrayBuffer(4))

/**
 * Returns a function for the calling thread to call between small pieces of work. Once the thread has worked for
 * `workMs`, the function sleeps for a moment, so that a thread waiting for the same core runs at once.
 */
export function createRest(workMs: number): () => void {
  let since = performance.now()
  return () => {
    if (performance.now() - since < workMs) return
    Atomics.wait(neverWoken, 0, 0, restMs)
    since = performance.now()
  }
}
