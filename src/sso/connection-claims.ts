import type { JsonObject } from '../oidc/index.ts'
import type { ConnectionSettings } from './connection-settings.ts'
import { parseMailAddress, type MailAddress } from './domain-names.ts'

/** What a connection's answer says of a person, as this organization reads it. */
export interface CompanyPerson {
  readonly issuer: string
  readonly subject: string
  readonly mail: MailAddress | undefined
  readonly mailVerified: boolean
  readonly name: string | undefined
  /** Undefined where the provider sent none, or too many to send. */
  readonly groups: readonly string[] | undefined
  /** What the directory knows the person by. */
  readonly directoryValue: string | undefined
  /** The provider's own name of the session, for back-channel logout. */
  readonly providerSession: string | undefined
}

const groupsAtMost = 1_000

/** Reads the claims of a proven sign-in; what has the wrong type counts as not said. */
export function readPerson(
  proven: {
    issuer: string
    subject: string
    claims: JsonObject
    userinfo: JsonObject | undefined
  },
  settings: ConnectionSettings,
): CompanyPerson {
  const { claims } = settings
  const sources = [proven.claims, proven.userinfo ?? {}]
  // Whether an address is verified must be said where the address is said.
  const mailSource = sources.find((source) => Object.hasOwn(source, claims.email)) ?? {}
  const directorySource =
    sources.find((source) => Object.hasOwn(source, claims.directory.claim)) ?? {}
  return {
    issuer: proven.issuer,
    subject: proven.subject,
    mail: parseMailAddress(claimOf(mailSource, claims.email)),
    mailVerified: isVerified(claims.emailVerified, claimOf(mailSource, claims.emailVerified)),
    name: nameOf(first(sources, claims.name)),
    groups: groupsOf(first(sources, claims.groups)),
    directoryValue: directoryValueOf(directorySource, settings),
    providerSession: textOf(claimOf(proven.claims, 'sid')),
  }
}

// The standard claim counts as the boolean true alone; Entra's xms_edov is documented as 1, "1", true or "true".
function isVerified(claim: string, value: unknown): boolean {
  if (value === true) return true
  return claim === 'xms_edov' && (value === 1 || value === '1' || value === 'true')
}

// An address identifies somebody in the directory only where the provider has verified it.
function directoryValueOf(source: JsonObject, settings: ConnectionSettings): string | undefined {
  const { claims } = settings
  const value = textOf(claimOf(source, claims.directory.claim))
  if (claims.directory.claim !== claims.email) return value
  return isVerified(claims.emailVerified, claimOf(source, claims.emailVerified)) ? value : undefined
}

function groupsOf(value: unknown): readonly string[] | undefined {
  const list = typeof value === 'string' ? [value] : value
  if (!Array.isArray(list) || list.length > groupsAtMost) return undefined
  return list.filter((group): group is string => typeof group === 'string')
}

function nameOf(value: unknown): string | undefined {
  const name = textOf(value)
    ?.replaceAll(/\p{C}/gu, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, 100)
  return name === '' || name?.isWellFormed() === false ? undefined : name
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && value.length <= 255 ? value : undefined
}

function first(sources: readonly JsonObject[], name: string): unknown {
  return claimOf(sources.find((source) => Object.hasOwn(source, name)) ?? {}, name)
}

// Names come from settings: `__proto__` and its like must find nothing.
function claimOf(source: JsonObject, name: string): unknown {
  return Object.hasOwn(source, name) ? source[name] : undefined
}
