import { BlockList, isIP } from 'node:net'
import { isAuthority } from './framing.ts'

/** The operator's proxies in front of us: their number, or their address ranges. */
export type TrustedProxies =
  | { readonly kind: 'count'; readonly count: number }
  | { readonly kind: 'ranges'; readonly ranges: readonly string[] }

/**
 * The header in which a trusted proxy passes on the host that the caller named. X-Forwarded-Host is safe only if the
 * proxy sets it: otherwise it comes from the caller.
 */
export type ForwardedHost = 'x-forwarded-host' | 'host'

/** The request headers from which the forwarding headers for the upstream are derived. */
export interface ForwardingHead {
  readonly host: string | undefined
  readonly forwardedFor: string | undefined
  readonly forwardedProto: string | undefined
  readonly forwardedHost: string | undefined
}

/** Distinguishes a caller's own address from those of the operator's proxies. */
export interface ClientAddresses {
  /**
   * Whether the forwarding headers of this peer are trusted: its address is in one of the ranges, or the number of
   * proxies is not 0.
   */
  isTrusted(peer: string): boolean
  /** The caller's address: the peer, or an entry of X-Forwarded-For that one of the operator's proxies wrote. */
  of(peer: string, forwardedFor: string | undefined): string
  /**
   * Renders the X-Forwarded-For, -Proto and -Host lines for the upstream. Only the forwarding headers of a trusted
   * proxy are used; those of any other peer are ignored.
   */
  forwardingLines(peer: string, head: ForwardingHead, protocol: string): string
}

/** Creates the rules for the proxies that the operator trusts. */
export function createClientAddresses(
  trusted: TrustedProxies,
  hostFrom: ForwardedHost = 'x-forwarded-host',
): ClientAddresses {
  const addresses = readerOf(trusted)
  return {
    ...addresses,
    forwardingLines: (peer, head, protocol) => {
      const believed = addresses.isTrusted(peer) ? head : noForwarding
      const named = hostFrom === 'host' ? undefined : lastOf(believed.forwardedHost)
      const spoken = lastOf(believed.forwardedProto)?.toLowerCase()
      const { forwardedFor } = believed
      return `X-Forwarded-For: ${forwardedFor === undefined ? peer : `${forwardedFor}, ${peer}`}\r
X-Forwarded-Proto: ${spoken === 'http' || spoken === 'https' ? spoken : protocol}\r
X-Forwarded-Host: ${named !== undefined && isAuthority(named) ? named : (head.host ?? '')}\r
`
    },
  }
}

const noForwarding = {
  forwardedFor: undefined,
  forwardedProto: undefined,
  forwardedHost: undefined,
}

/** Returns the last element of a list: the nearest proxy wrote it, while earlier ones may come from a caller. */
function lastOf(list: string | undefined): string | undefined {
  return list?.slice(list.lastIndexOf(',') + 1).trim()
}

type AddressReader = Omit<ClientAddresses, 'forwardingLines'>

function readerOf(trusted: TrustedProxies): AddressReader {
  if (trusted.kind === 'count') {
    const { count } = trusted
    return {
      isTrusted: () => count > 0,
      of: (peer, forwardedFor) => {
        if (count === 0 || forwardedFor === undefined) return peer
        let left = count
        for (const address of entriesOf(forwardedFor)) if (--left === 0) return address
        return peer
      },
    }
  }
  const ranges = blockListOf(trusted.ranges)
  const isTrusted = (address: string): boolean =>
    ranges.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
  return {
    isTrusted,
    of: (peer, forwardedFor) => {
      if (forwardedFor === undefined || !isTrusted(peer)) return peer
      for (const address of entriesOf(forwardedFor)) if (!isTrusted(address)) return address
      return peer
    },
  }
}

/**
 * Yields the addresses of X-Forwarded-For, the nearest proxy's entry first, and one at a time, because a stranger may
 * have written thousands. An unreadable entry ends the chain: neither its author nor anything to its left can be trusted.
 */
function* entriesOf(forwardedFor: string): Generator<string> {
  let end = forwardedFor.length
  while (end !== -1) {
    const comma = end === 0 ? -1 : forwardedFor.lastIndexOf(',', end - 1)
    const address = addressOf(forwardedFor.slice(comma + 1, end).trim())
    if (address === undefined) return
    yield address
    end = comma
  }
}

/** Returns an entry's address without port and brackets; undefined if it is not an address. */
function addressOf(entry: string): string | undefined {
  const bare =
    /^\[([^\]]+)\](?::\d+)?$/.exec(entry)?.[1] ?? /^([\d.]+):\d+$/.exec(entry)?.[1] ?? entry
  if (isIP(bare) === 0 || bare.includes('%')) return undefined
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare)?.[1] ?? bare
}

function blockListOf(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [address = '', bits] = range.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    list.addSubnet(address, Number(bits ?? (family === 'ipv6' ? 128 : 32)), family)
  }
  return list
}
