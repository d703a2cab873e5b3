import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

export interface ExampleProgram extends AsyncDisposable {
  readonly port: number
  readonly lines: readonly string[]
}

const startWithinMs = 60_000

/** Starts a program and waits for the line that reports its port; by default that is `listening at <port>`. */
export async function startExample(options: {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Matches the line that reports the port; its first group is the port. */
  readonly sign?: RegExp
}): Promise<ExampleProgram> {
  const child = spawn(options.command, options.args, {
    cwd: options.cwd,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // `go run` starts a child process. In a process group, both can be killed together.
    detached: true,
  })
  const lines: string[] = []
  const listening = Promise.withResolvers<number>()
  const deadline = setTimeout(
    () => listening.reject(new Error(`does not listen:\n${lines.join('\n')}`)),
    startWithinMs,
  )
  for (const stream of [child.stdout, child.stderr]) {
    createInterface(stream).on('line', (line) => {
      lines.push(line)
      const [, port] = (options.sign ?? /listening at (\d+)/).exec(line) ?? []
      if (port !== undefined) listening.resolve(Number(port))
    })
  }
  const ended = once(child, 'close')
  void ended.then(() => listening.reject(new Error(`ended:\n${lines.join('\n')}`)))
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    await ended
  }
  try {
    const port = await listening.promise
    return { port, lines, [Symbol.asyncDispose]: stop }
  } catch (error) {
    await stop()
    throw error
  } finally {
    clearTimeout(deadline)
  }
}
