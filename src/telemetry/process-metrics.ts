import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Metrics } from './metrics.ts'

/** What every process tells about itself; the returned function ends the measuring. */
export function measureProcess(metrics: Metrics): () => void {
  const delay = monitorEventLoopDelay({ resolution: 20 })
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
      const p99 = Number.isFinite(delay.percentile(99)) ? delay.percentile(99) / 1e9 : 0
      delay.reset()
      return p99
    },
  )
  return () => delay.disable()
}
