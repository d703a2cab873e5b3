import { Problem } from '../errors.ts'
import { parseCidr } from './cidr.ts'
import type { Grant, Quota, RateLimit } from './schemes.ts'

const longestName = 100
const mostGrants = 100
const mostCidrs = 100

/** What a person decides about a key. */
export interface KeyWish {
  readonly name: string
  readonly grants?: readonly Grant[] | undefined
  readonly cidrs?: readonly string[] | undefined
  readonly rateLimit?: RateLimit | undefined
  readonly quota?: Quota | undefined
  /** Milliseconds since 1970. */
  readonly expiresAt?: number | undefined
}

/** A wish as it may be kept; `invalid_input` for values that make no sense. */
export function checkWish(wish: KeyWish, nowMs: number) {
  const name = wish.name.trim()
  if (name === '' || name.length > longestName) {
    throw new Problem('invalid_input', `A key's name has 1 to ${longestName} characters.`)
  }
  if (wish.expiresAt !== undefined && wish.expiresAt <= nowMs) {
    throw new Problem('invalid_input', 'A key ends in the future.')
  }
  if ((wish.grants?.length ?? 0) > mostGrants || (wish.cidrs?.length ?? 0) > mostCidrs) {
    throw new Problem(
      'invalid_input',
      `A key has at most ${mostGrants} grants and ${mostCidrs} CIDRs.`,
    )
  }
  if (wish.cidrs?.length === 0 || wish.grants?.length === 0) {
    throw new Problem(
      'invalid_input',
      'Leave grants or CIDRs out to allow all; an empty list allows none.',
    )
  }
  for (const cidr of wish.cidrs ?? []) parseCidr(cidr)
  return {
    name,
    grants: wish.grants,
    cidrs: wish.cidrs,
    rateLimit: wish.rateLimit,
    quota: wish.quota,
    expiresAt: wish.expiresAt,
  }
}
