import { readdirSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'

const leastPriority = 19

/** The id that stands for the calling thread. */
const callingThread = 0

/** Where Linux shows the threads of this process. */
export const threadsFolder = '/proc/self/task'

/**
 * Lowers the priority of a thread by this much, so that its work does not delay calls when both share a core. Does nothing
 * except on Linux: elsewhere, only whole processes have a priority.
 */
export function yieldToCalls(niceness: number, threadId = callingThread): void {
  if (process.platform !== 'linux') return
  try {
    setPriority(threadId, Math.min(leastPriority, getPriority(threadId) + niceness))
  } catch {
    // A sandbox may forbid this, or the thread may have ended.
  }
}

/**
 * Starts a thread with a lower priority than ours (`yieldToCalls`), and returns what `start` returns. A thread that lowered
 * its priority by itself would have delayed calls before: starting takes 70 to 120 ms of CPU time until its own code runs.
 */
export function startYielding<T>(niceness: number, start: () => T): T {
  const before = new Set(idsOfThreads())
  const started = start()
  for (const id of idsOfThreads()) if (!before.has(id)) yieldToCalls(niceness, id)
  return started
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
