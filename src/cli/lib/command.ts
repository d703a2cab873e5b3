import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'
import type { Terminal } from './terminal.ts'

/** What a command has done: `data` for `--json`, `text` for a person. */
export interface Answer {
  readonly data: unknown
  readonly text: string
}

/** Says one of several answers while a command goes on: with `--json` a line of JSON each. */
export type Say = (answer: Answer) => void

/** A command as the command line calls it. */
export interface Command {
  /** The words behind the command's name. */
  readonly usage: string
  readonly about: string
  run(args: readonly string[], terminal: Terminal, say: Say): Promise<Answer | undefined>
}

/** Wrong use of a command: exit 2 with its usage. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UsageError'
  }
}

/** The command did its work and the finding is a bad one: exit 1 after the answer is printed. */
export class BadFinding extends Error {
  readonly answer: Answer

  constructor(answer: Answer) {
    super(answer.text)
    this.name = 'BadFinding'
    this.answer = answer
  }
}

type ParsedValues<O extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ options: O; allowPositionals: true; strict: true }>
>['values']

/** Makes a command: `usage` says its positionals (`<org> [file]`, `<path>…` for one or more), `options` what it takes besides. */
export function command<const O extends ParseArgsOptionsConfig>(definition: {
  readonly usage: string
  readonly about: string
  readonly options?: O
  readonly run: (
    call: { readonly values: ParsedValues<O>; readonly positionals: readonly string[] },
    terminal: Terminal,
    say: Say,
  ) => Promise<Answer | undefined>
}): Command {
  return {
    usage: definition.usage,
    about: definition.about,
    run: async (args, terminal, say) => {
      const call = parse(args, definition.options, definition.usage)
      return await definition.run(call, terminal, say)
    },
  }
}

/** A value of `parse`, or wrong use in one sentence that names the option. */
export function read<T>(name: string, text: string, parse: (text: string) => T): T {
  try {
    return parse(text)
  } catch (error) {
    throw new UsageError(`${name} ${error instanceof Error ? error.message : 'is wrong'}`)
  }
}

/** An option that must be given. */
export function need(name: string, value: string | undefined): string {
  if (value === undefined || value === '') throw new UsageError(`${name} is needed`)
  return value
}

function parse<const O extends ParseArgsOptionsConfig>(
  args: readonly string[],
  options: O | undefined,
  usage: string,
): { values: ParsedValues<O>; positionals: readonly string[] } {
  const config = { options: options ?? {}, allowPositionals: true, strict: true } as const
  let parsed
  try {
    parsed = parseArgs({ args: [...args], ...config })
  } catch (error) {
    // Node's sentence names the option; what it explains behind that is about its own library.
    const [sentence = ''] = (error instanceof Error ? error.message : String(error)).split('. ')
    throw new UsageError(sentence)
  }
  checkPositionals(parsed.positionals, usage)
  // The options that were parsed are exactly O.
  return { values: parsed.values as ParsedValues<O>, positionals: parsed.positionals }
}

function checkPositionals(given: readonly string[], usage: string): void {
  const names =
    usage
      .match(/^(?:(?:<[^>]+>|\[[a-z-]+\])…? ?)*/)?.[0]
      .trim()
      .split(' ') ?? []
  const wanted = names.filter((name) => name !== '')
  const least = wanted.filter((name) => name.startsWith('<')).length
  const most = wanted.some((name) => name.endsWith('…')) ? Infinity : wanted.length
  if (given.length < least) throw new UsageError(`${wanted[given.length] ?? ''} is missing`)
  if (given.length > most) throw new UsageError(`${given[most] ?? ''} is one word too many`)
}
