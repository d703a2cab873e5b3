// The guarded call beside nginx and HAProxy, in the same run: CPU µs per call (user + system of each peer's processes)
// and latency. Peers that are not installed are named and left out. `node bench/gateway.ts [seconds] [rounds]`
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startHaproxy, startIntercept, startNginx, startUpstream } from './gateway-peers.ts'
import type { Peer } from './gateway-peers.ts'
import { cpuSeconds, findProgram } from './processes.ts'

interface Result {
  readonly cpuUs: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly perSecond: number
}

const seconds = Number(process.argv[2] ?? 4)
const rounds = Number(process.argv[3] ?? 2)
const connections = 64
const folder = mkdtempSync(join(tmpdir(), 'intercept-bench-'))
const nginx = findProgram('nginx')
const haproxy = findProgram('haproxy')
const wrk = findProgram('wrk')
for (const [name, path] of Object.entries({ nginx, haproxy, wrk })) {
  if (path === undefined)
    console.log(`missing: ${name} (apt-get install -y nginx-light haproxy wrk)`)
}
if (wrk === undefined || nginx === undefined) process.exit(1)

const peers: Peer[] = []
let upstream: Peer | undefined
try {
  upstream = await startUpstream(nginx, folder)
  const upstreamPort = upstream.port
  peers.push(await startNginx(nginx, folder, { upstreamPort, accessLog: false }))
  peers.push(await startNginx(nginx, folder, { upstreamPort, accessLog: true }))
  if (haproxy !== undefined) peers.push(await startHaproxy(haproxy, folder, upstreamPort))
  peers.push(await startIntercept(folder, upstreamPort))
  for (const method of ['GET', 'POST'] as const) compare(method)
} finally {
  for (const peer of peers) await peer.end()
  await upstream?.end()
  rmSync(folder, { recursive: true, force: true })
}

function compare(method: 'GET' | 'POST'): void {
  const results = new Map<string, Result[]>(peers.map((peer) => [peer.name, []]))
  for (let round = 0; round < rounds; round++) {
    for (const peer of peers) results.get(peer.name)?.push(measure(peer, method))
  }
  const best = new Map([...results].map(([name, list]) => [name, median(list)]))
  const base = best.get('nginx map')
  console.log(`\n${method} 1 KB, ${connections} connections, ${rounds} × ${seconds} s`)
  for (const [name, { cpuUs, p50Ms, p99Ms, perSecond }] of best) {
    const ratio = base === undefined ? '' : `${(cpuUs / base.cpuUs).toFixed(2)} × nginx map`
    console.log(
      `  ${name.padEnd(24)} ${cpuUs.toFixed(1).padStart(6)} µs CPU   ${ratio.padEnd(20)} p50 ${p50Ms.toFixed(2)} ms  p99 ${p99Ms.toFixed(2)} ms  ${Math.round(perSecond)}/s`,
    )
  }
}

function median(list: readonly Result[]): Result {
  const sorted = list.toSorted((a, b) => a.cpuUs - b.cpuUs)
  const middle = sorted[Math.floor((sorted.length - 1) / 2)]
  if (middle === undefined) throw new Error('nothing was measured')
  return middle
}

function measure(peer: Peer, method: 'GET' | 'POST'): Result {
  const script = join(folder, `${method}.lua`)
  const body = method === 'POST' ? `wrk.body = string.rep("x", 1024)\n` : ''
  writeFileSync(
    script,
    `wrk.method = "${method}"\n${body}wrk.headers["X-API-Key"] = "${peer.key}"\nwrk.headers["User-Agent"] = "bench/1"\nwrk.headers["Accept"] = "application/json"\n`,
  )
  const url = `http://127.0.0.1:${peer.port}${peer.path}`
  const drive = (time: number) =>
    execFileSync(
      wrk ?? '',
      ['-t1', `-c${connections}`, `-d${time}s`, '--latency', '-s', script, url],
      { encoding: 'utf8' },
    )
  // All peers alike: long enough for a compiler at run time to have done its work.
  drive(3)
  const before = cpuSeconds(peer.pid)
  const text = drive(seconds)
  const used = cpuSeconds(peer.pid) - before
  const calls = Number(/(\d+) requests in/.exec(text)?.[1])
  if (/Non-2xx|Socket errors/.test(text)) throw new Error(`${peer.name} failed calls:\n${text}`)
  return {
    cpuUs: (used / calls) * 1e6,
    p50Ms: milliseconds(text, 50),
    p99Ms: milliseconds(text, 99),
    perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1]),
  }
}

function milliseconds(text: string, percentile: number): number {
  const [, digits, unit] = new RegExp(`${percentile}%\\s+([\\d.]+)(us|ms|s)`).exec(text) ?? []
  return Number(digits) * (unit === 'us' ? 0.001 : unit === 's' ? 1000 : 1)
}
