// Simulates failovers, skewed clocks, and stuck and disconnected nodes in 100,000 worlds, each generated from a seed.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { Torture } from './torture.ts'

const worlds = 100_000
const shortWorlds = 1000
const worldsInPart = 100
const sayEvery = 5000

/** A range of seeds whose simulations run in one process. */
export interface FleetPart {
  readonly first: number
  readonly count: number
}

export interface FleetReport {
  calls: number
  answered: number
  refused: number
  cpuMs: number
  readonly findings: string[]
}

/** Each finding names the seed that reproduces it. */
export const fleet: Torture = {
  about:
    'many nodes in simulated worlds: nothing accepted after the answer, nobody refused for others',
  isLong: true,
  async run({ short, seed, size, say }) {
    const startedAt = performance.now()
    const total: FleetReport = { calls: 0, answered: 0, refused: 0, findings: [], cpuMs: 0 }
    const parts = partsOf(seed, size ?? (short ? shortWorlds : worlds))
    let done = 0
    const rate = (): number => Math.round((done * 1000) / (performance.now() - startedAt))
    await eachInAProcess(parts, ({ count }, report) => {
      total.calls += report.calls
      total.answered += report.answered
      total.refused += report.refused
      total.cpuMs += report.cpuMs
      total.findings.push(...report.findings)
      const before = done
      done += count
      if (Math.floor(before / sayEvery) === Math.floor(done / sayEvery)) return
      say(`${done} worlds, ${rate()} a second, ${total.findings.length} findings`)
    })
    const { findings, cpuMs, ...figures } = total
    const cost = {
      'worlds a second': rate(),
      'CPU ms a world': Math.round((cpuMs * 10) / done) / 10,
    }
    return { findings, figures: { worlds: done, ...cost, ...figures } }
  },
}

function partsOf(first: number, count: number): FleetPart[] {
  const parts: FleetPart[] = []
  for (let at = 0; at < count; at += worldsInPart) {
    parts.push({ first: first + at, count: Math.min(worldsInPart, count - at) })
  }
  return parts
}

/** Distributes the parts to one process per core; each gets the next part as soon as it is done. */
async function eachInAProcess(
  parts: FleetPart[],
  done: (part: FleetPart, report: FleetReport) => void,
): Promise<void> {
  const workers = Array.from({ length: Math.min(availableParallelism(), parts.length) }, () =>
    fork(fileURLToPath(new URL('fleet-worker.ts', import.meta.url))),
  )
  try {
    await Promise.all(
      workers.map(async (worker) => {
        for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
          done(part, await simulateIn(worker, part))
        }
      }),
    )
  } finally {
    for (const worker of workers) worker.kill()
  }
}

async function simulateIn(worker: ChildProcess, part: FleetPart): Promise<FleetReport> {
  const ended = new AbortController()
  const exit = once(worker, 'exit', { signal: ended.signal }).then(() => {
    throw new Error(`the process with worlds ${part.first} to ${part.first + part.count} ended`)
  })
  exit.catch(() => undefined)
  worker.send(part)
  try {
    const [report] = (await Promise.race([once(worker, 'message'), exit])) as [FleetReport]
    return report
  } finally {
    ended.abort()
  }
}
