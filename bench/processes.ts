import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { connect, createServer, type AddressInfo } from 'node:net'
import { availableParallelism } from 'node:os'

// The kernel reports CPU time in ticks of 1/USER_HZ seconds.
const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))

/** CPU seconds (user and system) that a process and its children have used so far. */
export function cpuSeconds(pid: number): number {
  let ticks = 0
  for (const each of [pid, ...childrenOf(pid)]) {
    const stat = readFileSync(`/proc/${each}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    ticks += fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
  }
  return ticks / ticksPerSecond
}

const quietMs = 300
const maxQuietTurns = 50

/**
 * Waits until a process is idle, so that deferred work is charged to the load that caused it. Throws if the process is
 * still busy after 15 seconds.
 */
export async function untilQuiet(pid: number): Promise<void> {
  for (let turn = 0; turn < maxQuietTurns; turn++) {
    const before = cpuSeconds(pid)
    await new Promise((resolve) => setTimeout(resolve, quietMs))
    if (cpuSeconds(pid) - before <= 1.5 / ticksPerSecond) return
  }
  throw new Error(
    `process ${pid} is still at work ${(quietMs * maxQuietTurns) / 1000} s after its load`,
  )
}

/** Resident memory of a process and its children, in bytes. */
export function residentBytes(pid: number): number {
  let bytes = 0
  for (const each of [pid, ...childrenOf(pid)]) {
    const status = readFileSync(`/proc/${each}/status`, 'utf8')
    bytes += Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024
  }
  return bytes
}

/** Returns the path of a program; undefined if none of the usual folders contains it. */
export function findProgram(name: string): string | undefined {
  const places = ['/usr/sbin', '/usr/bin', '/usr/local/sbin', '/usr/local/bin']
  return places.map((folder) => `${folder}/${name}`).find((path) => existsSync(path))
}

const cores = availableParallelism()
const taskset = cores > 1 ? findProgram('taskset') : undefined
const coresOf = { peer: '0', load: `1-${cores - 1}` }

/**
 * Pins a running process and its children to the cores for peers or for the load (`part`), if `taskset` is available.
 * This also applies to the threads and processes that they start later.
 */
export function pin(pid: number, part: keyof typeof coresOf): void {
  if (taskset === undefined) return
  for (const each of [pid, ...childrenOf(pid)]) {
    execFileSync(taskset, ['-acp', coresOf[part], String(each)], { stdio: 'ignore' })
  }
}

/** Makes a command run on the cores for peers or for the load (`part`), if `taskset` is available. */
export function pinned(part: keyof typeof coresOf, words: readonly string[]): string[] {
  return taskset === undefined ? [...words] : [taskset, '-c', coresOf[part], ...words]
}

/** Starts a program and waits until it listens on `port`; throws if it does not within 10 seconds. */
export async function startPeer(
  program: string,
  args: readonly string[],
  port: number,
): Promise<ChildProcess> {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let complaint = ''
  child.stderr?.on('data', (chunk: Buffer) => (complaint += chunk.toString()))
  const deadline = performance.now() + 10_000
  while (!(await accepts(port))) {
    if (child.exitCode !== null || performance.now() > deadline) {
      throw new Error(`${program} does not listen on ${port}: ${complaint}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return child
}

export async function unusedPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

export function childrenOf(pid: number): number[] {
  const children: number[] = []
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    const text = readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim()
    if (text !== '') children.push(...text.split(' ').map(Number))
  }
  return [...children, ...children.flatMap(childrenOf)]
}

async function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}
