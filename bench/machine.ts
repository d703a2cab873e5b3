// Watches how fast the machine itself is while something else is measured on it. On a shared host, all cores of a virtual
// machine can become ten times slower for 10 to 40 ms, several times a second; no program on it can avoid that.
// One process, `node bench/machine.ts`, watches the core of the peers and one those of the load: it does a small piece of
// work every few milliseconds. With more than two cores, that of the load may not be the one that is watched.
// A piece is measured by its CPU time, so waiting for the measured programs is not mistaken for a slow machine. For each
// line of its input, the process begins to watch, or ends and prints what it saw as JSON.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { pinned } from './processes.ts'

/** Watches the cores of the peers and of the load. */
export interface Watch {
  begin(): void
  /** Returns when a core was slow since `begin`, in milliseconds of `monotonicMs`. */
  end(): Promise<readonly number[]>
  stop(): void
}

const everyMs = 5
const pieceMs = 0.04
const slowFactor = 4

/** Otherwise, V8's other threads would take turns of up to 1 ms on the cores that are watched. */
const flags = ['--single-threaded']

/** Starts the processes that watch. They are kept: one that has just started would take turns of milliseconds itself. */
export function startWatch(): Watch {
  const children = (['peer', 'load'] as const).map((part) => {
    const node = [process.execPath, ...flags, import.meta.filename]
    const [program = '', ...words] = pinned(part, node)
    return spawn(program, words, { stdio: ['pipe', 'pipe', 'inherit'] })
  })
  const lines = children.map((child) => createInterface(child.stdout)[Symbol.asyncIterator]())
  const order = (): void => {
    for (const child of children) child.stdin.write('\n')
  }
  return {
    begin: order,
    end: async () => {
      order()
      const seen = lines.map(async (each) => {
        const { done, value } = await each.next()
        if (done === true) throw new Error('the watch of the machine ended')
        return JSON.parse(value) as number[]
      })
      return (await Promise.all(seen)).flat()
    },
    stop: () => {
      for (const child of children) child.kill('SIGKILL')
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
  let pieces: { readonly atMs: number; readonly tookUs: number }[] = []
  let timer: NodeJS.Timeout | undefined
  const orders = createInterface(process.stdin)
  // Ends with the benchmark, also if that was killed while this process watched.
  orders.on('close', () => process.exit())
  orders.on('line', () => {
    if (timer === undefined) {
      timer = setInterval(() => pieces.push(piece(size)), everyMs)
      return
    }
    clearInterval(timer)
    timer = undefined
    const sorted = pieces.map(({ tookUs }) => tookUs).toSorted((a, b) => a - b)
    const usualUs = sorted[sorted.length >> 1] ?? 0
    const slow = pieces.filter(({ tookUs }) => tookUs >= slowFactor * usualUs)
    pieces = []
    console.log(JSON.stringify(slow.map(({ atMs }) => atMs)))
  })
}

function piece(size: number): { readonly atMs: number; readonly tookUs: number } {
  // Not the CPU time of the thread: Linux counts that in ticks while the thread runs.
  const { user, system } = process.cpuUsage()
  work(size)
  const after = process.cpuUsage()
  return { atMs: monotonicMs(), tookUs: after.user + after.system - user - system }
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
