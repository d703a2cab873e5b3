import { run } from '../../src/cli/index.ts'

export interface CommandResult {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Runs a command in this process, with its own settings and standard input. */
export async function intercept(
  words: readonly string[],
  surroundings: { env: Record<string, string>; input?: string },
): Promise<CommandResult> {
  const out: string[] = []
  const err: string[] = []
  const code = await run(words, {
    env: surroundings.env,
    isPerson: false,
    print: (line) => void out.push(line),
    complain: (line) => void err.push(line),
    readInput: async () => surroundings.input ?? '',
    untilStopped: async () => {},
  })
  process.exitCode = 0
  return { code, out: out.join('\n'), err: err.join('\n') }
}
