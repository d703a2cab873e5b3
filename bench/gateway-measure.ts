// Measures one peer under one load: the CPU time per call, as the kernel reports it, the calls per second and, for
// loads from wrk and at a fixed rate, the latency.
import { execFile, execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { percentile } from '../test/harness/percentile.ts'
import type { LoadOrder, LoadSeen } from './gateway-load.ts'
import type { PacedLoad } from './gateway-paced-load.ts'
import type { Peer } from './gateway-peers.ts'
import { delaysOf } from './machine-delays.ts'
import { cpuSeconds, pinned, untilQuiet } from './processes.ts'

export interface Measured {
  /** NaN for the upstream of the load at a fixed rate, which is the load itself. */
  readonly cpuUs: number
  readonly perSecond: number
  readonly p50Ms?: number
  readonly p99Ms?: number
  /** With `undelayedShare`: the p99 of all calls, where `p99Ms` is that of the calls that the machine did not delay. */
  readonly p99OfAllMs?: number
  /** The share of the calls that the machine itself did not delay (machine.ts), 0 to 1. */
  readonly undelayedShare?: number
}

export interface Task {
  readonly folder: string
  readonly seconds: number
  readonly wrk: string
  /** Calls per second that the slowest peer can handle; only for workloads that need it. */
  readonly capacity?: number | undefined
  readonly paced?: PacedLoad
}

/** The requests that wrk sends; `path` is the path below the target. */
export interface WrkLoad {
  readonly path?: string
  readonly method?: 'GET' | 'POST'
  readonly bodyBytes?: number
  readonly key?: (peer: Peer) => string
  readonly connections?: number
  /** Whether the calls are expected to be refused. */
  readonly refused?: boolean
}

const connections = 64

/** Measures a peer under load from wrk: as many calls as it can handle. */
export async function measureFull(peer: Peer, task: Task, load: WrkLoad): Promise<Measured> {
  const script = join(task.folder, 'load.lua')
  const { method = 'GET', bodyBytes = 0 } = load
  const body = bodyBytes === 0 ? '' : `wrk.body = string.rep("x", ${bodyBytes})\n`
  writeFileSync(
    script,
    `wrk.method = "${method}"\n${body}wrk.headers["X-API-Key"] = "${load.key?.(peer) ?? peer.key}"\nwrk.headers["User-Agent"] = "bench/1"\nwrk.headers["Accept"] = "application/json"\n`,
  )
  const url = `http://127.0.0.1:${peer.port}${peer.prefix}${load.path ?? '/items/7?full=1'}`
  const [program = '', ...words] = pinned('load', [
    ...[task.wrk, '-t1', `-c${load.connections ?? connections}`, `-d${task.seconds}s`],
    ...['--latency', '-s', script, url],
  ])
  const before = cpuOf(peer)
  const text = execFileSync(program, words, { encoding: 'utf8' })
  const used = (await cpuWhenQuiet(peer)) - before
  const calls = Number(/(\d+) requests in/.exec(text)?.[1])
  const isRefused = /Non-2xx/.test(text)
  if (isRefused !== (load.refused === true) || /Socket errors: connect [1-9]/.test(text)) {
    throw new Error(`${peer.name} did not do what it should:\n${text}`)
  }
  return {
    cpuUs: (used / calls) * 1e6,
    perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1]),
    p50Ms: milliseconds(text, 50),
    p99Ms: milliseconds(text, 99),
  }
}

/**
 * Measures a peer under calls at a fixed rate. Latencies are those of the calls that the machine itself did not delay; they
 * are NaN if there are none.
 */
export async function measurePaced(
  peer: Peer,
  task: Task,
  load: { readonly path: string; readonly perSecond: number },
): Promise<Measured> {
  const { paced } = peer
  if (paced === undefined || task.paced === undefined) throw new Error(`no load for ${peer.name}`)
  const before = cpuOf(peer)
  const seen = await task.paced.offer({
    ...{ port: paced.port, path: paced.prefix + load.path, key: peer.key },
    ...{ perSecond: load.perSecond, seconds: task.seconds },
  })
  const delays = delaysOf(seen, seen.disturbedAtMs)
  const used = peer.kind === 'upstream' ? Number.NaN : (await cpuWhenQuiet(peer)) - before
  const allMs = seen.tookMs.filter((_, at) => (seen.dueMs[at] ?? 0) >= seen.measuredFromMs)
  const undelayedMs = seen.tookMs.filter((_, at) => {
    const due = seen.dueMs[at] ?? 0
    return due >= seen.measuredFromMs && !delays.include(due)
  })
  return {
    cpuUs: (used / seen.tookMs.length) * 1e6,
    perSecond: allMs.length / task.seconds,
    p50Ms: percentile(undelayedMs, 0.5),
    p99Ms: percentile(undelayedMs, 0.99),
    p99OfAllMs: percentile(allMs, 0.99),
    undelayedShare: undelayedMs.length / allMs.length,
  }
}

/** Measures a peer under a load that wrk cannot generate; gateway-load.ts sends it from the load's cores. */
export async function measureLoad(
  peer: Peer,
  task: Task,
  load: Pick<LoadOrder, 'kind' | 'path' | 'connections'>,
): Promise<Measured> {
  const order: LoadOrder = {
    ...load,
    ...{ port: peer.port, path: peer.prefix + load.path, key: peer.key, seconds: task.seconds },
  }
  const file = join(import.meta.dirname, 'gateway-load.ts')
  const [program = '', ...words] = pinned('load', [process.execPath, file, JSON.stringify(order)])
  const before = cpuOf(peer)
  const { stdout } = await promisify(execFile)(program, words, { encoding: 'utf8' })
  const used = (await cpuWhenQuiet(peer)) - before
  const seen = JSON.parse(stdout) as LoadSeen
  if (seen.count === 0) throw new Error(`${peer.name} let nothing through`)
  return { cpuUs: (used / seen.count) * 1e6, perSecond: seen.count / task.seconds }
}

export function median(list: readonly number[]): number {
  const sorted = list.toSorted((a, b) => a - b)
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
  return (lower + upper) / 2
}

function cpuOf(peer: Peer): number {
  return processesOf(peer).reduce((sum, pid) => sum + cpuSeconds(pid), 0)
}

/**
 * Waits until a peer is idle, and returns its CPU time in seconds. This includes work that the peer defers, such as
 * writing call records.
 */
async function cpuWhenQuiet(peer: Peer): Promise<number> {
  for (const pid of processesOf(peer)) await untilQuiet(pid)
  return cpuOf(peer)
}

function processesOf(peer: Peer): readonly number[] {
  return [peer.pid, ...(peer.besides ?? [])]
}

function milliseconds(text: string, percentile: number): number {
  const [, digits, unit] = new RegExp(`${percentile}%\\s+([\\d.]+)(us|ms|s)`).exec(text) ?? []
  return Number(digits) * (unit === 'us' ? 0.001 : unit === 's' ? 1000 : 1)
}
