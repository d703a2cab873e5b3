import { Problem } from '../errors.ts'
import { credentialLength } from '../secrets/index.ts'
import { schemeOfKey, schemes, type Scheme } from './schemes.ts'

/** A well-formed key and the scheme that it was sent with; whether the key exists has not been checked. */
export interface PresentedKey {
  readonly text: string
  readonly scheme: Scheme
  /** The digest of the text, if it has been computed already. */
  readonly digest?: string | undefined
}

/**
 * Reads the one API key from the values of the two headers, as received (RFC 9110, section 11.6.2). Throws
 * `credential_missing`, `credential_invalid`, `credential_wrong_header` (401), or `credential_ambiguous` (400).
 */
export function readKey(
  headers: { xApiKey: readonly string[]; authorization: readonly string[] },
  enabled: readonly Scheme[],
): PresentedKey {
  const sent = headers.xApiKey.length + headers.authorization.length
  if (sent === 0) throw missing(enabled)
  if (sent > 1) {
    throw new Problem(
      'credential_ambiguous',
      'The request carries more than one credential. Send exactly one API key, in one header.',
    )
  }
  const [plain] = headers.xApiKey
  // The parser has removed the optional whitespace (RFC 9110, section 5.5); trim() would remove other characters too.
  if (plain !== undefined) return checked(plain, 'x-api-key', enabled)
  return checked(bearerToken(headers.authorization[0] ?? '', enabled), 'bearer', enabled)
}

/**
 * Returns the key in a request if its header, prefix and length suggest that it may be cached; undefined leaves the
 * request to `readKey`. A cached key passed the remaining checks when it was first presented.
 */
export function keyAtHand(
  head: {
    readonly apiKey: string | undefined
    readonly apiKeyCount: number
    readonly authorizationCount: number
  },
  enabled: readonly Scheme[],
): string | undefined {
  const text = head.apiKey
  const isAlone = head.apiKeyCount === 1 && head.authorizationCount === 0
  if (text === undefined || !isAlone || !enabled.includes('x-api-key')) return undefined
  const { prefix } = schemes['x-api-key']
  return text.length === credentialLength(prefix) && text.startsWith(prefix) ? text : undefined
}

/**
 * Returns the token of `Bearer <token>`: the scheme in upper or lower case, followed by one or more spaces (RFC 9110,
 * section 11.4).
 */
function bearerToken(value: string, enabled: readonly Scheme[]): string {
  const match = /^bearer +([^ \t,"]+) *$/i.exec(value)
  if (!match?.[1]) throw invalid(enabled)
  return match[1]
}

function checked(text: string, scheme: Scheme, enabled: readonly Scheme[]): PresentedKey {
  const kind = schemeOfKey(text)
  if (kind === undefined) throw invalid(enabled)
  if (kind !== scheme) {
    throw new Problem(
      'credential_wrong_header',
      `A key that starts with ${schemes[kind].prefix} belongs in the header ${schemes[kind].header}.`,
      { headers: challenge(enabled) },
    )
  }
  if (!enabled.includes(scheme)) throw invalid(enabled)
  return { text, scheme }
}

function missing(enabled: readonly Scheme[]): Problem {
  const ways = enabled.map((scheme) => `${schemes[scheme].header} (${schemes[scheme].prefix}…)`)
  return new Problem('credential_missing', `Send an API key in ${ways.join(' or ')}.`, {
    headers: challenge(enabled),
  })
}

/** Returns a refusal that is created only once for each list of schemes, because strangers cause it often. */
export function invalid(enabled: readonly Scheme[]): Problem {
  return wordsFor(enabled).invalid
}

/** Returns the `WWW-Authenticate` header of a 401, with a challenge per enabled scheme (RFC 9110, section 11.6.1). */
export function challenge(enabled: readonly Scheme[]): Readonly<Record<string, string>> {
  return wordsFor(enabled).challenge
}

interface Words {
  readonly challenge: Readonly<Record<string, string>>
  readonly invalid: Problem
}

const words = new WeakMap<readonly Scheme[], Words>()

function wordsFor(enabled: readonly Scheme[]): Words {
  const known = words.get(enabled)
  if (known !== undefined) return known
  const ways = enabled.map((scheme) =>
    scheme === 'bearer'
      ? 'Bearer realm="intercept"'
      : 'ApiKey realm="intercept", header="X-API-Key"',
  )
  const headers = Object.freeze({ 'WWW-Authenticate': ways.join(', ') })
  const problem = new Problem('credential_invalid', 'The API key is not valid.', { headers })
  // The refusal is frozen, because all refused requests share it.
  const made = { challenge: headers, invalid: Object.freeze(problem) }
  words.set(enabled, made)
  return made
}
