import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Metrics } from './metrics.ts'

/** Each look wakes the process: often enough to meet every stop that matters, rarely enough to cost an idle node nothing. */
const delayEveryMs = 100

/** What every process tells about itself; the returned function ends the measuring. */
export function measureProcess(metrics: Metrics): () => void {
  const delay = monitorEventLoopDelay({ resolution: delayEveryMs })
  delay.enable()
  metrics.measured('process_cpu_seconds_total', 'User and system time of the process.', () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  })
  metrics.measured('process_resident_memory_bytes', 'Memory of the process.', () => {
    return process.memoryUsage.rss()
  })
  metrics.measured('process_start_time_seconds', 'When the process started, since 1970.', () => {
    return Math.round(performance.timeOrigin) / 1000
  })
  metrics.measured('process_heap_bytes', 'Used heap.', () => process.memoryUsage().heapUsed)
  metrics.measured(
    'event_loop_delay_p99_seconds',
    'How late timers are, since the last scrape.',
    () => {
      // What Node notes is the whole time between two looks.
      const p99 = delay.percentile(99) / 1e9 - delayEveryMs / 1000
      delay.reset()
      return Number.isFinite(p99) ? Math.max(0, p99) : 0
    },
  )
  return () => delay.disable()
}
