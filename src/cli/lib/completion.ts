import type { Command } from './command.ts'

/** Every noun with its commands. */
export type Tree = Readonly<Record<string, Readonly<Record<string, Command>>>>

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

/** Renders a shell's completion script, with all nouns, verbs and flags. */
export function renderCompletion(shell: Shell, tree: Tree): string {
  if (shell === 'fish') return renderFish(tree)
  const script = renderBash(tree)
  return shell === 'bash'
    ? script
    : `#compdef intercept\nautoload -U +X bashcompinit && bashcompinit\n${script}`
}

function renderBash(tree: Tree): string {
  const cases = Object.entries(tree).flatMap(([noun, commands]) => [
    `    '${noun}') words='${[...firstWords(commands), ...flagsOf(commands[''])].join(' ')}' ;;`,
    ...Object.entries(commands)
      .filter(([verb]) => verb !== '')
      .map(([verb, command]) => `    '${noun} ${verb}') words='${flagsOf(command).join(' ')}' ;;`),
    ...secondWords(commands).map(
      ([first, seconds]) => `    '${noun} ${first}') words='${seconds.join(' ')}' ;;`,
    ),
  ])
  return `_intercept() {
  local current words path='' word
  current="\${COMP_WORDS[COMP_CWORD]}"
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) break ;; esac
    case " ${pathsOf(tree).join(' ; ')} ; " in
      *" \${path:+$path }$word ;"*) path="\${path:+$path }$word" ;;
      *) break ;;
    esac
  done
  case "$path" in
    '') words='${[...Object.keys(tree), '--help', '--version'].join(' ')}' ;;
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _intercept intercept
`
}

function renderFish(tree: Tree): string {
  const lines = ['complete -c intercept -e']
  const nouns = Object.keys(tree).join(' ')
  lines.push(`complete -c intercept -n 'not __fish_seen_subcommand_from ${nouns}' -f -a '${nouns}'`)
  for (const [noun, commands] of Object.entries(tree)) {
    const within = `__fish_seen_subcommand_from ${noun}`
    const firsts = firstWords(commands)
    if (firsts.length > 0)
      lines.push(`complete -c intercept -n '${within}' -f -a '${firsts.join(' ')}'`)
    for (const [verb, command] of Object.entries(commands)) {
      const last = verb.split(' ').at(-1) ?? ''
      const when = last === '' ? within : `${within}; and __fish_seen_subcommand_from ${last}`
      for (const [name, flag] of [...Object.entries(command.options), jsonFlag]) {
        const takes = flag.type === 'string' ? ' -x' : ''
        const about = flag.about.replaceAll('\\', '\\\\').replaceAll("'", "\\'")
        lines.push(`complete -c intercept -n '${when}' -l ${name}${takes} -d '${about}'`)
      }
    }
  }
  return `${lines.join('\n')}\n`
}

const jsonFlag: [string, Command['options'][string]] = [
  'json',
  { type: 'boolean', about: 'print one JSON object for programs' },
]

function flagsOf(command: Command | undefined): string[] {
  if (command === undefined) return []
  return [...Object.keys(command.options), 'json', 'help'].map((name) => `--${name}`)
}

function firstWords(commands: Tree[string]): string[] {
  const words = Object.keys(commands).map((verb) => verb.split(' ')[0] ?? '')
  return [...new Set(words)].filter((word) => word !== '')
}

/** Returns the first words of two-word verbs, each with the words that may follow it. */
function secondWords(commands: Tree[string]): [string, string[]][] {
  const pairs = Object.keys(commands).flatMap((verb) => {
    const [first = '', second] = verb.split(' ')
    return second === undefined ? [] : [[first, second] as const]
  })
  return [...Map.groupBy(pairs, ([first]) => first)].map(([first, all]) => [
    first,
    all.map(([, second]) => second),
  ])
}

/**
 * Lists everything with which a command can begin: each noun alone, each noun with a verb, and each noun with the first
 * word of a verb of two words.
 */
function pathsOf(tree: Tree): string[] {
  return Object.entries(tree).flatMap(([noun, commands]) => [
    noun,
    ...firstWords(commands).map((word) => `${noun} ${word}`),
    ...Object.keys(commands)
      .filter((verb) => verb.includes(' '))
      .map((verb) => `${noun} ${verb}`),
  ])
}
