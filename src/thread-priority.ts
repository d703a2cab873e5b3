import { getPriority, setPriority } from 'node:os'

const leastPriority = 19

/** The id that stands for the calling thread. */
const callingThread = 0

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
