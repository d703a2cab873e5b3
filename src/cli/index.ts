/** The command line: one file per noun, loaded only when it is called. */
import { ConfigError } from '../config.ts'
import { Problem } from '../errors.ts'
import { BadFinding, UsageError, type Answer, type Command } from './lib/command.ts'
import { sentenceOf } from './lib/system-error.ts'
import { processTerminal, type Terminal } from './lib/terminal.ts'

interface Noun {
  readonly about: string
  /** The noun's commands by verb; the verb of a command that has none is empty. */
  readonly load: () => Promise<{ readonly commands: Readonly<Record<string, Command>> }>
}

/** Every command by its first word. */
export const nouns: Readonly<Record<string, Noun>> = {
  serve: { about: 'run a node', load: async () => await import('./commands/serve.ts') },
  migrate: {
    about: 'bring the schema up to date',
    load: async () => await import('./commands/migrate.ts'),
  },
  org: { about: 'organizations', load: async () => await import('./commands/org.ts') },
  member: {
    about: 'who belongs to an organization',
    load: async () => await import('./commands/member.ts'),
  },
  key: { about: 'API keys', load: async () => await import('./commands/key.ts') },
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
  audit: { about: 'check the audit chain', load: async () => await import('./commands/audit.ts') },
  backup: { about: 'copy the database', load: async () => await import('./commands/backup.ts') },
  restore: {
    about: 'put a backup in place',
    load: async () => await import('./commands/restore.ts'),
  },
  doctor: {
    about: 'check settings, database, clock, reachability; measure revocation',
    load: async () => await import('./commands/doctor.ts'),
  },
  demo: {
    about: 'everything on one machine',
    load: async () => await import('./commands/demo.ts'),
  },
}

/** Runs one command; resolves to the exit code: 0 done, 1 refused or failed, 2 wrong use. */
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

async function runWords(
  words: readonly string[],
  { wantsJson, terminal }: { wantsJson: boolean; terminal: Terminal },
): Promise<number> {
  const [name = '--help'] = words
  if (name === '--help' || name === 'help') return help(terminal)
  if (name === '--version') return await version(terminal)
  const noun = Object.hasOwn(nouns, name) ? nouns[name] : undefined
  if (noun === undefined) {
    misuse(`There is no command ${name}; \`intercept --help\` lists them.`, [], {
      wantsJson,
      terminal,
    })
    return 2
  }
  const { commands } = await noun.load()
  const found = findCommand(commands, words.slice(1))
  if (found === undefined || words.includes('--help')) {
    const usage = usageOf(name, found === undefined ? commands : only(found))
    if (!words.includes('--help')) {
      misuse(`\`intercept ${name}\` needs one of these verbs.`, usage, { wantsJson, terminal })
      return 2
    }
    for (const line of usage) terminal.print(line)
    return 0
  }
  try {
    const answer = await found.command.run(found.args, terminal, (part) => {
      show(part, wantsJson, terminal)
    })
    show(answer, wantsJson, terminal)
    return 0
  } catch (error) {
    if (error instanceof UsageError) {
      misuse(`${error.message}.`, usageOf(name, only(found)), { wantsJson, terminal })
      return 2
    }
    if (error instanceof BadFinding) show(error.answer, wantsJson, terminal)
    else complain(error, wantsJson, terminal)
    return 1
  }
}

interface Found {
  readonly verb: string
  readonly command: Command
  readonly args: readonly string[]
}

/** Verbs have up to two words (`token issue`); the longest that exists counts. */
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

function show(answer: Answer | undefined, wantsJson: boolean, terminal: Terminal): void {
  if (answer === undefined) return
  terminal.print(wantsJson ? JSON.stringify(answer.data) : answer.text)
}

/** Wrong use: what is wrong, then how it is used; with `--json` one object, as every other failure. */
function misuse(
  sentence: string,
  usage: readonly string[],
  { wantsJson, terminal }: { wantsJson: boolean; terminal: Terminal },
): void {
  if (wantsJson) {
    terminal.complain(JSON.stringify({ error: { code: 'usage', detail: sentence } }))
  } else {
    for (const line of [sentence, ...usage]) terminal.complain(line)
  }
}

/** Public sentences as they are; anything else is named by its message, which no secret is in. */
function complain(error: unknown, wantsJson: boolean, terminal: Terminal): void {
  const code = error instanceof Problem ? error.code : 'failed'
  const sentences = error instanceof ConfigError ? error.sentences : [sentenceOf(error)]
  if (wantsJson) {
    terminal.complain(JSON.stringify({ error: { code, detail: sentences.join(' ') } }))
  } else {
    for (const sentence of sentences) terminal.complain(sentence)
    if (code === 'plan_required')
      terminal.complain('`intercept org set-plan <slug> enterprise` adds it.')
  }
}

function only(found: Found): Record<string, Command> {
  return { [found.verb]: found.command }
}

function usageOf(noun: string, commands: Readonly<Record<string, Command>>): string[] {
  return Object.entries(commands).flatMap(([verb, { usage, about }]) => [
    ['intercept', noun, verb, usage].filter((part) => part !== '').join(' '),
    `    ${about}`,
  ])
}

function help(terminal: Terminal): number {
  terminal.print('intercept <command> [--json]\n')
  for (const [name, { about }] of Object.entries(nouns)) {
    terminal.print(`  ${name.padEnd(16)}${about}`)
  }
  terminal.print(
    '\nintercept <command> --help tells more; settings are environment variables (intercept doctor).',
  )
  return 0
}

async function version(terminal: Terminal): Promise<number> {
  const { default: about } = await import('../../package.json', { with: { type: 'json' } })
  terminal.print(about.version)
  return 0
}
