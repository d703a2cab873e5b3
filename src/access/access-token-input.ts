import { Problem } from '../errors.ts'
import type { OrganizationId } from '../ids.ts'
import { cidrIncludes, parseCidr } from './key-fields/cidr.ts'
import { permissions, type Permission } from './permissions/permissions.ts'
import { dayMs } from '../units.ts'

const defaultLifetimeMs = 90 * dayMs
const maxLifetimeMs = 366 * dayMs
const maxNameLength = 100
const maxCidrs = 100

/**
 * Permissions that only an issuer who may manage owners can give to a token: with one of them, a token could take
 * control of the organization or delete it.
 */
const onlyByOwners: readonly Permission[] = [
  'owners.manage',
  'organization.delete',
  'sso.manage',
  'tokens.manage',
]

export interface AccessTokenInput {
  readonly name: string
  readonly permissions?: readonly string[] | undefined
  readonly cidrs?: readonly string[] | undefined
  /**
   * Milliseconds since 1970. Undefined = in 90 days or when the issuing token expires, whichever is sooner; null =
   * never.
   */
  readonly expiresAt?: number | null | undefined
}

/** What the issuer of a token can pass on right now. */
export interface TokenMaker {
  /** Undefined if the token will belong to the operator. */
  readonly organization: { readonly id: OrganizationId } | undefined
  readonly permissions: readonly Permission[]
  /** If the issuer is a token: the addresses from which it may be used; undefined = any. */
  readonly cidrs: readonly string[] | undefined
  /** If the issuer is a token: when it expires; undefined = never. */
  readonly expiresAt: number | undefined
}

/**
 * Returns the validated input; throws `invalid_input` for values that make no sense, and `permission_required` for what
 * the issuer cannot pass on.
 */
export function checkTokenInput(input: AccessTokenInput, maker: TokenMaker, nowMs: number) {
  const name = input.name.trim()
  if (name === '' || name.length > maxNameLength) {
    throw new Problem(
      'invalid_input',
      `The name of an access token has 1 to ${maxNameLength} characters.`,
    )
  }
  const cidrs = input.cidrs ?? maker.cidrs
  if (cidrs !== undefined && (cidrs.length === 0 || cidrs.length > maxCidrs)) {
    throw new Problem(
      'invalid_input',
      `An access token has 1 to ${maxCidrs} CIDRs; leave them out to allow every address.`,
    )
  }
  for (const cidr of cidrs ?? []) checkCidr(cidr, maker)
  return {
    name,
    cidrs,
    permissions: checkPermissions(input.permissions, maker),
    expiresAt: checkExpiry(input.expiresAt, maker, nowMs),
  }
}

/**
 * Refuses a range outside the issuing token's ranges. Otherwise, the thief of a token could use it to issue another one
 * that works from the thief's address.
 */
function checkCidr(asked: string, { cidrs }: TokenMaker): void {
  const range = parseCidr(asked)
  if (cidrs === undefined || cidrs.some((own) => cidrIncludes(parseCidr(own), range))) return
  throw new Problem(
    'permission_required',
    `You work from ${cidrs.join(', ')} only and cannot give ${asked}.`,
  )
}

function checkPermissions(asked: readonly string[] | undefined, maker: TokenMaker): Permission[] {
  if (maker.organization === undefined) {
    if (asked === undefined || asked.length === 0) return []
    throw new Problem(
      'invalid_input',
      "An operator's token covers organizations and plans; it has no permissions to choose.",
    )
  }
  const wanted = asked ?? ['traffic.see']
  if (wanted.length === 0) {
    throw new Problem('invalid_input', 'An access token has at least one permission.')
  }
  return [...new Set(wanted)].map((permission) => checkPermission(permission, maker))
}

function checkPermission(asked: string, maker: TokenMaker): Permission {
  if (!isPermission(asked)) {
    throw new Problem(
      'invalid_input',
      `There is no permission ${asked}. There are ${Object.keys(permissions).join(', ')}.`,
    )
  }
  const isReserved = onlyByOwners.includes(asked) && !isOwner(maker)
  if (maker.permissions.includes(asked) && !isReserved) return asked
  throw new Problem(
    'permission_required',
    isReserved
      ? `Only an owner gives an access token the permission ${asked}.`
      : `You cannot give the permission ${asked}, which you do not have.`,
    { members: { permission: asked } },
  )
}

function isPermission(text: string): text is Permission {
  return Object.hasOwn(permissions, text)
}

/**
 * Refuses a time after the issuing token's expiry, because a stolen token could otherwise renew itself for ever.
 * Returns undefined for a token that never expires.
 */
function checkExpiry(
  asked: number | null | undefined,
  maker: TokenMaker,
  nowMs: number,
): number | undefined {
  const until = maker.expiresAt ?? Infinity
  const expiresAt = asked === undefined ? Math.min(nowMs + defaultLifetimeMs, until) : asked
  if (expiresAt !== null && !(expiresAt > nowMs)) {
    throw new Problem('invalid_input', 'An access token ends in the future.')
  }
  if ((expiresAt ?? Infinity) > until) {
    throw new Problem(
      'permission_required',
      `An access token issues none that lasts longer than itself: it ends at ${new Date(until).toISOString()}.`,
      { members: { permission: 'tokens.manage' } },
    )
  }
  if ((expiresAt === null || expiresAt - nowMs > maxLifetimeMs) && !isOwner(maker)) {
    throw new Problem(
      'permission_required',
      'Only an owner issues an access token that lasts longer than a year.',
      { members: { permission: 'owners.manage' } },
    )
  }
  return expiresAt ?? undefined
}

function isOwner({ organization, permissions: own }: TokenMaker): boolean {
  return organization === undefined || own.includes('owners.manage')
}
