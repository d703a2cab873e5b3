import { performance } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { every } from '../../timers.ts'

/** How busy the process is, and a way to collect its garbage. */
export interface HeapOfProcess {
  /** Returns how busy the event loop has been since `busy` last ran, as a fraction from 0 to 1. */
  busy(): number
  /** Collects all garbage and returns free memory to the system; blocks while it runs. */
  collect(): void
}

const intervalMs = 5000
const maxBusy = 0.1
/** A process that was busy in this many checks before the first idle one never collects. */
const maxBusyChecks = 3

/**
 * Returns memory to the system once the process is almost idle after its start: the start makes V8's young generation
 * grow, and V8 would keep that memory.
 */
export function startGivingMemoryBack(onError: (error: unknown) => void): AsyncDisposable {
  return every(intervalMs, createIdleTurn(heapOfThisProcess()), onError)
}

/**
 * Creates a check that collects garbage once, the first time it finds the process idle, but never in a process that has
 * been busy for longer than a start takes. Such a process has compiled code that calls need, and this collection would
 * discard all code compiled for objects of which none exists at that moment; calls would wait for milliseconds until V8
 * has compiled it again. The collection itself stops calls for up to 0.1 s.
 */
export function createIdleTurn(heap: HeapOfProcess): () => Promise<void> {
  let [done, busyChecks] = [false, 0]
  return async () => {
    if (done) return
    const isBusy = heap.busy() > maxBusy
    if (isBusy) busyChecks++
    done = !isBusy || busyChecks === maxBusyChecks
    if (!isBusy) heap.collect()
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
