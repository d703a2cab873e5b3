import { Problem } from '../errors.ts'
import type { OrganizationId } from '../ids.ts'
import { organizations, type Db } from '../store/index.ts'
import { parseCidr } from './cidr.ts'
import type { KeyInput } from './key-input.ts'
import type { Scheme } from './schemes.ts'

const dayMs = 24 * 3_600_000
const maxMs = 3650 * dayMs
const maxCidrs = 100

/** What a new key of an organization is like where nobody says otherwise. */
export interface KeyDefaults {
  readonly scheme: Scheme
  /** Milliseconds from its issue to its end; undefined = no end. */
  readonly expiresAfterMs: number | undefined
  /** undefined = any address. */
  readonly cidrs: readonly string[] | undefined
}

/** A wish that may leave things to the organization: undefined = its default, null = none at all. */
export interface IssueInput extends Omit<KeyInput, 'expiresAt' | 'cidrs'> {
  readonly scheme?: Scheme | undefined
  readonly cidrs?: readonly string[] | null | undefined
  /** Milliseconds since 1970. */
  readonly expiresAt?: number | null | undefined
}

/** The defaults in an organization's settings; what was never decided is as open as it can be. */
export function readKeyDefaults(settings: Readonly<Record<string, unknown>>): KeyDefaults {
  const kept = (settings['keyDefaults'] ?? {}) as Partial<KeyDefaults>
  return {
    scheme: kept.scheme ?? 'x-api-key',
    expiresAfterMs: kept.expiresAfterMs,
    cidrs: kept.cidrs,
  }
}

/** The defaults as they may be kept; `invalid_input` for ranges that are none and ends that make no sense. */
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

/** A wish with the organization's defaults in the places that it left open. */
export async function withKeyDefaults(
  db: Db,
  organizationId: OrganizationId,
  wish: IssueInput,
  nowMs: number,
): Promise<KeyInput & { readonly scheme: Scheme }> {
  const organization = await organizations.find(db, organizationId)
  const { scheme, expiresAfterMs, cidrs } = readKeyDefaults(organization?.settings ?? {})
  const end = expiresAfterMs === undefined ? undefined : nowMs + expiresAfterMs
  return {
    ...wish,
    scheme: wish.scheme ?? scheme,
    cidrs: wish.cidrs === undefined ? cidrs : (wish.cidrs ?? undefined),
    expiresAt: wish.expiresAt === undefined ? end : (wish.expiresAt ?? undefined),
  }
}
