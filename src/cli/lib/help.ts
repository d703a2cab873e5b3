import type { Command, Flag } from './command.ts'

type Commands = Readonly<Record<string, Command>>

/** Renders a usage line and a summary for each command of a noun. */
export function usageOf(program: string, noun: string, commands: Commands): string[] {
  return Object.entries(commands).flatMap(([verb, { usage, about }]) => [
    [program, noun, verb, usage].filter((part) => part !== '').join(' '),
    `    ${about}`,
  ])
}

/** Renders the help for the commands of a noun; for a single command it includes every flag and the examples. */
export function helpOf(program: string, noun: string, commands: Commands): string[] {
  const [only, ...others] = Object.values(commands)
  if (only === undefined || others.length > 0) {
    const more = `${program} ${noun} <verb> --help explains the flags of one of them.`
    return [...usageOf(program, noun, commands), '', more]
  }
  return [
    ...usageOf(program, noun, commands),
    ...flagLines(only),
    ...exampleLines(program, only),
    ...['', reachOf(only)],
  ]
}

/** Says where a command works: over the API too, or only on the machine itself and why. */
export function reachOf({ local }: Command): string {
  if (local !== undefined) return `Works on the machine itself only: ${local.because}.`
  return 'Works on the database, or with --server URL and an access token (INTERCEPT_TOKEN) over the API.'
}

function flagLines({ options }: Command): string[] {
  const json: readonly [string, Flag] = [
    'json',
    { type: 'boolean', about: 'print one JSON object for programs' },
  ]
  const rows = [...Object.entries(options), json].map(([name, flag]): [string, string] => [
    `--${name}${flag.value === undefined ? '' : ` ${flag.value}`}`,
    flag.about + (flag.default === undefined ? '' : ` (${flag.default})`),
  ])
  const width = Math.min(34, Math.max(...rows.map(([head]) => head.length)))
  return ['', 'Flags:', ...rows.map(([head, about]) => `  ${head.padEnd(width)}  ${about}`)]
}

function exampleLines(program: string, { examples }: Command): string[] {
  return ['', 'Examples:', ...examples.map((line) => `  ${withProgram(line, program)}`)]
}

/** Rewrites an example for the way in which the program was started, such as `npx interceptd …`. */
function withProgram(line: string, program: string): string {
  return line.replaceAll(/(^|[ |])intercept /g, `$1${program} `)
}

/** Rewrites commands quoted in backticks (`intercept …`) so that they can be pasted here. */
export function pasteable(text: string, program: string): string {
  return text.replaceAll('`intercept ', `\`${program} `)
}
