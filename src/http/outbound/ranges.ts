/**
 * A special-purpose range and its name in refusals. `opens` tells what can allow it: `cidr` means OUTBOUND_ALLOW_CIDRS,
 * `loopback` a loopback BASE_URL or a CIDR inside the range, and `never` nothing.
 */
export interface Range {
  readonly cidr: string
  readonly name: string
  readonly opens: 'cidr' | 'loopback' | 'never'
}

/**
 * IPv4 ranges that are not public (IANA's special-purpose registry, RFC 6890), multicast, and the metadata services of
 * cloud providers.
 */
export const ranges4: readonly Range[] = [
  { cidr: '169.254.169.254/32', name: 'cloud metadata', opens: 'never' },
  { cidr: '169.254.170.2/32', name: 'cloud metadata', opens: 'never' },
  { cidr: '169.254.170.23/32', name: 'cloud metadata', opens: 'never' },
  { cidr: '169.254.0.23/32', name: 'cloud metadata', opens: 'never' },
  { cidr: '169.254.42.42/32', name: 'cloud metadata', opens: 'never' },
  { cidr: '100.100.100.200/32', name: 'cloud metadata', opens: 'never' },
  { cidr: '168.63.129.16/32', name: 'cloud metadata', opens: 'never' },
  { cidr: '192.0.0.192/32', name: 'cloud metadata', opens: 'never' },
  { cidr: '0.0.0.0/8', name: 'unspecified', opens: 'never' },
  { cidr: '127.0.0.0/8', name: 'loopback', opens: 'loopback' },
  { cidr: '10.0.0.0/8', name: 'private', opens: 'cidr' },
  { cidr: '172.16.0.0/12', name: 'private', opens: 'cidr' },
  { cidr: '192.168.0.0/16', name: 'private', opens: 'cidr' },
  { cidr: '100.64.0.0/10', name: 'carrier-grade NAT', opens: 'cidr' },
  { cidr: '169.254.0.0/16', name: 'link-local', opens: 'cidr' },
  { cidr: '192.0.0.0/24', name: 'protocol assignments', opens: 'cidr' },
  { cidr: '192.0.2.0/24', name: 'documentation', opens: 'cidr' },
  { cidr: '198.51.100.0/24', name: 'documentation', opens: 'cidr' },
  { cidr: '203.0.113.0/24', name: 'documentation', opens: 'cidr' },
  { cidr: '198.18.0.0/15', name: 'benchmarking', opens: 'cidr' },
  { cidr: '192.88.99.0/24', name: '6to4 relay', opens: 'never' },
  { cidr: '224.0.0.0/4', name: 'multicast', opens: 'never' },
  { cidr: '240.0.0.0/4', name: 'reserved', opens: 'never' },
]

/**
 * IPv6 ranges that are not public (IANA's special-purpose registry), multicast, and the metadata services of cloud
 * providers. Other addresses outside 2000::/3 are refused too, unless a CIDR allows them.
 */
export const ranges6: readonly Range[] = [
  { cidr: 'fd00:ec2::254/128', name: 'cloud metadata', opens: 'never' },
  { cidr: 'fd00:ec2::23/128', name: 'cloud metadata', opens: 'never' },
  { cidr: 'fd20:ce::254/128', name: 'cloud metadata', opens: 'never' },
  { cidr: 'fd00:c1::a9fe:a9fe/128', name: 'cloud metadata', opens: 'never' },
  { cidr: 'fd00:42::42/128', name: 'cloud metadata', opens: 'never' },
  { cidr: 'fe80::a9fe:a9fe/128', name: 'cloud metadata', opens: 'never' },
  { cidr: '::1/128', name: 'loopback', opens: 'loopback' },
  // Unspecified, IPv4-compatible, NAT64, and everything else that starts with eight zero bits.
  { cidr: '::/8', name: 'reserved', opens: 'never' },
  { cidr: '100::/64', name: 'discard', opens: 'never' },
  // These contain IPv4 addresses: Teredo is in 2001::/23, 6to4 is 2002::/16 (its relays were retired by RFC 7526).
  { cidr: '2001::/23', name: 'Teredo and protocol assignments', opens: 'never' },
  { cidr: '2002::/16', name: '6to4', opens: 'never' },
  { cidr: '2001:db8::/32', name: 'documentation', opens: 'cidr' },
  { cidr: '3fff::/20', name: 'documentation', opens: 'cidr' },
  { cidr: 'fc00::/7', name: 'private', opens: 'cidr' },
  { cidr: 'fe80::/10', name: 'link-local', opens: 'cidr' },
  { cidr: 'fec0::/10', name: 'site-local', opens: 'cidr' },
  { cidr: 'ff00::/8', name: 'multicast', opens: 'never' },
]

/** The only block from which IANA assigns global unicast addresses (its registry of the IPv6 address space). */
export const globalUnicast6 = '2000::/3'
