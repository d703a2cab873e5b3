import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'
import { nearest } from '../../nearest.ts'
import { parseDuration, parseTime } from '../../units.ts'
import type { Terminal } from './terminal.ts'

/** The result of a command: `data` for `--json`, `text` for people. */
export interface Answer {
  readonly data: unknown
  readonly text: string
}

/** Prints one of several results while a command is still running; with `--json`, each is a line of JSON. */
export type Say = (answer: Answer) => void

export interface Flag {
  readonly type: 'string' | 'boolean'
  readonly multiple?: boolean
  readonly default?: string
  /** The placeholder for its value; undefined for a switch. */
  readonly value?: string
  readonly about: string
}

/** Why a command works only on the machine itself and not over the API, as a clause that follows a colon. */
export interface Local {
  readonly because: string
  /** Whether the command needs neither a database nor a node, so that a server named in the environment is ignored. */
  readonly standsAlone?: boolean
}

/** A command in the form in which the command line runs and explains it. */
export interface Command {
  /** The arguments after the command's name as help shows them: positionals first, then flags. */
  readonly usage: string
  readonly about: string
  readonly options: Readonly<Record<string, Flag>>
  /** Undefined if the command works both over the API (`--server`) and on the database. */
  readonly local: Local | undefined
  /** Complete lines, ready to paste. */
  readonly examples: readonly string[]
  run(args: readonly string[], terminal: Terminal, say: Say): Promise<Answer | undefined>
}

/** Wrong usage of a command: exits with 2 and, without `--json`, prints the usage. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UsageError'
  }
}

/** The command succeeded but found a problem: exits with 1 after printing the result. */
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

/**
 * Defines a command. `usage` begins with the positionals (`<org> [file]`, `<path>…` for one or more), from which their
 * number is checked; `options` defines the flags.
 */
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

/** Parses a value; a failure becomes wrong usage, in one sentence that names the option. */
export function read<T, Given = string>(name: string, text: Given, parse: (text: Given) => T): T {
  try {
    return parse(text)
  } catch (error) {
    throw new UsageError(`${name} ${error instanceof Error ? error.message : 'is wrong'}`)
  }
}

/** Parses an option's integer, from `min` (1 by default) to `max`. */
export function readWhole(
  name: string,
  text: string,
  { max, min = 1 }: { readonly max: number; readonly min?: number },
): number {
  const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (number >= min && number <= max) return number
  throw new UsageError(`${name} must be a whole number from ${min} to ${max}`)
}

/** Parses an option's word, which must be one of a few. */
export function readWord<const Word extends string>(
  name: string,
  text: string,
  words: readonly Word[],
): Word {
  const found = words.find((word) => word === text)
  if (found !== undefined) return found
  throw new UsageError(`${name} must be ${words.slice(0, -1).join(', ')} or ${words.at(-1)}`)
}

/** Parses an end: a duration from now such as `90d`, a date, or `never`, which becomes null. */
export function readEnd(name: string, text: string, nowMs: number): number | null {
  if (text === 'never') return null
  const ms = parseTime(text)
  if (ms !== undefined) return ms
  try {
    return nowMs + parseDuration(text)
  } catch {
    throw new UsageError(`${name} must be such as 15m or 90d, a date such as 2027-01-31, or never`)
  }
}

/** Refuses two flags that contradict each other; without this, one of them would win silently. */
export function refuseBoth(
  values: Readonly<Record<string, unknown>>,
  one: string,
  other: string,
): void {
  if (values[one] === undefined || values[other] === undefined) return
  throw new UsageError(`Either --${one} or --${other}`)
}

/** Returns a required option's value, or throws a usage error. */
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
    const sentence = wrongFlag(error)
    throw new UsageError(sentence + meantFlag(sentence, Object.keys(options ?? {})))
  }
  checkPositionals(parsed.positionals, usage)
  // The parsed options are exactly those of O.
  return { values: parsed.values as ParsedValues<O>, positionals: parsed.positionals }
}

/**
 * Says what is wrong with a flag. The first sentence of Node's message names the flag; the others explain Node's
 * parser.
 */
function wrongFlag(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  const [sentence = ''] = message.split(/\.\s/)
  const [, flag, fault] =
    /^Option '(?:-\w, )?(--[^' ]+)(?: <value>)?' (argument missing|argument is ambiguous|does not take an argument)/.exec(
      sentence,
    ) ?? []
  if (flag === undefined) return sentence
  if (fault === 'does not take an argument') return `${flag} takes no value`
  if (fault === 'argument missing') return `${flag} needs a value`
  return `${flag} needs a value; one that begins with - is written ${flag}=-…`
}

/** Suggests the flag that an unknown one may have meant. */
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
