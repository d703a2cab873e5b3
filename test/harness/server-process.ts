import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { portForTests } from './ports.ts'

export interface ServerProcess extends AsyncDisposable {
  readonly baseUrl: string
  readonly pid: number
  /** All lines that the node has logged so far, normally one JSON object each. */
  readonly lines: readonly string[]
  kill(signal: NodeJS.Signals): void
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

const launcher = join(import.meta.dirname, '..', '..', 'bin', 'intercept.js')
const lane = process.env['HTTP_LANE']
const laneOfTests = lane === undefined ? {} : { HTTP_LANE: lane }
const startWithinMs = 30_000

/** Starts `intercept serve` as an operator would; resolves when it is listening. */
export async function startServerProcess(
  env: Record<string, string>,
  program = launcher,
): Promise<ServerProcess> {
  const PORT = String(await portForTests())
  const child = spawn(process.execPath, [program, 'serve'], {
    env: { PATH: process.env['PATH'], PORT, LOG_LEVEL: 'info', ...laneOfTests, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines: string[] = []
  const ended = (async () => {
    const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
    return { code, signal }
  })()
  const listening = Promise.withResolvers<string>()
  const deadline = setTimeout(
    () => listening.reject(new Error(`not listening:\n${lines.join('\n')}`)),
    startWithinMs,
  )
  for (const stream of [child.stdout, child.stderr]) {
    createInterface(stream).on('line', (line) => {
      lines.push(line)
      const [, url] = /"message":"Intercept listens at ([^"]+)"/.exec(line) ?? []
      if (url !== undefined) listening.resolve(url)
    })
  }
  void ended.then(() => listening.reject(new Error(`ended at once:\n${lines.join('\n')}`)))
  try {
    const baseUrl = await listening.promise
    return {
      baseUrl,
      pid: child.pid ?? 0,
      lines,
      ended,
      kill: (signal) => void child.kill(signal),
      async [Symbol.asyncDispose]() {
        child.kill('SIGCONT')
        child.kill('SIGKILL')
        await ended
      },
    }
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  } finally {
    clearTimeout(deadline)
  }
}

/** Returns the ids of a process's children, in the order in which they were started; on Linux only. */
export function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return text.split(' ').filter(Boolean).map(Number)
}
