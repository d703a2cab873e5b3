import { isIP } from 'node:net'

/** An IP address in the form that the guard compares. */
export type PlainAddress =
  | { readonly family: 4; readonly address: string }
  | { readonly family: 6; readonly address: string }

/**
 * Returns the address that a packet would reach: without brackets and zone, and with an IPv4 address unwrapped from
 * IPv6 if `isWrapped` recognizes it. Other wrappings (IPv4-compatible, 6to4, Teredo) stay IPv6 addresses, and the guard
 * refuses them. Undefined for invalid addresses.
 */
export function plainAddress(text: string): PlainAddress | undefined {
  const bare = withoutZone(text)
  const family = isIP(bare)
  if (family === 4) return { family: 4, address: bare }
  if (family !== 6) return undefined
  const groups = groupsOf(bare)
  const wrapped = wrappedIPv4(groups)
  if (wrapped !== undefined) return { family: 4, address: wrapped }
  return { family: 6, address: groups.map((group) => group.toString(16)).join(':') }
}

/** Whether this IP address is an IPv4 address wrapped in IPv6: mapped, translated or NAT64. */
export function isWrapped(text: string): boolean {
  const bare = withoutZone(text)
  return isIP(bare) === 6 && wrappedIPv4(groupsOf(bare)) !== undefined
}

/** Removes brackets and zone: a zone selects a link (RFC 4007, section 11) but does not make an address any safer. */
function withoutZone(text: string): string {
  const inner = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text
  const zone = inner.indexOf('%')
  return zone === -1 ? inner : inner.slice(0, zone)
}

/** The eight 16-bit groups of an IPv6 address that `isIP` has accepted (RFC 4291, section 2.2). */
function groupsOf(address: string): number[] {
  const [head = '', tail] = hexOnly(address).split('::')
  const front = head === '' ? [] : head.split(':')
  const back = tail === undefined || tail === '' ? [] : tail.split(':')
  const gap = tail === undefined ? 0 : 8 - front.length - back.length
  return [...front, ...Array.from({ length: gap }, () => '0'), ...back].map((group) =>
    Number.parseInt(group, 16),
  )
}

/** Converts `::ffff:1.2.3.4` to `::ffff:102:304`. */
function hexOnly(address: string): string {
  const lastColon = address.lastIndexOf(':')
  const dotted = address.slice(lastColon + 1)
  if (!dotted.includes('.')) return address
  const [a = 0, b = 0, c = 0, d = 0] = dotted.split('.').map(Number)
  return `${address.slice(0, lastColon + 1)}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
}

function wrappedIPv4(groups: readonly number[]): string | undefined {
  const [a, b, c, d, e, f, g = 0, h = 0] = groups
  const zeros = a === 0 && b === 0 && c === 0 && d === 0
  // Mapped (RFC 4291, section 2.5.5.2) and translated (RFC 2765, section 2.1: ::ffff:0:a.b.c.d).
  const mapped = zeros && ((e === 0 && f === 0xffff) || (e === 0xffff && f === 0))
  // The well-known NAT64 prefix (RFC 6052, section 2.1), which DNS64 returns on networks without IPv4.
  const nat64 = a === 0x64 && b === 0xff9b && c === 0 && d === 0 && e === 0 && f === 0
  if (!mapped && !nat64) return undefined
  return [g >> 8, g & 255, h >> 8, h & 255].join('.')
}
