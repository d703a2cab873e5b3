/** Finds names in the environment that look like misspelled settings. */
import { isNear } from './nearest.ts'

type Environment = Readonly<Record<string, string | undefined>>

export interface KnownNames {
  readonly settings: readonly string[]
  /** The settings that may also be read from a file, as NAME_FILE. */
  readonly secrets: readonly string[]
}

/** Variables for the command line, which are not settings of a node. */
const commandLineNames = [
  'INTERCEPT_SERVER',
  'INTERCEPT_TOKEN',
  'INTERCEPT_TOKEN_FILE',
  'INTERCEPT_ORG',
  'INTERCEPT_PROFILE',
]

/**
 * Returns error messages about names that can only be misspelled settings of ours; a node does not start with such a
 * name, because a misspelled secret or limit would silently not apply.
 */
export function misspelt(env: Environment, known: KnownNames): string[] {
  return Object.keys(env).flatMap((name) => {
    if (isKnown(name, known) || isOfOthers(name)) return []
    const meant = meantBy(name, known)
    const isOurs = /^(INTERCEPT|LIMIT|RETENTION)_/.test(name)
    if (!isOurs && (meant === undefined || isShort(meant))) return []
    return [notASetting(name, meant)]
  })
}

/**
 * Returns warnings about names that nearly match a short setting such as PORT: never errors, because other programs
 * share the environment.
 */
export function misspeltWarnings(env: Environment, known: KnownNames): string[] {
  return Object.keys(env).flatMap((name) => {
    if (isKnown(name, known) || isOfOthers(name)) return []
    const meant = meantBy(name, known)
    if (meant === undefined || !isShort(meant) || name.startsWith('INTERCEPT_')) return []
    return [notASetting(name, meant)]
  })
}

function isShort(name: string): boolean {
  return name.length < 8
}

function isKnown(name: string, known: KnownNames): boolean {
  return allNames(known).includes(name) || commandLineNames.includes(name)
}

function allNames({ settings, secrets }: KnownNames): string[] {
  return [...settings, ...secrets.map((name) => `${name}_FILE`)]
}

/**
 * Whether a name belongs to other programs. Kubernetes and Docker add the address of each service to the environment of
 * neighboring containers, and for a service called "intercept" these variables look like settings.
 */
function isOfOthers(name: string): boolean {
  return !/^\w{3,60}$/.test(name) || /^INTERCEPT_(SERVICE|PORT|ENV|NAME)(_|$)/.test(name)
}

/** Returns the setting, or NAME_FILE of a secret, whose name was probably meant. */
function meantBy(name: string, known: KnownNames): string | undefined {
  const written = name.toUpperCase()
  const plain = written.replace(/^INTERCEPT_/, '')
  const candidates = allNames(known)
  return (
    candidates.find((one) => one === written || one === plain) ??
    candidates.find((meant) => isNear(written, meant) || isNear(plain, meant)) ??
    known.settings.find((one) => `${one}_FILE` === written)
  )
}

function notASetting(name: string, meant: string | undefined): string {
  if (meant !== undefined && `${meant}_FILE` === name) {
    return `${name} is not a setting: only secrets are read from files, so set ${meant} itself.`
  }
  return meant === undefined
    ? `${name} is not a setting; \`intercept doctor\` lists them all.`
    : `${name} is not a setting; did you mean ${meant}?`
}
