import { getPriority, setPriority } from 'node:os'

const leastPriority = 19

/**
 * Lowers the priority of the calling thread by this much, so that its work does not delay calls when both share a core.
 * Only Linux has a priority per thread; elsewhere this would slow down the whole process.
 */
export function yieldToCalls(niceness: number): void {
  if (process.platform !== 'linux') return
  try {
    setPriority(0, Math.min(leastPriority, getPriority() + niceness))
  } catch {
    // A sandbox may forbid it; the thread works all the same.
  }
}
