import { Problem } from '../../errors.ts'

/** A range of addresses. IPv4 is kept as IPv4-mapped IPv6, so that one comparison serves both address families. */
export interface Cidr {
  readonly base: bigint
  readonly mask: bigint
}

const allBits = (1n << 128n) - 1n

/** Parses `10.0.0.0/8`, `2001:db8::/32` or a single address; throws `invalid_input` for anything else. */
export function parseCidr(text: string): Cidr {
  const [address = '', length, more] = text.split('/')
  const value = parseAddress(address)
  const bits = address.includes(':') ? 128 : 32
  const prefix = length === undefined ? bits : /^\d{1,3}$/.test(length) ? Number(length) : -1
  if (value === undefined || more !== undefined || prefix < 0 || prefix > bits) {
    throw new Problem(
      'invalid_input',
      `${text.slice(0, 60)} is not an address range like 10.0.0.0/8.`,
    )
  }
  const mask = allBits ^ ((1n << BigInt(bits - prefix)) - 1n)
  return { base: value & mask, mask }
}

/** Whether a textual address lies in the range; false for text that is not an address. */
export function cidrContains(cidr: Cidr, address: string): boolean {
  const value = parseAddress(address)
  return value !== undefined && (value & cidr.mask) === cidr.base
}

export function cidrIncludes(outer: Cidr, inner: Cidr): boolean {
  return (inner.mask & outer.mask) === outer.mask && (inner.base & outer.mask) === outer.base
}

/** Parses an address into a 128-bit number, IPv4 as ::ffff:a.b.c.d; undefined if the text is not an address. */
function parseAddress(text: string): bigint | undefined {
  const v4 = parseIpv4(text)
  if (v4 !== undefined) return 0xffff_0000_0000n | v4
  if (!text.includes(':') || text.includes('%')) return undefined
  const lastColon = text.lastIndexOf(':')
  const tail = parseIpv4(text.slice(lastColon + 1))
  const groupsText =
    tail === undefined
      ? text
      : `${text.slice(0, lastColon + 1)}${(tail >> 16n).toString(16)}:${(tail & 0xffffn).toString(16)}`
  const halves = groupsText.split('::')
  if (halves.length > 2) return undefined
  const [left = [], right = []] = halves.map((half) => (half === '' ? [] : half.split(':')))
  const missing = 8 - left.length - right.length
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined
  const groups = [...left, ...Array.from({ length: missing }, () => '0'), ...right]
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return undefined
  return groups.reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n)
}

function parseIpv4(text: string): bigint | undefined {
  const parts = text.split('.')
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part)))
    return undefined
  const numbers = parts.map(Number)
  if (numbers.some((number) => number > 255)) return undefined
  return numbers.reduce((value, number) => (value << 8n) | BigInt(number), 0n)
}
