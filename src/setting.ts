import { isIP } from 'node:net'
import type { Rate } from './rate.ts'
import { parseRecordChoice, type RecordChoice } from './record-choice.ts'
import { hourMs, parseDuration } from './units.ts'
import { isWeakSecret } from './credential-formats.ts'

/**
 * The proxies whose X-Forwarded-For is trusted: the nearest `count` of them, or those whose addresses are in these
 * ranges.
 */
export type TrustedProxies =
  | { readonly kind: 'count'; readonly count: number }
  | { readonly kind: 'ranges'; readonly ranges: readonly string[] }

/** How one setting is read. */
export interface Setting<T> {
  /** The default, as one would write it; empty means not set. */
  readonly fallback: string
  readonly about: string
  /** Throws an Error whose message completes the sentence "NAME …". */
  readonly parse: (text: string) => T
  readonly secret?: boolean
}

/** Creates a setting whose value may be shown. */
export function setting<T>(
  fallback: string,
  about: string,
  parse: (text: string) => T,
): Setting<T> {
  return { fallback, about, parse }
}

/** Creates a setting whose value is never shown. */
export function secret<T>(fallback: string, about: string, parse: (text: string) => T): Setting<T> {
  return { fallback, about, parse, secret: true }
}

/** Accepts any text without control characters. */
export function parseText(text: string): string {
  if (/\p{Cc}/u.test(text)) throw new Error('must not contain control characters')
  return text
}

/** Parses a TCP port; 0 lets the system choose. */
export function parsePort(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) {
    throw new Error('must be a port number from 0 to 65535')
  }
  return Number(text)
}

/** Returns a parser like `parse`, for which `off` means undefined. */
export function parseOff<T>(parse: (text: string) => T): (text: string) => T | undefined {
  return (text) => (text === 'off' ? undefined : parse(text))
}

/** Returns a parser for an integer within inclusive bounds. */
export function parseCount(least: number, most: number): (text: string) => number {
  return (text) => {
    const count = Number(text)
    if (!/^\d{1,9}$/.test(text) || count < least || count > most) {
      throw new Error(`must be a whole number from ${least} to ${most}`)
    }
    return count
  }
}

export function parseOneOf<const T extends string>(choices: readonly T[]): (text: string) => T {
  return (text) => {
    const choice = choices.find((one) => one === text)
    if (choice === undefined) throw new Error(`must be ${choices.join(' or ')}`)
    return choice
  }
}

/** Returns a parser for a duration from a minimum to a maximum, in milliseconds. */
export function parseDurationUpTo(maxMs: number, minMs = 0): (text: string) => number {
  return (text) => {
    const ms = parseDuration(text)
    if (ms < minMs) throw new Error(`must be at least ${minMs / 1000}s`)
    if (ms > maxMs) throw new Error(`must be at most ${maxMs / hourMs}h`)
    return ms
  }
}

/** Parses `20/s` or `20/s burst 100`. */
export function parseRate(text: string): Rate {
  const [, perSecond, burst = perSecond] = /^(\d{1,7})\/s(?: burst (\d{1,7}))?$/.exec(text) ?? []
  if (perSecond === undefined || Number(perSecond) === 0 || Number(burst) === 0) {
    throw new Error('must be a rate such as 20/s or "20/s burst 100", or off')
  }
  return { calls: Number(perSecond), perSeconds: 1, burst: Number(burst) }
}

export function parseCallRecords(text: string): RecordChoice {
  const choice = parseRecordChoice(text)
  if (choice === undefined) throw new Error('must be all, refused, none or "sampled 1/n"')
  return choice
}

/** Parses key schemes, separated by commas; each is in the list once. */
export function parseSchemes(text: string): readonly ('x-api-key' | 'bearer')[] {
  const parse = parseOneOf(['x-api-key', 'bearer'])
  return [...new Set(text.split(',').map((part) => parse(part.trim())))]
}

/** Returns a parser that accepts a URL with one of these protocols and keeps it as written. */
export function parseUrlOf(protocols: readonly string[]): (text: string) => string {
  return (text) => {
    const url = URL.parse(text)
    if (url === null || !protocols.includes(url.protocol) || url.hostname === '') {
      throw new Error(`must be an address that begins with ${protocols.join('// or ')}//`)
    }
    return text
  }
}

/**
 * Parses an origin; drops a trailing slash. Refuses http except on loopback, where most browsers still keep our
 * cookies.
 */
export function parseOrigin(text: string): string {
  const url = URL.parse(parseUrlOf(['https:', 'http:'])(text))
  if (url === null || `${url.origin}/` !== url.href) {
    throw new Error('must be an address without a path, such as https://api.example.com')
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw new Error('must begin with https:// unless it is on localhost')
  }
  return url.origin
}

/** Checks a PostgreSQL URL; a list of hosts is refused, because the driver would take it for one name. */
export function parseDatabaseUrl(text: string): string {
  // Not parsed with URL, because URL rejects a user without a host (postgres://user@/name?host=/run/postgresql).
  if (!/^postgres(ql)?:\/\/\S+$/.test(text)) throw new Error('must begin with postgres://')
  const [, authority = ''] = /^[^/]+:\/\/([^/?#]*)/.exec(text) ?? []
  if (authority.slice(authority.lastIndexOf('@') + 1).includes(',')) {
    throw new Error('must name one host, such as a name that leads to the primary')
  }
  return text
}

/** Checks that each secret has at least 32 characters, ten of them different, which rules out a repeated short word. */
export function parseMasterSecrets(text: string): string {
  if (text.split(',').some((part) => isWeakSecret(part.trim()))) {
    throw new Error('is too weak: take 32 random characters or more (openssl rand -base64 32)')
  }
  return text
}

export function parseTrustedProxies(text: string): TrustedProxies {
  if (/^\d{1,2}$/.test(text)) return { kind: 'count', count: Number(text) }
  try {
    return { kind: 'ranges', ranges: parseRanges(text) }
  } catch {
    throw new Error('must be a number of proxies, or ranges such as 10.0.0.0/8,fd00::/8')
  }
}

/** Parses CIDR ranges, separated by commas; a bare address is a range of one. */
export function parseRanges(text: string): readonly string[] {
  return text.split(',').map((part) => {
    const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(part.trim()) ?? []
    const family = isIP(address)
    const most = family === 6 ? 128 : 32
    if (family === 0 || Number(bits ?? most) > most) {
      throw new Error('must be ranges such as 10.0.0.0/8,fd00::/8')
    }
    return `${address}/${bits ?? most}`
  })
}

/** Parses `name=value,…` with percent-encoding, the format of OpenTelemetry's headers and attributes. */
export function parsePairs(text: string): Readonly<Record<string, string>> {
  const pairs = text.split(',').map((part) => {
    const at = part.indexOf('=')
    const [name, value] = [part.slice(0, at).trim(), part.slice(at + 1).trim()]
    if (at < 1 || !/^[\w.-]+$/.test(name)) throw new Error('must be name=value,…')
    try {
      return [name, parseText(decodeURIComponent(value))] as const
    } catch {
      throw new Error('must be name=value,… with percent-encoding')
    }
  })
  return Object.fromEntries(pairs)
}

export function parseRatio(text: string): number {
  const ratio = Number(text)
  if (!/^\d*\.?\d+$/.test(text) || ratio > 1) throw new Error('must be a number from 0 to 1')
  return ratio
}

/** Whether the host name of a URL means this machine. */
export function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    (isIP(hostname) === 4 && hostname.startsWith('127.'))
  )
}

/** Older releases have known vulnerabilities (security advisories of June and July 2026). */
const oldestNode = [24, 21] as const

/** Returns an error message if this version of Node is too old. */
export function complainAboutNode(version: string): string[] {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isOldEnough = major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1])
  return isOldEnough
    ? []
    : [`Node ${version} is too old: Intercept needs ${oldestNode.join('.')} or later.`]
}

/** Returns error messages about settings that make sense only in combination. */
export function complainAboutPairs(env: Readonly<Record<string, string | undefined>>): string[] {
  return ['GITHUB', 'GOOGLE'].flatMap((one) => {
    const hasId = Boolean(env[`${one}_CLIENT_ID`])
    const hasSecret = Boolean(env[`${one}_CLIENT_SECRET`] ?? env[`${one}_CLIENT_SECRET_FILE`])
    if (hasId === hasSecret) return []
    return [`${one}_CLIENT_ID and ${one}_CLIENT_SECRET are needed together.`]
  })
}
