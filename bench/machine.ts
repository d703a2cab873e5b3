// Watches what the machine itself does while something else is measured on it; no program on it can avoid either:
// - On a shared host, all cores of a virtual machine can become ten times slower for 10 to 40 ms, several times a second.
// - `kdamond`, a thread of some kernels that checks for the host which memory is in use, holds a core for 1 to 4 ms twice
//   a second. Threads of the kernel that work for programs, such as those that write files, are not watched.
// One process, `node bench/machine.ts`, watches the core of the peers and one those of the load: it does a small piece of
// work every few milliseconds. With more than two cores, that of the load may not be the one that is watched.
// A piece is measured by its CPU time, so waiting for the measured programs is not mistaken for a slow machine. For each
// line of its input, the process begins to watch, or ends and prints what it saw as JSON.
import { spawn } from 'node:child_process'
import { openSync, readFileSync, readSync, readdirSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { pinned } from './processes.ts'

/** Watches the machine, and in particular the cores of the peers and of the load. */
export interface Watch {
  begin(): void
  /**
   * Returns when a core was slow or `kdamond` held one since `begin`, in milliseconds of `monotonicMs`: each time, a
   * moment up to `aroundMs` (machine-delays.ts) away.
   */
  end(): Promise<readonly number[]>
  stop(): void
}

const everyMs = 5
const pieceMs = 0.04
const slowFactor = 4
/** Shorter runs of `kdamond` are not reported. */
const heldMs = 0.25

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
  const scanMs = memoryScans()
  let pieces: Piece[] = []
  let timer: NodeJS.Timeout | undefined
  const orders = createInterface(process.stdin)
  // Ends with the benchmark, also if that was killed while this process watched.
  orders.on('close', () => process.exit())
  orders.on('line', () => {
    if (timer === undefined) {
      scanMs()
      timer = setInterval(() => pieces.push({ ...piece(size), scanMs: scanMs() }), everyMs)
      return
    }
    clearInterval(timer)
    timer = undefined
    const sorted = pieces.map(({ tookUs }) => tookUs).toSorted((a, b) => a - b)
    const usualUs = sorted[sorted.length >> 1] ?? 0
    const disturbed = pieces.filter(
      (one) => one.tookUs >= slowFactor * usualUs || one.scanMs >= heldMs,
    )
    pieces = []
    console.log(JSON.stringify(disturbed.map(({ atMs }) => atMs)))
  })
}

interface Piece {
  readonly atMs: number
  readonly tookUs: number
  /** How long `kdamond` ran since the piece before. */
  readonly scanMs: number
}

/** Returns a function that tells how long `kdamond` has run since it was last called, in milliseconds. */
function memoryScans(): () => number {
  const files = threadsOfKernel('kdamond').map((pid) => openSync(`/proc/${pid}/schedstat`, 'r'))
  const bytes = Buffer.alloc(100)
  let beforeMs = 0
  return () => {
    // The first number is the thread's time on a core, in nanoseconds.
    const nowMs = files.reduce((sum, file) => {
      return (
        sum + Number.parseInt(bytes.toString('latin1', 0, readSync(file, bytes, 0, 100, 0))) / 1e6
      )
    }, 0)
    const ranMs = nowMs - beforeMs
    beforeMs = nowMs
    return ranMs
  }
}

function threadsOfKernel(name: string): number[] {
  if (process.platform !== 'linux') return []
  const pids = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))
  return pids.filter((pid) => isThreadOfKernel(pid, name)).map(Number)
}

function isThreadOfKernel(pid: string, name: string): boolean {
  try {
    // Threads of the kernel have no command line.
    const isKernels = readFileSync(`/proc/${pid}/cmdline`).length === 0
    return isKernels && readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith(name)
  } catch {
    // The process has ended since.
    return false
  }
}

function piece(size: number): Omit<Piece, 'scanMs'> {
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
