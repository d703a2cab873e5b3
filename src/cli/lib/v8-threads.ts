import { readFileSync } from 'node:fs'
import { idsOfThreads, threadsFolder, yieldToCalls } from '../../thread-priority.ts'

/** What Node names each thread on which V8 works beside the main thread. */
const name = 'V8Worker'
/**
 * How much the niceness of each of these threads rises. One thread (`--v8-pool-size=1`) then gets a quarter of a core that
 * the main thread wants too; four get more than half, instead of four fifths. With an equal share, too little would be
 * left for calls on a node that is three quarters busy. A rise of 10 delayed calls more than one of 5 (decision 021).
 */
const niceness = 5

/**
 * Lowers the priority of the threads on which V8 compiles code and collects garbage. Otherwise, calls would wait while
 * these share a core with them: for tens of milliseconds, at each full collection and whenever V8 compiles a large
 * function. Does nothing except on Linux.
 */
export function letV8YieldToCalls(): void {
  for (const id of idsOfThreads()) if (isOfV8(id)) yieldToCalls(niceness, id)
}

function isOfV8(id: number): boolean {
  try {
    return readFileSync(`${threadsFolder}/${id}/comm`, 'utf8').trimEnd() === name
  } catch {
    // The thread has ended since.
    return false
  }
}
