import { text } from 'node:stream/consumers'

import type { Remote } from '../remote/connection.ts'

/** Where a command reads and writes; tests hand in their own. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Whether a person looks at the output. */
  readonly isPerson: boolean
  /** How commands are started here, for hints that can be pasted; `intercept` unless something else is said. */
  readonly program?: string
  /** The running Intercept that a command speaks to over its API; undefined: the database. */
  readonly remote?: Remote | undefined
  print(line: string): void
  complain(line: string): void
  /** Standard input, whole and trimmed; for secrets, which don't belong on a command line. */
  readInput(): Promise<string>
  /** Resolves when somebody wants this to end (SIGINT, SIGTERM). */
  untilStopped(): Promise<void>
}

/** The terminal of this process. */
export function processTerminal(): Terminal {
  // Who reads us has gone (`| head`): there is nobody left to tell.
  process.stdout.once('error', () => process.exit(0))
  return {
    env: process.env,
    isPerson: process.stdout.isTTY,
    program: programOf(process.env),
    print: (line) => void process.stdout.write(`${line}\n`),
    complain: (line) => void process.stderr.write(`${line}\n`),
    readInput: async () => (await text(process.stdin)).trim(),
    untilStopped,
  }
}

/** npx says of itself that it is npm's `exec`. */
export function programOf(env: Terminal['env']): string {
  return env['npm_command'] === 'exec' ? 'npx interceptd' : 'intercept'
}

/**
 * One Ctrl+C comes up to four times: from the terminal, and passed on by npx, npm and our own launcher. What comes
 * within this time of the first is the same wish; a later signal ends the process at once, as people expect.
 */
const sameWishMs = 1000

async function untilStopped(): Promise<void> {
  const signals = ['SIGINT', 'SIGTERM'] as const
  await new Promise<void>((resolve) => {
    let timer: NodeJS.Timeout | undefined
    const onSignal = (): void => {
      timer ??= setTimeout(() => {
        for (const signal of signals) process.off(signal, onSignal)
      }, sameWishMs).unref()
      resolve()
    }
    for (const signal of signals) process.on(signal, onSignal)
  })
}
