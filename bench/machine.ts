// Measures how evenly the machine itself runs: on a shared host, all cores of a virtual machine can become ten times
// slower for 10 to 40 ms, which no program on it can avoid or tell apart from its own work.
// As a process, `node bench/machine.ts <seconds>`, it does the same small piece of work again and again on one core, and
// prints as JSON how much of the time it was slow.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { pinned } from './processes.ts'

export interface Evenness {
  /** The share of the time in which the work took at least `slowFactor` times as long as usual, 0 to 1. */
  readonly slowShare: number
  readonly longestMs: number
}

const slowFactor = 4
const piecesPerMs = 50
/** Slow times with less than this between them count as one. */
const joinedMs = 1

/** Measures the cores of the peers and of the load at the same time. */
export async function machineEvenness(seconds: number): Promise<Evenness> {
  const cores = await Promise.all(
    (['peer', 'load'] as const).map(async (part) => {
      const command = [process.execPath, import.meta.filename, String(seconds)]
      const [program = '', ...words] = pinned(part, command)
      const { stdout } = await promisify(execFile)(program, words, { encoding: 'utf8' })
      return JSON.parse(stdout) as Evenness
    }),
  )
  return {
    slowShare: Math.max(...cores.map(({ slowShare }) => slowShare)),
    longestMs: Math.max(...cores.map(({ longestMs }) => longestMs)),
  }
}

if (import.meta.main) console.log(JSON.stringify(evennessOf(Number(process.argv[2]))))

function evennessOf(seconds: number): Evenness {
  const size = sizeOfPiece()
  const usualMs = 1 / piecesPerMs
  const start = performance.now()
  const end = start + seconds * 1000
  let slowMs = 0
  let longestMs = 0
  let slowFrom = 0
  let slowTo = -joinedMs
  for (let now = start; now < end;) {
    work(size)
    const after = performance.now()
    if (after - now >= usualMs * slowFactor) {
      if (now - slowTo >= joinedMs) slowFrom = now
      slowMs += after - now
      slowTo = after
      longestMs = Math.max(longestMs, slowTo - slowFrom)
    }
    now = after
  }
  return { slowShare: slowMs / (end - start), longestMs }
}

/** Returns how much work usually takes one piece of time. */
function sizeOfPiece(): number {
  const tried = 20_000
  const tookMs = Array.from({ length: 500 }, () => {
    const start = performance.now()
    work(tried)
    return performance.now() - start
  }).toSorted((a, b) => a - b)
  return Math.round(tried / piecesPerMs / (tookMs[tookMs.length >> 2] ?? 1))
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
