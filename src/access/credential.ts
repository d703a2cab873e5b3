import { Problem } from '../errors.ts'
import { credentialLength, type DigestBytes } from '../secrets/index.ts'
import { schemeOfKey, schemes, type Scheme } from './schemes.ts'

const plainPrefix = schemes['x-api-key'].prefix
const plainLength = credentialLength(plainPrefix)

/** A well-formed key and the scheme that it was sent with; whether the key exists has not been checked. */
export interface PresentedKey {
  readonly text: string
  readonly scheme: Scheme
  /** The digest of the text, if it has been computed already. */
  readonly digest?: DigestBytes | undefined
}

/**
 * Reads the one API key from the values of the two headers, as received (RFC 9110, section 11.6.2). Refuses with
 * `credential_missing`, `credential_invalid`, `credential_wrong_header` (401), or `credential_ambiguous` (400); the
 * refusal is returned, because strangers cause it often and throwing costs more than reading the key.
 */
export function readKey(
  headers: { xApiKey: readonly string[]; authorization: readonly string[] },
  enabled: readonly Scheme[],
): PresentedKey | Problem {
  const sent = headers.xApiKey.length + headers.authorization.length
  if (sent === 0) return missing(enabled)
  if (sent > 1) {
    return new Problem(
      'credential_ambiguous',
      'The request carries more than one credential. Send exactly one API key, in one header.',
    )
  }
  const [plain] = headers.xApiKey
  // The parser has removed the optional whitespace (RFC 9110, section 5.5); trim() would remove other characters too.
  if (plain !== undefined) return checked(plain, 'x-api-key', enabled)
  const token = bearerToken(headers.authorization[0] ?? '')
  return token === undefined ? invalid(enabled) : checked(token, 'bearer', enabled)
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
  if (text === undefined || !isAlone || !isPlainEnabled(enabled)) return undefined
  return text.length === plainLength && text.startsWith(plainPrefix) ? text : undefined
}

/**
 * Does what `enabled.includes('x-api-key')` does for a list without duplicates. V8 doesn't inline that call, which
 * takes some 3 % of a look-up.
 */
function isPlainEnabled(enabled: readonly Scheme[]): boolean {
  return enabled[0] === 'x-api-key' || enabled[1] === 'x-api-key'
}

/**
 * Returns the token of `Bearer <token>`: the scheme in upper or lower case, followed by one or more spaces (RFC 9110,
 * section 11.4); undefined if the value has another form.
 */
function bearerToken(value: string): string | undefined {
  return /^bearer +([^ \t,"]+) *$/i.exec(value)?.[1]
}

function checked(text: string, scheme: Scheme, enabled: readonly Scheme[]): PresentedKey | Problem {
  const kind = schemeOfKey(text)
  if (kind === undefined) return invalid(enabled)
  if (kind !== scheme) {
    return new Problem(
      'credential_wrong_header',
      `A key that starts with ${schemes[kind].prefix} belongs in the header ${schemes[kind].header}.`,
      { headers: challenge(enabled) },
    )
  }
  if (!enabled.includes(scheme)) return invalid(enabled)
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
