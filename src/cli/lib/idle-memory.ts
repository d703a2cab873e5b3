import { performance } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { every } from '../../timers.ts'

/** What is known of the process, and what can be done about its memory. */
export interface HeapOfProcess {
  /** The share of the time since the last question that the event loop was at work, 0 to 1. */
  busy(): number
  /** Collects everything and gives back what is free; nothing else happens meanwhile. */
  collect(): void
}

const intervalMs = 5000
const maxBusy = 0.1

/**
 * Gives back what the start made V8 take (some 60 MB of young generation, which it would keep), as soon as nearly nobody
 * calls.
 */
export function startGivingMemoryBack(onError: (error: unknown) => void): AsyncDisposable {
  return every(intervalMs, createIdleTurn(heapOfThisProcess()), onError)
}

/**
 * One look at the process, to be taken again and again: collects when it is idle for the first time. Only then: a whole
 * collection throws compiled code away too, so that after each one the next thousands of calls are dear.
 */
export function createIdleTurn(heap: HeapOfProcess): () => Promise<void> {
  let done = false
  return async () => {
    if (done || heap.busy() > maxBusy) return
    done = true
    heap.collect()
  }
}

function heapOfThisProcess(): HeapOfProcess {
  let before = performance.eventLoopUtilization()
  return {
    busy() {
      const now = performance.eventLoopUtilization()
      const { utilization } = performance.eventLoopUtilization(now, before)
      before = now
      return utilization
    },
    collect() {
      setFlagsFromString('--expose-gc')
      const collect = runInNewContext('gc') as (how: { type: 'major'; flavor: string }) => void
      collect({ type: 'major', flavor: 'last-resort' })
      setFlagsFromString('--no-expose-gc')
    },
  }
}
