// Runs a real reverse proxy with a configuration, on this machine's loopback address.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

export interface ProxyProgram extends AsyncDisposable {
  readonly port: number
}

const places = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']
const startWithinMs = 15_000

export function findProgram(name: string): string | undefined {
  return places.map((place) => join(place, name)).find((path) => existsSync(path))
}

/** Starts a program that reads a configuration file and listens on a port. */
export async function startProxy(options: {
  readonly program: string
  readonly port: number
  /** The configuration; `{folder}` stands for a folder created for it. */
  readonly configuration: string
  readonly fileName: string
  /** The arguments; `{file}` stands for the configuration file, `{folder}` for its folder. */
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}): Promise<ProxyProgram> {
  const folder = mkdtempSync(join(tmpdir(), 'intercept-proxy-'))
  const file = join(folder, options.fileName)
  writeFileSync(file, options.configuration.replaceAll('{folder}', folder))
  const program = findProgram(options.program)
  if (program === undefined) throw new Error(`${options.program} is not installed`)
  const args = options.args.map((arg) =>
    arg.replaceAll('{file}', file).replaceAll('{folder}', folder),
  )
  const child = spawn(program, args, {
    env: { PATH: process.env['PATH'], HOME: folder, XDG_DATA_HOME: folder, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-8000)))
  }
  const ended = once(child, 'close')
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL')
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
  const deadline = performance.now() + startWithinMs
  while (!(await answers(options.port))) {
    if (child.exitCode !== null || performance.now() > deadline) {
      await stop()
      throw new Error(`${options.program} does not listen:\n${said}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return { port: options.port, [Symbol.asyncDispose]: stop }
}

async function answers(port: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}
