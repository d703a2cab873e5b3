import { text } from 'node:stream/consumers'

/** Where a command reads and writes; tests hand in their own. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Whether a person looks at the output. */
  readonly isPerson: boolean
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
    print: (line) => void process.stdout.write(`${line}\n`),
    complain: (line) => void process.stderr.write(`${line}\n`),
    readInput: async () => (await text(process.stdin)).trim(),
    untilStopped: async () =>
      await new Promise<void>((resolve) => {
        // Once: a second signal ends the process at once, as people expect.
        for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
      }),
  }
}
