import { text } from 'node:stream/consumers'

import type { Remote } from '../remote/connection.ts'

/** A command's input and output; tests provide their own. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Whether a person reads the output. */
  readonly isPerson: boolean
  /** How commands are started here, for hints that can be pasted; defaults to `intercept`. */
  readonly program?: string
  /** The running Intercept that a command works on over the API; undefined means the database. */
  readonly remote?: Remote | undefined
  print(line: string): void
  complain(line: string): void
  /** Reads all of standard input, trimmed; for secrets, which don't belong on a command line. */
  readInput(): Promise<string>
  /** Resolves when the process is asked to end (SIGINT, SIGTERM). */
  untilStopped(): Promise<void>
}

export function processTerminal(): Terminal {
  // An error means that the reader of our output has gone (`| head`), so there is nothing left to do.
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

/** Returns the command that help and hints show. npx sets `npm_command` to `exec`. */
export function programOf(env: Terminal['env']): string {
  return env['npm_command'] === 'exec' ? 'npx interceptd' : 'intercept'
}

/**
 * One Ctrl+C arrives up to four times: from the terminal, and forwarded by npx, npm and our own launcher. Signals
 * within this time of the first count as the same request; a later one ends the process at once, as people expect.
 */
const sameSignalMs = 1000

async function untilStopped(): Promise<void> {
  const signals = ['SIGINT', 'SIGTERM'] as const
  await new Promise<void>((resolve) => {
    let timer: NodeJS.Timeout | undefined
    const onSignal = (): void => {
      timer ??= setTimeout(() => {
        for (const signal of signals) process.off(signal, onSignal)
      }, sameSignalMs).unref()
      resolve()
    }
    for (const signal of signals) process.on(signal, onSignal)
  })
}

/**
 * Makes untrusted text safe for a terminal: characters that would move its cursor, change colors or rename its window
 * are shown as escapes. JSON and quoted YAML read those escapes as the same characters.
 */
export function printable(text: string): string {
  return text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, escaped)
}

/** Like `printable`, for a value within a line: it can't start a new line or change the text direction. */
export function printableInLine(text: string): string {
  return printable(text).replaceAll(
    /[\t\n\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    escaped,
  )
}

/** Formats a name, which people choose, so that it cannot forge a line of output. */
export function nameAndId({ name, id }: { readonly name: string; readonly id: string }): string {
  return `${printableInLine(name)} (${id})`
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
