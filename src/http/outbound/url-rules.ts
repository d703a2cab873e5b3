import { isIP } from 'node:net'
import { Problem } from '../../errors.ts'
import { isWrapped } from './addresses.ts'
import type { AddressGuard } from './guard.ts'

const maxUrlLength = 2048
const maxHostLength = 253
const hostShape = /^(?!-)[a-z0-9_-]{1,63}(?<!-)(\.(?!-)[a-z0-9_-]{1,63}(?<!-))*$/

/**
 * The "bad ports" of the Fetch standard, and those of Redis (6379) and memcached (11211). A server behind such a port
 * speaks another protocol and could mistake an HTTP request for one of its own messages, such as an e-mail.
 */
const badPorts = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102,
  103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465,
  512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993,
  995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6379, 6566, 6665, 6666, 6667,
  6668, 6669, 6679, 6697, 10080, 11211,
])

/** Host names of cloud metadata services; their addresses are also refused at every connection. */
const metadataNames = new Set(['metadata', 'metadata.google.internal', 'instance-data'])

/** A configured URL that has passed the checks of its text; its addresses are checked when connecting. */
export interface OutboundUrl {
  readonly url: URL
  readonly secure: boolean
  /** The lower-case name without a trailing dot, or the literal address without brackets. */
  readonly host: string
  readonly port: number
}

/** Parses a configured URL without resolving its name; throws Problem `outbound_blocked` with the reason. */
export function checkUrl(text: string, guard: AddressGuard): OutboundUrl {
  const url = parse(text)
  const secure = url.protocol === 'https:'
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port)
  if (badPorts.has(port)) throw refused(`Port ${port} does not speak HTTP.`)
  const host = bareHost(url.hostname)
  if (isIP(host) !== 0) {
    // A resolver may return a wrapped address (DNS64), but in a URL it could only disguise another address.
    if (isWrapped(host)) throw refused('An IPv4 address must not be wrapped in an IPv6 address.')
    const reason = guard.checkAddress(host)
    if (reason !== undefined) throw refused(`Addresses of this kind must not be called: ${reason}.`)
    return { url, secure, host, port }
  }
  if (host.length > maxHostLength || !hostShape.test(host)) {
    throw refused('The host name has an impossible shape.')
  }
  if (metadataNames.has(host)) throw refused('Cloud metadata must not be called.')
  if ((host === 'localhost' || host.endsWith('.localhost')) && !mayReachLoopback(guard)) {
    throw refused('Addresses of this kind must not be called: loopback.')
  }
  return { url, secure, host, port }
}

function parse(text: string): URL {
  // Refuses the mistakes that `new URL` would silently repair (tabs, line ends, backslashes, missing slashes), because
  // other parsers repair them differently.
  if (text.length > maxUrlLength)
    throw refused(`The URL is longer than ${maxUrlLength} characters.`)
  if (!/^https?:\/\/[^/\\?#]/i.test(text)) {
    throw refused('The URL must start with http:// or https://.')
  }
  if (/[\u0000-\u0020\u007f\\]/.test(text)) {
    throw refused('The URL holds spaces, control characters or backslashes.')
  }
  const url = URL.parse(text)
  if (!url) throw refused('This is not a URL.')
  const authority = text.slice(text.indexOf('//') + 2).split(/[/?#]/, 1)[0] ?? ''
  if (authority.includes('@')) throw refused('The URL must not hold a user name or password.')
  if (text.includes('#')) throw refused('The URL must not have a fragment.')
  return url
}

function bareHost(hostname: string): string {
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  return host.endsWith('.') ? host.slice(0, -1) : host
}

function mayReachLoopback(guard: AddressGuard): boolean {
  return guard.checkAddress('127.0.0.1') === undefined || guard.checkAddress('::1') === undefined
}

function refused(detail: string): Problem {
  return new Problem('outbound_blocked', detail)
}
