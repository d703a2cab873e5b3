// Watches how fast the machine itself is while something else is measured on it. On a shared host, all cores of a virtual
// machine can become ten times slower for 10 to 40 ms, several times a second; no program on it can avoid that.
// One process, `node bench/machine.ts`, watches the core of the peers and one those of the load: it does a small piece of
// work every few milliseconds. With more than two cores, that of the load may not be the one that is watched.
// A piece is measured by its CPU time, so waiting for the measured programs is not mistaken for a slow machine. The
// process prints a line when it begins and, at the end of its input, what it saw as JSON.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { pinned } from './processes.ts'

export interface Watch {
  /** Ends watching; returns when a core was slow, in milliseconds of `monotonicMs`. */
  end(): Promise<readonly number[]>
}

const everyMs = 5
const pieceMs = 0.04
const slowFactor = 4

/** Watches the cores of the peers and of the load; resolves when both are being watched. */
export async function watchMachine(): Promise<Watch> {
  const children = (['peer', 'load'] as const).map((part) => {
    const [program = '', ...words] = pinned(part, [process.execPath, import.meta.filename])
    return spawn(program, words, { stdio: ['pipe', 'pipe', 'inherit'] })
  })
  const lines = children.map((child) => createInterface(child.stdout)[Symbol.asyncIterator]())
  for (const each of lines) await each.next()
  return {
    end: async () => {
      const seen = children.map(async (child, at) => {
        child.stdin.end()
        const line = await lines[at]?.next()
        return JSON.parse(line?.value ?? '[]') as number[]
      })
      return (await Promise.all(seen)).flat()
    },
  }
}

/** The time in milliseconds of a clock that all processes of the machine share. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

if (import.meta.main) watchCore()

function watchCore(): void {
  const size = sizeOfPiece()
  console.log('watching')
  const pieces: { readonly atMs: number; readonly tookUs: number }[] = []
  const timer = setInterval(() => {
    // Not the CPU time of the thread: Linux counts that in ticks while the thread runs.
    const { user, system } = process.cpuUsage()
    work(size)
    const after = process.cpuUsage()
    pieces.push({ atMs: monotonicMs(), tookUs: after.user + after.system - user - system })
  }, everyMs)
  process.stdin.resume().on('end', () => {
    clearInterval(timer)
    const sorted = pieces.map(({ tookUs }) => tookUs).toSorted((a, b) => a - b)
    const usualUs = sorted[sorted.length >> 1] ?? 0
    const slow = pieces.filter(({ tookUs }) => tookUs >= slowFactor * usualUs)
    console.log(JSON.stringify(slow.map(({ atMs }) => atMs)))
  })
}

/** Returns how often `work` must repeat its step for one piece. */
function sizeOfPiece(): number {
  const tried = 20_000
  const tookMs = Array.from({ length: 100 }, () => {
    const start = performance.now()
    work(tried)
    return performance.now() - start
  })
  return Math.round((tried * pieceMs) / Math.min(...tookMs))
}

function work(times: number): number {
  let state = 1
  for (let at = 0; at < times; at++) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
  }
  return state
}
