import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'
import { nearest } from './nearest.ts'
import type { Terminal } from './terminal.ts'

/** What a command has done: `data` for `--json`, `text` for a person. */
export interface Answer {
  readonly data: unknown
  readonly text: string
}

/** Says one of several answers while a command goes on: with `--json` a line of JSON each. */
export type Say = (answer: Answer) => void

/** A flag: what it takes, and what for. */
export interface Flag {
  readonly type: 'string' | 'boolean'
  readonly multiple?: boolean
  readonly default?: string
  /** What stands behind it; nothing for a switch. */
  readonly value?: string
  readonly about: string
}

/** Why a command works on the machine itself and not over the API, as a clause behind "works on the machine itself: ". */
export interface Local {
  readonly because: string
  /** Needs neither a database nor a node, so it doesn't matter which server the environment names. */
  readonly standsAlone?: boolean
}

/** A command as the command line calls it. */
export interface Command {
  /** The words behind the command's name. */
  readonly usage: string
  readonly about: string
  readonly options: Readonly<Record<string, Flag>>
  /** Left out where the command works over the API (`--server`) as on the database. */
  readonly local: Local | undefined
  /** Whole lines that somebody can paste. */
  readonly examples: readonly string[]
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

type Flags = Record<string, Flag> & ParseArgsOptionsConfig

type ParsedValues<O extends Flags> = ReturnType<
  typeof parseArgs<{ options: O; allowPositionals: true; strict: true }>
>['values']

/** Makes a command: `usage` says its positionals (`<org> [file]`, `<path>…` for one or more), `options` what it takes besides. */
export function command<const O extends Flags>(definition: {
  readonly usage: string
  readonly about: string
  readonly options?: O
  readonly local?: Local
  readonly examples: readonly string[]
  readonly run: (
    call: { readonly values: ParsedValues<O>; readonly positionals: readonly string[] },
    terminal: Terminal,
    say: Say,
  ) => Promise<Answer | undefined>
}): Command {
  return {
    usage: definition.usage,
    about: definition.about,
    options: definition.options ?? {},
    local: definition.local,
    examples: definition.examples,
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

/** A whole number from 0 or 1 up to a largest one, as an option gives it. */
export function readWhole(
  name: string,
  text: string,
  { max, min = 1 }: { readonly max: number; readonly min?: number },
): number {
  const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (number >= min && number <= max) return number
  throw new UsageError(`${name} must be a whole number from ${min} to ${max}`)
}

/** An option that must be given. */
export function need(name: string, value: string | undefined): string {
  if (value === undefined || value === '') throw new UsageError(`${name} is needed`)
  return value
}

function parse<const O extends Flags>(
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
    throw new UsageError(sentence + meantFlag(sentence, Object.keys(options ?? {})))
  }
  checkPositionals(parsed.positionals, usage)
  // The options that were parsed are exactly O.
  return { values: parsed.values as ParsedValues<O>, positionals: parsed.positionals }
}

/** What a flag that does not exist may have meant. */
function meantFlag(sentence: string, known: readonly string[]): string {
  const written = /^Unknown option '--([^'=]+)/.exec(sentence)?.[1]
  const meant = written === undefined ? undefined : nearest(written, known)
  return meant === undefined ? '' : `; did you mean --${meant}?`
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
  if (given.length > most) throw new UsageError(`Unexpected argument: ${given[most] ?? ''}`)
}
