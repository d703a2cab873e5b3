import { readFileSync, statSync } from 'node:fs'
import { connect, type Remote } from '../remote/connection.ts'
import { UsageError, type Command, type Local } from './command.ts'
import type { Terminal } from './terminal.ts'

const withValue = ['--server', '--profile', '--org'] as const

/** The flags for working over the API; they may appear anywhere among the command's words. */
export interface RemoteFlags {
  readonly values: ReadonlyMap<(typeof withValue)[number], string>
  readonly tokenFromInput: boolean
}

/** Removes `--server URL`, `--token-stdin`, `--org SLUG` and `--profile FILE` from a command's words. */
export function takeRemoteFlags(words: readonly string[]): { flags: RemoteFlags; rest: string[] } {
  const values = new Map<(typeof withValue)[number], string>()
  const rest: string[] = []
  let tokenFromInput = false
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ''
    const name = withValue.find((flag) => word === flag || word.startsWith(`${flag}=`))
    if (word === '--token-stdin') tokenFromInput = true
    else if (name === undefined) rest.push(word)
    else if (word === name) {
      const value = words[++at]
      if (value === undefined) throw new UsageError(`${name} needs a value`)
      values.set(name, value)
    } else values.set(name, word.slice(name.length + 1))
  }
  return { flags: { values, tokenFromInput }, rest }
}

/** Returns the command's own arguments; `--org` is put back for a command that has such a flag itself. */
export function ownArguments(
  { values }: RemoteFlags,
  command: Command,
  args: readonly string[],
): readonly string[] {
  const org = values.get('--org')
  return org === undefined || !('org' in command.options) ? args : [...args, '--org', org]
}

/** Opens the server that a command works on; undefined means the database. */
export async function openRemote(
  { values, tokenFromInput }: RemoteFlags,
  { name, local }: { readonly name: string; readonly local: Local | undefined },
  terminal: Terminal,
): Promise<Remote | undefined> {
  const { env } = terminal
  const isNamed = values.has('--server') || values.has('--profile')
  if (local?.standsAlone === true && !isNamed && !tokenFromInput) return undefined
  const path = values.get('--profile') ?? env['INTERCEPT_PROFILE']
  const profile = path === undefined ? {} : readProfile(path)
  const server = values.get('--server') ?? env['INTERCEPT_SERVER'] ?? profile.server
  if (server === undefined || server === '') {
    if (tokenFromInput) throw new UsageError('--token-stdin needs --server')
    return undefined
  }
  if (local !== undefined) {
    throw new UsageError(
      `\`intercept ${name}\` works on the machine itself: ${local.because}. Leave --server and INTERCEPT_SERVER out`,
    )
  }
  const token = tokenFromInput
    ? await terminal.readInput()
    : (env['INTERCEPT_TOKEN'] ?? tokenOfFile(env['INTERCEPT_TOKEN_FILE']) ?? profile.token)
  if (token === undefined || token === '') {
    throw new UsageError('--server needs an access token: INTERCEPT_TOKEN or --token-stdin')
  }
  if (/\s/.test(token)) throw new UsageError('The access token must be one word')
  const named = values.get('--org') ?? env['INTERCEPT_ORG'] ?? profile.organization
  const organization = named === '' ? undefined : named
  return connect(checkedServer(server), { token, organization })
}

/** Wraps a terminal whose standard input was the token, so that reading it again is wrong usage. */
export function withoutInput(terminal: Terminal): Terminal {
  return {
    ...terminal,
    readInput: async () => {
      throw new UsageError(
        'Standard input holds the token, and this command reads it too; give the token by INTERCEPT_TOKEN',
      )
    },
  }
}

interface Profile {
  readonly server?: string
  readonly token?: string
  readonly organization?: string
}

/** Reads server, token and organization from a JSON file; refuses one that other users may access. */
function readProfile(path: string): Profile {
  // The last six bits are the permissions of the file's group and of all other users.
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

/** Refuses a URL without TLS, except for this machine and for a host name without a dot, such as a container's. */
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
