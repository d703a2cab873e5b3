import { Problem } from '../errors.ts'
import { dayMs, minuteMs } from '../units.ts'

/** The providers with a sign-in guide of their own; `other` stands for all others. */
export const connectionKinds = ['okta', 'entra', 'google', 'other'] as const

export type ConnectionKind = (typeof connectionKinds)[number]

/** The names of the claims to read about a person. */
export interface ClaimMap {
  readonly email: string
  readonly emailVerified: string
  readonly name: string
  readonly groups: string
  /** The claim that identifies the person in the directory, and the directory's attribute that it is compared with. */
  readonly directory: { readonly claim: string; readonly attribute: 'externalId' | 'userName' }
}

/** The role that a group at the provider gives; it does not count while the directory is on. */
export interface GroupRole {
  readonly group: string
  readonly role: 'admin' | 'developer' | 'viewer'
}

/** How a connection reads its provider's claims, whom it admits, and how its sessions end. */
export interface ConnectionSettings {
  readonly scopes: readonly string[]
  readonly claims: ClaimMap
  /** Whether to read the UserInfo endpoint too, if the provider has one. */
  readonly askUserInfo: boolean
  /**
   * Whether people of verified domains become members by signing in without an invitation; they never do while the
   * directory is on.
   */
  readonly admitsNewPeople: boolean
  /** Whether signing out here signs out at the provider too (OpenID Connect RP-Initiated Logout 1.0). */
  readonly endsProviderSession: boolean
  readonly requiredGroup: string | undefined
  readonly groupRoles: readonly GroupRole[]
  /** The maximum duration of a session that began through this connection. */
  readonly sessionMaximumMs: number | undefined
}

/**
 * A change of settings: an omitted setting keeps its value, or gets the default of the kind of provider if the
 * connection is new.
 */
export type SettingsInput = {
  readonly scopes?: readonly string[] | undefined
  readonly claims?: { readonly [name in keyof ClaimMap]?: ClaimMap[name] | undefined } | undefined
  readonly askUserInfo?: boolean | undefined
  readonly admitsNewPeople?: boolean | undefined
  readonly endsProviderSession?: boolean | undefined
  readonly requiredGroup?: string | null | undefined
  readonly groupRoles?: readonly GroupRole[] | undefined
  readonly sessionMaximumMs?: number | null | undefined
}

const standardClaims: ClaimMap = {
  email: 'email',
  emailVerified: 'email_verified',
  name: 'name',
  groups: 'groups',
  directory: { claim: 'email', attribute: 'userName' },
}

// docs/guides explains how each provider differs.
const claimsOfKind: Readonly<Record<ConnectionKind, ClaimMap>> = {
  // Okta's directory sends its user id as externalId. Okta's built-in authorization server sends the same id as `sub`.
  okta: { ...standardClaims, directory: { claim: 'sub', attribute: 'externalId' } },
  // Any Entra tenant can set `email`, so only `xms_edov` proves that the domain's owner has confirmed the address.
  // `oid` identifies the person, because `sub` differs by application.
  entra: {
    ...standardClaims,
    emailVerified: 'xms_edov',
    directory: { claim: 'oid', attribute: 'externalId' },
  },
  google: standardClaims,
  other: standardClaims,
}

const minSessionMs = 5 * minuteMs
const maxSessionMs = dayMs
const maxScopes = 20
const maxGroupRoles = 200

/** Applies a change to a connection's settings; throws `invalid_input`. */
export function settingsFor(
  kind: ConnectionKind,
  input: SettingsInput,
  before?: ConnectionSettings,
): ConnectionSettings {
  const base = before ?? settingsOfKind(kind)
  const settings: ConnectionSettings = {
    scopes: input.scopes ?? base.scopes,
    claims: { ...base.claims, ...present(input.claims ?? {}) },
    askUserInfo: input.askUserInfo ?? base.askUserInfo,
    admitsNewPeople: input.admitsNewPeople ?? base.admitsNewPeople,
    endsProviderSession: input.endsProviderSession ?? base.endsProviderSession,
    requiredGroup:
      input.requiredGroup === null ? undefined : (input.requiredGroup ?? base.requiredGroup),
    groupRoles: input.groupRoles ?? base.groupRoles,
    sessionMaximumMs:
      input.sessionMaximumMs === null
        ? undefined
        : (input.sessionMaximumMs ?? base.sessionMaximumMs),
  }
  check(settings)
  return settings
}

/** Reads stored settings, with the defaults for those that did not exist yet when they were stored. */
export function settingsFromRow(
  kind: ConnectionKind,
  stored: Readonly<Record<string, unknown>>,
): ConnectionSettings {
  return { ...settingsOfKind(kind), ...(stored as Partial<ConnectionSettings>) }
}

function settingsOfKind(kind: ConnectionKind): ConnectionSettings {
  return {
    scopes: ['openid', 'email', 'profile'],
    claims: claimsOfKind[kind],
    askUserInfo: true,
    admitsNewPeople: true,
    endsProviderSession: false,
    requiredGroup: undefined,
    groupRoles: [],
    sessionMaximumMs: undefined,
  }
}

function check(settings: ConnectionSettings): void {
  const { scopes, claims, requiredGroup, groupRoles, sessionMaximumMs } = settings
  // A scope consists of NQCHAR characters (RFC 6749, appendix A.4).
  if (
    scopes.length > maxScopes ||
    !scopes.every((scope) => /^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/.test(scope))
  ) {
    throw new Problem(
      'invalid_input',
      'A scope is a word of printable ASCII without quotation marks.',
    )
  }
  const names = [
    claims.email,
    claims.emailVerified,
    claims.name,
    claims.groups,
    claims.directory.claim,
  ]
  if (!names.every(isName)) {
    throw new Problem('invalid_input', 'The name of a claim has 1 to 200 characters.')
  }
  if (claims.directory.claim === claims.name) {
    throw new Problem(
      'invalid_input',
      'A name is no identifier: the directory cannot be matched by it.',
    )
  }
  if (requiredGroup !== undefined && !isName(requiredGroup)) {
    throw new Problem('invalid_input', 'A group has 1 to 200 characters.')
  }
  if (groupRoles.length > maxGroupRoles || !groupRoles.every(({ group }) => isName(group))) {
    throw new Problem('invalid_input', `There are at most ${maxGroupRoles} groups with a role.`)
  }
  if (
    sessionMaximumMs !== undefined &&
    !(sessionMaximumMs >= minSessionMs && sessionMaximumMs <= maxSessionMs)
  ) {
    throw new Problem('invalid_input', 'A session lasts between 5 minutes and 24 hours.')
  }
}

function isName(text: string): boolean {
  return /^\P{C}{1,200}$/u.test(text) && text.isWellFormed()
}

function present<T extends object>(value: T): { [name in keyof T]-?: Exclude<T[name], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as {
    [name in keyof T]-?: Exclude<T[name], undefined>
  }
}
