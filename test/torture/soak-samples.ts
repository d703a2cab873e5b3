import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { ServerProcess } from '../harness/server-process.ts'

const mebibyte = 1024 * 1024
// Slopes are in MiB per hour. They allow for caches that fill, but not for memory that leaks with each call.
const maxLiveSlope = 4
const maxAnonymousSlope = 16
const maxWalMiB = 64
const maxFiles = 5
/** Each thread reports every 2.5 minutes, so a thread whose report is older than this has ended. */
const reportIsOldMs = 200_000

/** The resources that one node used at one time, in MiB unless stated otherwise. */
export interface Sample {
  readonly atHours: number
  /** All resident memory; the anonymous part was allocated by the node itself, the rest belongs to files. */
  readonly resident: number
  readonly anonymous: number
  /** The JavaScript heap of all threads after a collection, without code; undefined before the first report. */
  readonly heap: number | undefined
  /** Compiled code, which grows for hours because V8 goes on compiling. */
  readonly code: number | undefined
  /** Memory outside the heap that belongs to objects in it, such as buffers. */
  readonly external: number | undefined
  readonly files: number
  /** The size of SQLite's write-ahead logs; 0 on PostgreSQL. */
  readonly wal: number
}

export function sample(server: ServerProcess, folder: string, elapsedMs: number): Sample {
  const rollup = readFileSync(`/proc/${server.pid}/smaps_rollup`, 'utf8')
  const ofRollup = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(rollup)?.[1] ?? 0) / 1024
  const wal = readdirSync(folder).filter((name) => name.endsWith('-wal'))
  const walBytes = wal.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
  return {
    atHours: elapsedMs / 3_600_000,
    resident: ofRollup('Rss'),
    anonymous: ofRollup('Anonymous'),
    ...inUse(server.lines),
    files: readdirSync(`/proc/${server.pid}/fd`).length,
    wal: Math.round(walBytes / mebibyte),
  }
}

interface MemoryReport {
  readonly thread: number
  readonly atMs: number
  readonly heap: number
  readonly code: number
  readonly external: number
}

/** Adds up the last reports of all live threads. */
function inUse(lines: readonly string[]): Pick<Sample, 'heap' | 'code' | 'external'> {
  const last = new Map<number, MemoryReport>()
  for (const line of lines) {
    if (!line.startsWith('{"memoryReport"')) continue
    const { memoryReport } = JSON.parse(line) as { memoryReport: MemoryReport }
    last.set(memoryReport.thread, memoryReport)
  }
  const living = [...last.values()].filter(({ atMs }) => Date.now() - atMs < reportIsOldMs)
  if (living.length === 0) return { heap: undefined, code: undefined, external: undefined }
  const sumOf = (name: 'heap' | 'code' | 'external'): number =>
    living.reduce((sum, report) => sum + report[name] / mebibyte, 0)
  return { heap: sumOf('heap'), code: sumOf('code'), external: sumOf('external') }
}

/** Finds growing memory, more open files, a large write-ahead log, and errors in the node's log. */
export function judge(samples: readonly Sample[], { lines }: ServerProcess): string[] {
  const findings: string[] = []
  const [after, late] = [settled(samples), secondHalf(samples)]
  // The slope is judged only over about half an hour or more: over less time it means nothing.
  if (late.length >= 55) {
    const live = slopeOf(late, 'heap') + slopeOf(late, 'external')
    if (live > maxLiveSlope) findings.push(`what is in use grows by ${live.toFixed(1)} MiB an hour`)
    const anonymous = slopeOf(late, 'anonymous')
    if (anonymous > maxAnonymousSlope) {
      findings.push(`anonymous memory grows by ${anonymous.toFixed(1)} MiB an hour`)
    }
  }
  const more = (samples.at(-1)?.files ?? 0) - (after[0]?.files ?? Infinity)
  if (more > maxFiles) findings.push(`${more} files more are open`)
  const largest = Math.max(...samples.map(({ wal }) => wal))
  if (largest > maxWalMiB) findings.push(`the log of the database grew to ${largest} MiB`)
  for (const line of lines) {
    if (/"level":"?(?:error|fatal|50|60)"?/.test(line)) {
      findings.push(`logged: ${line.slice(0, 1000)}`)
    }
  }
  return findings
}

const parts = ['resident', 'anonymous', 'heap', 'code', 'external'] as const

export function figuresOf(samples: readonly Sample[]): Record<string, number> {
  const [after, late] = [settled(samples), secondHalf(samples)]
  const [first, last] = [after[0], samples.at(-1)]
  const ofMemory = parts.flatMap((part) => [
    [`${part}_mib_after_15_min`, tenths(first?.[part] ?? 0)],
    [`${part}_mib`, tenths(last?.[part] ?? 0)],
    [`${part}_mib_half_way`, tenths(late[0]?.[part] ?? 0)],
    [`${part}_mib_per_hour_then`, tenths(slopeOf(late, part))],
  ])
  return {
    ...(Object.fromEntries(ofMemory) as Record<string, number>),
    files_after_15_min: first?.files ?? 0,
    files: last?.files ?? 0,
    largest_wal_mib: Math.max(...samples.map(({ wal }) => wal)),
  }
}

/** Leaves out the first quarter of an hour, in which the heap still grows to its normal size. */
function settled(samples: readonly Sample[]): readonly Sample[] {
  return samples.filter(({ atHours }) => atHours >= 0.25)
}

/** Leaves out the first half of the run, in which V8 compiles code and memory still grows to its normal size. */
function secondHalf(samples: readonly Sample[]): readonly Sample[] {
  const endsAt = samples.at(-1)?.atHours ?? 0
  return samples.filter(({ atHours }) => atHours >= endsAt / 2)
}

/** Computes the slope in MiB per hour, by least squares. */
function slopeOf(samples: readonly Sample[], part: (typeof parts)[number]): number {
  const points = samples.flatMap((one) => {
    const mebibytes = one[part]
    return mebibytes === undefined ? [] : [{ at: one.atHours, mebibytes }]
  })
  const mean = (of: (point: (typeof points)[number]) => number): number =>
    points.reduce((sum, point) => sum + of(point), 0) / Math.max(1, points.length)
  const [meanAt, meanMiB] = [mean(({ at }) => at), mean(({ mebibytes }) => mebibytes)]
  const spread = mean(({ at }) => (at - meanAt) ** 2)
  if (spread === 0) return 0
  return mean(({ at, mebibytes }) => (at - meanAt) * (mebibytes - meanMiB)) / spread
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10
}
