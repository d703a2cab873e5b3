// Drives WebKit through WebDriver (W3C), on machines that have Debian's packages webkit2gtk-driver and xvfb.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { portForTests } from './ports.ts'
import { findProgram } from './proxy-program.ts'

const miniBrowser = '/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser'
const startTries = 100
const lookEveryMs = 50
const maxWaitMs = 15_000

export const hasWebkit =
  existsSync(miniBrowser) &&
  ['WebKitWebDriver', 'Xvfb'].every((name) => findProgram(name) !== undefined)

export interface Webkit extends AsyncDisposable {
  open(url: string): Promise<void>
  resize(width: number, height: number): Promise<void>
  /** Runs the body of a function in the page and returns its result. */
  run(script: string): Promise<unknown>
  /** Runs the body of a function repeatedly until it returns true; throws after 15 s. */
  until(script: string): Promise<void>
}

/** Starts WebKit on a screen of its own. */
export async function startWebkit(): Promise<Webkit> {
  await using starting = new AsyncDisposableStack()
  const display = `:${await portForTests()}`
  const port = await portForTests()
  const start = (program: string, args: readonly string[]): void => {
    const child = spawn(program, args, {
      // WebKit's sandbox can't be set up by root in a container.
      env: { ...process.env, DISPLAY: display, WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1' },
      stdio: 'ignore',
    })
    starting.defer(() => void child.kill())
  }
  start('Xvfb', [display, '-screen', '0', '1400x1000x24'])
  start('WebKitWebDriver', [`--port=${port}`])
  const ask = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(60_000),
    })
    const { value } = (await response.json()) as { value: { message?: string } | null }
    if (!response.ok) throw new Error(`${method} ${path}: ${value?.message ?? response.status}`)
    return value
  }
  const session = await firstSession(ask)
  starting.defer(async () => void (await ask('DELETE', session)))
  const run = async (script: string): Promise<unknown> =>
    await ask('POST', `${session}/execute/sync`, { script, args: [] })
  const parts = starting.move()
  return {
    run,
    open: async (url) => void (await ask('POST', `${session}/url`, { url })),
    resize: async (width, height) =>
      void (await ask('POST', `${session}/window/rect`, { width, height })),
    async until(script) {
      const endsAt = performance.now() + maxWaitMs
      while ((await run(script)) !== true) {
        if (performance.now() > endsAt) throw new Error(`never true: ${script}`)
        await wait(lookEveryMs)
      }
    },
    [Symbol.asyncDispose]: async () => await parts.disposeAsync(),
  }
}

/** Opens a session as soon as the driver and the virtual screen are ready; returns its path. */
async function firstSession(
  ask: (method: string, path: string, body?: unknown) => Promise<unknown>,
): Promise<string> {
  const options = { binary: miniBrowser, args: ['--automation'] }
  const alwaysMatch = {
    browserName: 'MiniBrowser',
    acceptInsecureCerts: true,
    'webkitgtk:browserOptions': options,
  }
  for (let tries = 1; ; tries++) {
    try {
      const made = await ask('POST', '/session', { capabilities: { alwaysMatch } })
      return `/session/${(made as { sessionId: string }).sessionId}`
    } catch (error) {
      if (tries === startTries) throw error
      await wait(lookEveryMs)
    }
  }
}
