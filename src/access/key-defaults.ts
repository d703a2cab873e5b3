import { Problem } from '../errors.ts'
import type { UserId } from '../ids.ts'
import { parseCidr } from './key-fields/cidr.ts'
import type { KeyInput } from './key-input.ts'
import type { Scheme } from './schemes.ts'
import { dayMs } from '../units.ts'

const maxMs = 3650 * dayMs
const maxCidrs = 100

/** An organization's defaults for new keys, used where the issuer does not choose otherwise. */
export interface KeyDefaults {
  readonly scheme: Scheme
  /** Milliseconds from a key's issue until it expires; undefined = never. */
  readonly expiresAfterMs: number | undefined
  /** undefined = any address. */
  readonly cidrs: readonly string[] | undefined
}

/**
 * For scheme, CIDRs and expiry, undefined means the organization's default. For CIDRs and expiry, null means no
 * restriction.
 */
export interface IssueInput extends Omit<KeyInput, 'expiresAt' | 'cidrs'> {
  readonly scheme?: Scheme | undefined
  readonly cidrs?: readonly string[] | null | undefined
  /** Milliseconds since 1970. */
  readonly expiresAt?: number | null | undefined
  /** Set for a person's own key, which ends when the person leaves. */
  readonly personalUserId?: UserId | undefined
}

export function readKeyDefaults(settings: Readonly<Record<string, unknown>>): KeyDefaults {
  const kept = (settings['keyDefaults'] ?? {}) as Partial<KeyDefaults>
  return {
    scheme: kept.scheme ?? 'x-api-key',
    expiresAfterMs: kept.expiresAfterMs,
    cidrs: kept.cidrs,
  }
}

/** Returns the defaults if they are valid; throws `invalid_input` otherwise. */
export function checkKeyDefaults(defaults: KeyDefaults): KeyDefaults {
  const { expiresAfterMs: end, cidrs } = defaults
  if (end !== undefined && !(Number.isSafeInteger(end) && end >= dayMs && end <= maxMs)) {
    throw new Problem('invalid_input', 'New keys end after 1 to 3650 days, or never.')
  }
  if (cidrs !== undefined && (cidrs.length === 0 || cidrs.length > maxCidrs)) {
    throw new Problem('invalid_input', `New keys have 1 to ${maxCidrs} CIDRs, or any address.`)
  }
  for (const cidr of cidrs ?? []) parseCidr(cidr)
  return defaults
}

export function withKeyDefaults(
  input: IssueInput,
  { scheme, expiresAfterMs, cidrs }: KeyDefaults,
  nowMs: number,
): KeyInput & { readonly scheme: Scheme } {
  const end = expiresAfterMs === undefined ? undefined : nowMs + expiresAfterMs
  return {
    ...input,
    scheme: input.scheme ?? scheme,
    cidrs: input.cidrs === undefined ? cidrs : (input.cidrs ?? undefined),
    expiresAt: input.expiresAt === undefined ? end : (input.expiresAt ?? undefined),
  }
}
