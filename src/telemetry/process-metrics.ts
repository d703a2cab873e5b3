import { readdirSync, readFileSync } from 'node:fs'
import { LoopDelay } from './loop-delay.ts'
import type { Metrics } from './metrics.ts'

/**
 * Registers process metrics under the names that Prometheus client libraries use; returns a function that stops
 * measuring.
 */
export function measureProcess(metrics: Metrics): () => void {
  metrics.measured('process_cpu_seconds_total', 'User and system time of the process.', () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  })
  metrics.measured('process_resident_memory_bytes', 'Memory of the process.', () => {
    return process.memoryUsage.rss()
  })
  metrics.measured('process_heap_bytes', 'Used heap.', () => process.memoryUsage().heapUsed)
  metrics.highest(
    'process_start_time_seconds',
    'When the process started, since 1970.',
    () => Math.round(performance.timeOrigin) / 1000,
  )
  const { maxFiles } = readLimits()
  if (maxFiles !== undefined) {
    metrics.measured('process_open_fds', 'Open files and sockets.', countFiles)
    metrics.measured('process_max_fds', 'Files and sockets that may be open.', () => maxFiles)
  }
  return measureDelay(metrics)
}

function measureDelay(metrics: Metrics): () => void {
  const delay = new LoopDelay()
  metrics.highest(
    'nodejs_eventloop_lag_p50_seconds',
    'How late timers are, since the last scrape: half of them at most this much.',
    () => delay.percentile(50),
  )
  metrics.highest(
    'nodejs_eventloop_lag_p99_seconds',
    'How late timers are, since the last scrape: 99 of 100 at most this much.',
    () => delay.percentile(99),
  )
  metrics.highest(
    'nodejs_eventloop_lag_p999_seconds',
    'How late timers are, since the last scrape: 999 of 1,000 at most this much.',
    () => delay.percentile(99.9),
  )
  metrics.highest(
    'nodejs_eventloop_lag_max_seconds',
    'How late timers are, since the last scrape: the latest.',
    () => {
      const latest = delay.max()
      delay.reset()
      return latest
    },
  )
  return () => delay.stop()
}

/** Reads the limit on open files from /proc, which only Linux has; elsewhere `maxFiles` is undefined. */
function readLimits(): { maxFiles: number | undefined } {
  try {
    const [, most] =
      /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return { maxFiles: most === undefined ? undefined : Number(most) }
  } catch {
    return { maxFiles: undefined }
  }
}

function countFiles(): number {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return 0
  }
}
