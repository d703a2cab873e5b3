import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { ServerProcess } from '../harness/server-process.ts'

const maxSlope = 1
const maxWalMiB = 64
const maxFiles = 5

/** What one node used at one time. */
export interface Sample {
  readonly atHours: number
  readonly memoryMiB: number
  readonly files: number
  /** Of SQLite's write-ahead log; 0 on PostgreSQL. */
  readonly walMiB: number
}

export function sample(pid: number, folder: string, elapsedMs: number): Sample {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const [, kibibytes = '0'] = /^VmRSS:\s+(\d+) kB/m.exec(status) ?? []
  const wal = readdirSync(folder).filter((name) => name.endsWith('-wal'))
  const walBytes = wal.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
  return {
    atHours: elapsedMs / 3_600_000,
    memoryMiB: Math.round(Number(kibibytes) / 1024),
    files: readdirSync(`/proc/${pid}/fd`).length,
    walMiB: Math.round(walBytes / 1024 / 1024),
  }
}

/** What must not be: memory or descriptors that grow, a long log of the database, errors in the node's own log. */
export function judge(samples: readonly Sample[], { lines }: ServerProcess): string[] {
  const findings: string[] = []
  const after = settled(samples)
  // Half an hour of samples at least: below that the slope says nothing.
  if (after.length >= 60 && slopeOf(after) > maxSlope) {
    findings.push(`memory grows by ${slopeOf(after).toFixed(1)} MiB an hour`)
  }
  const more = (samples.at(-1)?.files ?? 0) - (after[0]?.files ?? Infinity)
  if (more > maxFiles) findings.push(`${more} files more are open`)
  const largest = Math.max(...samples.map(({ walMiB }) => walMiB))
  if (largest > maxWalMiB) findings.push(`the log of the database grew to ${largest} MiB`)
  for (const line of lines) {
    if (/"level":"?(?:error|fatal|50|60)"?/.test(line)) {
      findings.push(`logged: ${line.slice(0, 300)}`)
    }
  }
  return findings
}

export function figuresOf(samples: readonly Sample[]): Record<string, number> {
  const after = settled(samples)
  const last = samples.at(-1)
  return {
    memory_mib_after_15_min: after[0]?.memoryMiB ?? 0,
    memory_mib: last?.memoryMiB ?? 0,
    memory_mib_per_hour: Math.round(slopeOf(after) * 10) / 10,
    files_after_15_min: after[0]?.files ?? 0,
    files: last?.files ?? 0,
    largest_wal_mib: Math.max(...samples.map(({ walMiB }) => walMiB)),
  }
}

/** Before a quarter of an hour has passed the heap is still finding its size. */
function settled(samples: readonly Sample[]): readonly Sample[] {
  return samples.filter(({ atHours }) => atHours >= 0.25)
}

/** MiB an hour, by least squares. */
function slopeOf(samples: readonly Sample[]): number {
  const mean = (of: (sample: Sample) => number): number =>
    samples.reduce((sum, one) => sum + of(one), 0) / Math.max(1, samples.length)
  const [meanAt, meanMiB] = [mean(({ atHours }) => atHours), mean(({ memoryMiB }) => memoryMiB)]
  const spread = mean(({ atHours }) => (atHours - meanAt) ** 2)
  if (spread === 0) return 0
  return mean(({ atHours, memoryMiB }) => (atHours - meanAt) * (memoryMiB - meanMiB)) / spread
}
