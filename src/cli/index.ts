/** The command line; the commands of a noun are loaded only when they are needed. */
import { ConfigError } from '../config.ts'
import { Problem } from '../errors.ts'
import { BadFinding, command, UsageError, type Answer, type Command } from './lib/command.ts'
import { renderCompletion, shells } from './lib/completion.ts'
import { helpOf, pasteable, usageOf } from './lib/help.ts'
import { nearest } from '../nearest.ts'
import {
  openRemote,
  ownArguments,
  takeRemoteFlags,
  withoutInput,
  type RemoteFlags,
} from './lib/remote-flags.ts'
import { sentenceOf } from './lib/system-error.ts'
import { printable, processTerminal, type Terminal } from './lib/terminal.ts'

interface Noun {
  readonly about: string
  /** The noun's commands by verb; a command without a verb has the key ''. */
  readonly load: () => Promise<{ readonly commands: Readonly<Record<string, Command>> }>
}

/** Every command group by its first word. */
export const nouns: Readonly<Record<string, Noun>> = {
  serve: { about: 'run a node', load: async () => await import('./commands/serve.ts') },
  migrate: {
    about: 'bring the schema up to date',
    load: async () => await import('./commands/migrate.ts'),
  },
  org: {
    about: 'organizations and their plans',
    load: async () => await import('./commands/org.ts'),
  },
  member: {
    about: 'who belongs to an organization',
    load: async () => await import('./commands/member.ts'),
  },
  key: { about: 'API keys', load: async () => await import('./commands/key.ts') },
  token: {
    about: 'access tokens for programs that administer',
    load: async () => await import('./commands/token.ts'),
  },
  target: {
    about: 'APIs behind Intercept',
    load: async () => await import('./commands/target.ts'),
  },
  sso: {
    about: 'company sign-in (OpenID Connect)',
    load: async () => await import('./commands/sso.ts'),
  },
  scim: {
    about: 'the company directory (SCIM)',
    load: async () => await import('./commands/scim.ts'),
  },
  webhook: {
    about: 'endpoints and the signing secret',
    load: async () => await import('./commands/webhook.ts'),
  },
  receive: {
    about: 'a local webhook receiver that verifies and prints',
    load: async () => await import('./commands/receive.ts'),
  },
  'setup-link': {
    about: 'the link that makes the first owner',
    load: async () => await import('./commands/setup-link.ts'),
  },
  'sign-in-link': {
    about: 'a link that signs a known person in',
    load: async () => await import('./commands/sign-in-link.ts'),
  },
  scan: {
    about: 'find Intercept secrets in files, git history and built bundles',
    load: async () => await import('./commands/scan.ts'),
  },
  reseal: {
    about: 'seal every secret again after a new master key',
    load: async () => await import('./commands/reseal.ts'),
  },
  calls: {
    about: 'calls: list them, follow them',
    load: async () => await import('./commands/calls.ts'),
  },
  deliveries: {
    about: 'what was sent to webhook endpoints, and sending it again',
    load: async () => await import('./commands/deliveries.ts'),
  },
  audit: {
    about: 'who changed what, and whether the log is whole',
    load: async () => await import('./commands/audit.ts'),
  },
  export: {
    about: "an organization's configuration as a file",
    load: async () => await import('./commands/configuration/export.ts'),
  },
  plan: {
    about: 'what applying a file would change',
    load: async () => await import('./commands/configuration/plan.ts'),
  },
  apply: {
    about: 'make an organization what a file says',
    load: async () => await import('./commands/configuration/apply.ts'),
  },
  backup: { about: 'copy the database', load: async () => await import('./commands/backup.ts') },
  restore: {
    about: 'put a backup in place',
    load: async () => await import('./commands/restore.ts'),
  },
  doctor: {
    about: 'show settings, check database, clock and reachability',
    load: async () => await import('./commands/doctor.ts'),
  },
  demo: {
    about: 'everything on one machine',
    load: async () => await import('./commands/demo.ts'),
  },
  completion: {
    about: 'let the shell complete commands: bash, zsh, fish',
    load: async () => completionCommands,
  },
}

const completionCommands = {
  commands: {
    '': command({
      usage: '<bash|zsh|fish>',
      about: 'print a script that the shell reads',
      local: { because: 'it asks nobody', standsAlone: true },
      examples: [
        'source <(intercept completion bash)',
        'intercept completion zsh > ~/.zfunc/_intercept',
        'intercept completion fish > ~/.config/fish/completions/intercept.fish',
      ],
      run: async ({ positionals: [name = ''] }) => {
        const shell = shells.find((known) => known === name)
        if (shell === undefined) throw new UsageError(`The shell must be ${shells.join(', ')}`)
        const loaded = Object.entries(nouns).map(
          async ([noun, { load }]) => [noun, (await load()).commands] as const,
        )
        const script = renderCompletion(shell, Object.fromEntries(await Promise.all(loaded)))
        return { data: { shell, script }, text: script.trimEnd() }
      },
    }),
  },
}

/** Runs one command; resolves to the exit code: 0 success, 1 refused, failed or found a problem, 2 wrong usage. */
export async function run(
  args: readonly string[],
  terminal: Terminal = processTerminal(),
): Promise<number> {
  const wantsJson = args.includes('--json')
  const words = args.filter((word) => word !== '--json')
  const code = await runWords(words, { wantsJson, terminal })
  process.exitCode = code
  return code
}

const helpWords: ReadonlySet<string> = new Set(['--help', '-h', 'help'])

async function runWords(args: readonly string[], out: Output): Promise<number> {
  const { terminal } = out
  let flagged: ReturnType<typeof takeRemoteFlags>
  try {
    flagged = takeRemoteFlags(args)
  } catch (error) {
    return misuse(error, [], out)
  }
  const { rest: words, flags } = flagged
  const [name = '--help'] = words
  if (helpWords.has(name)) return help(out)
  if (name === '--version' || name === '-v') return await version(terminal)
  const noun = Object.hasOwn(nouns, name) ? nouns[name] : undefined
  if (noun === undefined) {
    return misuse(`There is no command ${name}${meant(name, Object.keys(nouns))}`, listed, out)
  }
  const { commands } = await noun.load()
  const found = findCommand(commands, words.slice(1))
  if (words.some((word) => word === '--help' || word === '-h')) {
    const lines = helpOf(programOf(terminal), name, found === undefined ? commands : only(found))
    for (const line of lines) terminal.print(line)
    return 0
  }
  if (found === undefined) {
    const usage = usageOf(programOf(terminal), name, commands)
    return misuse(verbSentence(name, words.slice(1), commands), usage, out)
  }
  return await runFound({ ...found, noun: name, flags }, out)
}

async function runFound(
  found: Found & { readonly noun: string; readonly flags: RemoteFlags },
  out: Output,
): Promise<number> {
  const { noun, verb, command, flags } = found
  try {
    const asked = { name: `${noun} ${verb}`.trim(), local: command.local }
    const remote = await openRemote(flags, asked, out.terminal)
    const input = flags.tokenFromInput ? withoutInput(out.terminal) : out.terminal
    const args = ownArguments(flags, command, found.args)
    const answer = await command.run(args, { ...input, remote }, (part) => show(part, out))
    show(answer, out)
    return 0
  } catch (error) {
    if (error instanceof UsageError) {
      return misuse(error, usageOf(programOf(out.terminal), noun, only(found)), out)
    }
    if (error instanceof BadFinding) show(error.answer, out)
    else complain(error, found, out)
    return 1
  }
}

const listed = ['`intercept --help` lists them.']

function meant(written: string, known: readonly string[]): string {
  const word = nearest(written, known)
  return word === undefined ? '.' : `; did you mean ${word}?`
}

function verbSentence(
  noun: string,
  [written, ...more]: readonly string[],
  commands: Readonly<Record<string, unknown>>,
): string {
  if (written === undefined || written.startsWith('-')) {
    return `\`intercept ${noun}\` needs one of these verbs.`
  }
  // If `written` is the first word of two-word verbs (`token` of `token issue`), the second word is missing or wrong.
  const begun = Object.entries(commands).filter(([verb]) => verb.startsWith(`${written} `))
  if (begun.length > 0) {
    const rest = begun.map(([verb, command]) => [verb.slice(written.length + 1), command])
    return verbSentence(`${noun} ${written}`, more, Object.fromEntries(rest))
  }
  const known = Object.keys(commands).flatMap((verb) => [verb, verb.split(' ')[0] ?? ''])
  return `\`intercept ${noun}\` has no verb ${written}${meant(written, known)}`
}

interface Found {
  readonly verb: string
  readonly command: Command
  readonly args: readonly string[]
}

/** Finds the command that the first words name. A verb has up to two words (`token issue`); the longest match wins. */
function findCommand(
  commands: Readonly<Record<string, Command>>,
  words: readonly string[],
): Found | undefined {
  for (const length of [2, 1, 0]) {
    const verb = words.slice(0, length).join(' ')
    const command = Object.hasOwn(commands, verb) ? commands[verb] : undefined
    if (command !== undefined) return { verb, command, args: words.slice(length) }
  }
  return undefined
}

interface Output {
  readonly wantsJson: boolean
  readonly terminal: Terminal
}

function programOf({ program = 'intercept' }: Terminal): string {
  return program
}

function show(answer: Answer | undefined, { wantsJson, terminal }: Output): void {
  if (answer === undefined) return
  const { data, text } = answer
  const said = wantsJson ? JSON.stringify(data) : pasteable(text, programOf(terminal))
  terminal.print(printable(said))
}

/** Reports wrong usage: what is wrong, then the usage; with `--json` a single object, like every other failure. */
function misuse(wrong: unknown, usage: readonly string[], out: Output): number {
  const { wantsJson, terminal } = out
  if (typeof wrong !== 'string' && !(wrong instanceof UsageError)) throw wrong
  const sentence = typeof wrong === 'string' ? wrong : `${wrong.message}.`
  if (wantsJson) {
    terminal.complain(JSON.stringify({ error: { code: 'usage', detail: sentence } }))
    return 2
  }
  for (const line of [sentence, ...usage]) {
    terminal.complain(printable(pasteable(line, programOf(terminal))))
  }
  return 2
}

function complain(error: unknown, { args, command }: Found, { wantsJson, terminal }: Output): void {
  const code = error instanceof Problem ? error.code : 'failed'
  const sentences =
    error instanceof ConfigError
      ? error.sentences
      : [sentenceOf(error, terminal.env, command.options)]
  if (wantsJson) {
    terminal.complain(JSON.stringify({ error: { code, detail: sentences.join(' ') } }))
    return
  }
  // The slug is known only if it is the command's first argument; otherwise the hint has a placeholder.
  const slug = command.usage.startsWith('<org>') ? args[0] : undefined
  const remedies =
    code === 'plan_required'
      ? [`\`intercept org set-plan ${slug ?? '<slug>'} enterprise\` adds it.`]
      : []
  for (const line of [...sentences, ...remedies]) {
    terminal.complain(printable(pasteable(line, programOf(terminal))))
  }
}

function only(found: Found): Record<string, Command> {
  return { [found.verb]: found.command }
}

function help({ terminal }: Output): number {
  const program = programOf(terminal)
  terminal.print(`${program} <command> [--json]\n`)
  for (const [name, { about }] of Object.entries(nouns)) {
    terminal.print(`  ${name.padEnd(16)}${about}`)
  }
  terminal.print(
    `\n${program} <command> --help tells more; settings are environment variables (${program} doctor).\nCommands work on the database of this machine's settings, or with --server URL and INTERCEPT_TOKEN over the API of a running node.`,
  )
  return 0
}

async function version(terminal: Terminal): Promise<number> {
  const { default: about } = await import('../../package.json', { with: { type: 'json' } })
  terminal.print(about.version)
  return 0
}
