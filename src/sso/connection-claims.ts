import { sourceOf, type JsonObject } from '../oidc/index.ts'
import type { ConnectionSettings } from './connection-settings.ts'
import { parseMailAddress, type MailAddress } from './domain-names.ts'
import { isStorable } from '../storable.ts'

/** A person as described by the provider's claims. */
export interface CompanyPerson {
  readonly issuer: string
  readonly subject: string
  readonly mail: MailAddress | undefined
  readonly mailVerified: boolean
  readonly name: string | undefined
  /** Undefined if the provider sent no list, which is not the same as an empty list. */
  readonly groups: readonly string[] | undefined
  /** Whether the provider left groups out because a token cannot hold them all (Entra's overage). */
  readonly groupsLeftOut: boolean
  /** The identifier by which the directory knows the person. */
  readonly directoryValue: string | undefined
  /** Why `directoryValue` is missing. */
  readonly directoryGap: 'missing' | 'unverified' | undefined
  /** Google's claim `hd`: the Workspace domain of the account; personal accounts have none. */
  readonly hostedDomain: string | undefined
  /** The provider's id of the session (the claim `sid`), for back-channel logout. */
  readonly providerSession: string | undefined
  /** The id_token itself; it is never put into a cookie. */
  readonly idToken?: string | undefined
}

// How many of a person's groups are kept, apart from groups that the connection's settings name.
const maxGroupsKept = 1_000

/** Reads the claims of a verified sign-in; a claim of the wrong type counts as missing. */
export function readPerson(
  proven: {
    issuer: string
    subject: string
    claims: JsonObject
    userinfo: JsonObject | undefined
    idToken?: string | undefined
  },
  settings: ConnectionSettings,
): CompanyPerson {
  const { claims } = settings
  const sources = [proven.claims, proven.userinfo ?? {}]
  const mailSource = sourceOf(proven, claims.email)
  return {
    issuer: proven.issuer,
    subject: proven.subject,
    mail: parseMailAddress(claimOf(mailSource, claims.email)),
    mailVerified: isVerified(claims.emailVerified, claimOf(mailSource, claims.emailVerified)),
    name: nameOf(claimOf(sourceOf(proven, claims.name), claims.name)),
    groups: groupsOf(claimOf(sourceOf(proven, claims.groups), claims.groups), settings),
    groupsLeftOut: sources.some((source) => leavesOut(source, claims.groups)),
    ...directoryValueOf(sourceOf(proven, claims.directory.claim), settings),
    hostedDomain: textOf(claimOf(proven.claims, 'hd'))?.toLowerCase(),
    providerSession: textOf(claimOf(proven.claims, 'sid')),
    idToken: proven.idToken,
  }
}

// Whether the claim says that the address is verified. The standard claim must be the boolean true; Entra's xms_edov is
// documented as 1, "1", true or "true".
function isVerified(claim: string, value: unknown): boolean {
  if (value === true) return true
  return claim === 'xms_edov' && (value === 1 || value === '1' || value === 'true')
}

// Returns the value by which the directory knows the person. If the settings read it from the e-mail address's claim,
// the provider must have verified the address.
function directoryValueOf(
  source: JsonObject,
  settings: ConnectionSettings,
): Pick<CompanyPerson, 'directoryValue' | 'directoryGap'> {
  const { claims } = settings
  const value = textOf(claimOf(source, claims.directory.claim))
  if (value === undefined) return { directoryValue: undefined, directoryGap: 'missing' }
  const isProven =
    claims.directory.claim !== claims.email ||
    isVerified(claims.emailVerified, claimOf(source, claims.emailVerified))
  return isProven
    ? { directoryValue: value, directoryGap: undefined }
    : { directoryValue: undefined, directoryGap: 'unverified' }
}

function groupsOf(
  value: unknown,
  settings: Pick<ConnectionSettings, 'requiredGroup' | 'groupRoles'>,
): readonly string[] | undefined {
  const list: unknown = typeof value === 'string' ? [value] : value
  if (!Array.isArray(list)) return undefined
  const groups = list.filter(
    (group): group is string => typeof group === 'string' && isStorable(group),
  )
  if (groups.length <= maxGroupsKept) return groups
  const deciding = new Set(settings.groupRoles.map(({ group }) => group))
  if (settings.requiredGroup !== undefined) deciding.add(settings.requiredGroup)
  return groups.filter((group, at) => at < maxGroupsKept || deciding.has(group))
}

// A distributed claim is listed in `_claim_names` but not sent (OpenID Connect Core 1.0, section 5.6.2); Entra may send
// `hasgroups` instead.
function leavesOut(source: JsonObject, claim: string): boolean {
  const names = claimOf(source, '_claim_names')
  const isNamed = typeof names === 'object' && names !== null && Object.hasOwn(names, claim)
  return isNamed || claimOf(source, 'hasgroups') === true
}

function nameOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > 255) return undefined
  const name = value.replaceAll(/\p{C}/gu, ' ').replaceAll(/\s+/g, ' ').trim()
  // Cut by code points, because half of a surrogate pair is no character.
  return Array.from(name).slice(0, 100).join('') || undefined
}

// Text that a database cannot store counts as missing: a query with it could fail, or match other text.
function textOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '' || value.length > 255) return undefined
  return isStorable(value) ? value : undefined
}

// Returns a claim by its name, which comes from settings: `__proto__` and the like must not reach the prototype.
function claimOf(source: JsonObject, name: string): unknown {
  return Object.hasOwn(source, name) ? source[name] : undefined
}
