import { BlockList, isIP } from 'node:net'
import { Problem } from '../../errors.ts'
import { plainAddress } from './addresses.ts'
import { globalUnicast6, ranges4, ranges6, type Range } from './ranges.ts'

/** Addresses that may be called although they are not public, as chosen by the operator. */
export interface GuardOptions {
  /**
   * OUTBOUND_ALLOW_CIDRS: ranges that may be called, such as `10.1.0.0/16`. What ranges.ts marks `never` stays refused.
   */
  readonly allowCidrs?: readonly string[] | undefined
  /** Whether 127.0.0.0/8 and ::1 may be called. */
  readonly allowLoopback?: boolean | undefined
}

/** Decides to which addresses the service may connect. */
export interface AddressGuard {
  /** Why this IP address must not be called, in a few words; undefined if it may be called. */
  checkAddress(address: string): string | undefined
  /** Whether all of loopback is allowed. */
  readonly allowLoopback: boolean
}

type Family = 4 | 6

/**
 * Creates a guard. Each address family has lists of its own, because a mixed BlockList also matches addresses of the
 * other family.
 */
export function createAddressGuard(options: GuardOptions = {}): AddressGuard {
  const allowLoopback = options.allowLoopback ?? false
  const opened = { 4: new BlockList(), 6: new BlockList() }
  // The loopback addresses that are allowed by a CIDR within loopback. `allowLoopback` allows every loopback address; a
  // wider CIDR such as 0.0.0.0/0 allows none of them.
  const openedLoopback = { 4: new BlockList(), 6: new BlockList() }
  const lists = { 4: listsOf(ranges4, 4), 6: listsOf(ranges6, 6) }
  const loopback = { 4: subnet('127.0.0.0/8'), 6: subnet('::1/128') }
  for (const text of options.allowCidrs ?? []) {
    const { address, bits, family } = parseCidr(text)
    const inLoopback =
      loopback[family].check(address, kind(family)) && bits >= (family === 4 ? 8 : 128)
    ;(inLoopback ? openedLoopback : opened)[family].addSubnet(address, bits, kind(family))
  }
  const global6 = subnet(globalUnicast6)

  return {
    allowLoopback,
    checkAddress(text) {
      const plain = plainAddress(text)
      if (!plain) return 'no IP address'
      const { family, address } = plain
      const hit = lists[family].find((entry) => entry.list.check(address, kind(family)))
      if (!hit) {
        if (family === 4 || global6.check(address, 'ipv6')) return undefined
        return opened[6].check(address, 'ipv6') ? undefined : 'reserved'
      }
      if (hit.opens === 'cidr' && opened[family].check(address, kind(family))) return undefined
      if (hit.opens === 'loopback') {
        if (allowLoopback || openedLoopback[family].check(address, kind(family))) return undefined
      }
      return hit.name
    },
  }
}

/** Parses `address/bits` or a single address; for any other text, throws a Problem that quotes it. */
function parseCidr(text: string): { address: string; bits: number; family: Family } {
  const [address = '', bitsText = '', ...rest] = text.trim().split('/')
  const family = isIP(address)
  const most = family === 4 ? 32 : 128
  const bits = /^\d{1,3}$/.test(bitsText) ? Number(bitsText) : bitsText === '' ? most : -1
  if (family === 0 || rest.length > 0 || bits < 0 || bits > most) {
    throw new Problem('invalid_input', `"${text}" is not an address range such as 10.1.0.0/16.`)
  }
  return { address, bits, family: family === 4 ? 4 : 6 }
}

/**
 * Returns the ranges in the order of checking: the first that contains an address decides, and its name is the reason.
 */
function listsOf(
  ranges: readonly Range[],
  family: Family,
): { list: BlockList; name: string; opens: Range['opens'] }[] {
  const order = { never: 0, loopback: 1, cidr: 2 }
  // Metadata services are checked first. Loopback is checked before the reserved ranges, because `::/8` contains `::1`.
  const rank = (range: Range): number =>
    range.name === 'cloud metadata' ? -2 : range.opens === 'loopback' ? -1 : order[range.opens]
  return ranges
    .toSorted((a, b) => rank(a) - rank(b))
    .map(({ cidr, name, opens }) => {
      const { address, bits } = parseCidr(cidr)
      const list = new BlockList()
      list.addSubnet(address, bits, kind(family))
      return { list, name, opens }
    })
}

function subnet(cidr: string): BlockList {
  const { address, bits, family } = parseCidr(cidr)
  const list = new BlockList()
  list.addSubnet(address, bits, kind(family))
  return list
}

function kind(family: Family): 'ipv4' | 'ipv6' {
  return family === 4 ? 'ipv4' : 'ipv6'
}
