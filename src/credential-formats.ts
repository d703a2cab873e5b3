/**
 * The credentials that have a prefix of their own, one row each, for minting, parsing, redaction and the secret
 * scanner.
 */

/** The kinds of credentials, by what they let their holder do. */
export type CredentialKind = 'api_key' | 'access_token' | 'scim_token' | 'webhook_secret'

export interface CredentialFormat {
  readonly kind: CredentialKind
  readonly prefix: string
  /** `identified`: `<prefix><id8>_<43 base62><crc6>`; `plain`: `<prefix><42 base62><crc6>`. */
  readonly shape: 'identified' | 'plain'
}

export const idDigits = 8
export const checksumDigits = 6
/** 43 base62 characters carry 256 random bits. */
export const identifiedDigits = 43
/**
 * 42 digits and the checksum make 48 characters: a multiple of four, which even a strict base64 decoder accepts without
 * padding.
 */
export const plainDigits = 42

export const credentialFormats = {
  xApiKey: { kind: 'api_key', prefix: 'svc_live_', shape: 'identified' },
  bearerKey: { kind: 'api_key', prefix: 'sk_live_', shape: 'identified' },
  accessToken: { kind: 'access_token', prefix: 'svc_admin_', shape: 'identified' },
  scimToken: { kind: 'scim_token', prefix: 'svc_scim_', shape: 'identified' },
  webhookSecret: { kind: 'webhook_secret', prefix: 'svc_whsec_', shape: 'plain' },
} as const satisfies Record<string, CredentialFormat>

const all: readonly CredentialFormat[] = Object.values(credentialFormats)

/** All prefixes, as alternatives in a regular expression. */
export const anyPrefix = all.map(({ prefix }) => prefix).join('|')

/** Returns the length of every credential in this format. */
export function lengthOf({ prefix, shape }: CredentialFormat): number {
  return shape === 'plain'
    ? prefix.length + plainDigits + checksumDigits
    : prefix.length + idDigits + 1 + identifiedDigits + checksumDigits
}

/** The source of a regular expression that finds our credentials in a text, without verifying their checksums. */
export const credentialPattern = all
  .map((format) => {
    const digits = lengthOf(format) - format.prefix.length
    return format.shape === 'plain'
      ? `${format.prefix}[0-9A-Za-z]{${digits}}`
      : `${format.prefix}[0-9A-Za-z]{${idDigits}}_[0-9A-Za-z]{${digits - idDigits - 1}}`
  })
  .join('|')

/** Returns the format of a text that begins with one of our prefixes; otherwise undefined. */
export function formatOf(text: string): CredentialFormat | undefined {
  return all.find(({ prefix }) => text.startsWith(prefix))
}

/** Whether a master secret is too short, or has too few different characters, to be random. */
export function isWeakSecret(text: string): boolean {
  return text.length < 32 || new Set(text).size < 10
}

declare const isDigestBytes: unique symbol

/**
 * The SHA-256 digest of a key as text with one character for each of its 32 bytes (latin1). It is cheaper to make and to
 * read than hex. It is not a `string` for the compiler, so that nobody passes it to the database, which has digests in hex.
 */
export interface DigestBytes {
  readonly [isDigestBytes]: true
  readonly length: number
  charCodeAt(at: number): number
}
