import { readFileSync, statSync } from 'node:fs'
import { connect, type Remote } from '../remote/index.ts'
import { UsageError } from './command.ts'
import type { Terminal } from './terminal.ts'

/** Commands that work on a machine or its database itself: nothing of theirs can be done over the API. */
const localNouns: ReadonlySet<string> = new Set([
  'serve',
  'migrate',
  'setup-link',
  'sign-in-link',
  'reseal',
  'backup',
  'restore',
  'doctor',
  'demo',
])

/**
 * Takes `--server URL`, `--token-stdin`, `--org SLUG` and `--profile FILE` off a command's words. Without them
 * INTERCEPT_SERVER, INTERCEPT_TOKEN (or its file), INTERCEPT_ORG and INTERCEPT_PROFILE count.
 */
export async function takeRemote(
  words: readonly string[],
  terminal: Terminal,
): Promise<{ words: string[]; remote: Remote | undefined }> {
  const { env } = terminal
  const taken = takeFlags(words)
  const path = taken.flags.get('--profile') ?? env['INTERCEPT_PROFILE']
  const profile = path === undefined ? {} : readProfile(path)
  const server = taken.flags.get('--server') ?? env['INTERCEPT_SERVER'] ?? profile.server
  if (server === undefined || server === '') {
    if (taken.tokenFromInput) throw new UsageError('--token-stdin needs --server')
    return { words: taken.rest, remote: undefined }
  }
  const [noun = ''] = taken.rest
  if (localNouns.has(noun)) {
    throw new UsageError(
      `\`intercept ${noun}\` works on the machine itself, not over the API; leave --server and INTERCEPT_SERVER out`,
    )
  }
  const token = taken.tokenFromInput
    ? await terminal.readInput()
    : (env['INTERCEPT_TOKEN'] ?? tokenOfFile(env['INTERCEPT_TOKEN_FILE']) ?? profile.token)
  if (token === undefined || token === '') {
    throw new UsageError('--server needs an access token: INTERCEPT_TOKEN or --token-stdin')
  }
  const named = taken.flags.get('--org') ?? env['INTERCEPT_ORG'] ?? profile.organization
  const organization = named === '' ? undefined : named
  return { words: taken.rest, remote: connect(checkedServer(server), { token, organization }) }
}

const flagNames = ['--server', '--profile', '--org']
/** `--org` of a command that works on the machine itself is that command's own. */
const localFlagNames = ['--server', '--profile']

function takeFlags(words: readonly string[]) {
  const names = localNouns.has(words[0] ?? '') ? localFlagNames : flagNames
  const flags = new Map<string, string>()
  const rest: string[] = []
  let tokenFromInput = false
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ''
    const name = names.find((flag) => word === flag || word.startsWith(`${flag}=`))
    if (word === '--token-stdin') tokenFromInput = true
    else if (name === undefined) rest.push(word)
    else if (word === name) {
      const value = words[++at]
      if (value === undefined) throw new UsageError(`${name} needs a value`)
      flags.set(name, value)
    } else flags.set(name, word.slice(name.length + 1))
  }
  return { flags, rest, tokenFromInput }
}

interface Profile {
  readonly server?: string
  readonly token?: string
  readonly organization?: string
}

/** A file with server, token and organization as JSON; nobody else may read it. */
function readProfile(path: string): Profile {
  // The last nine bits are who may read, write and run it.
  if ((statSync(path).mode & 0o077) !== 0) {
    throw new UsageError(`${path} holds a token and is open to others: chmod 600 ${path}`)
  }
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Profile
  } catch {
    throw new UsageError(`${path} is no JSON object with server and token`)
  }
}

function tokenOfFile(path: string | undefined): string | undefined {
  return path === undefined ? undefined : readFileSync(path, 'utf8').trim()
}

/** Tokens travel over TLS, or stay on this machine. */
function checkedServer(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isLocal =
    url !== undefined && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\]|[a-z0-9-]+)$/.test(url.hostname)
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLocal)) {
    return url.href.replace(/\/+$/, '')
  }
  throw new UsageError(
    '--server must be an https:// address; http:// only within one machine or network',
  )
}
