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

/**
 * Text that may be somebody else's, for a terminal: what would move its cursor, colour it or rename its window shows
 * as an escape instead. JSON and quoted YAML read that escape as the same character.
 */
export function printable(text: string): string {
  return text.replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g, escaped)
}

/** The same for a value within a line: it begins no other line, and turns no direction of reading. */
export function printableInLine(text: string): string {
  return printable(text).replaceAll(
    /[\t\n\r\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    escaped,
  )
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
