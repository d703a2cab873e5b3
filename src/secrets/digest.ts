import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { DigestBytes } from '../credential-formats.ts'
import { RandomDigits } from '../ids.ts'

/** Returns the SHA-256 digest in hex. Neither salt nor a slow hash is needed for secrets with 256 random bits. */
export function digest(text: string): string {
  return hash('sha256', text, 'hex')
}

/** Returns the SHA-256 digest as bytes. */
export function digestBytes(text: string): DigestBytes {
  return hash('sha256', text, 'binary') as unknown as DigestBytes
}

export function digestToHex(bytes: DigestBytes): string {
  return Buffer.from(bytes as unknown as string, 'latin1').toString('hex')
}

/** The inverse of `digestToHex`. */
export function digestFromHex(hex: string): DigestBytes {
  return Buffer.from(hex, 'hex').toString('latin1') as unknown as DigestBytes
}

/** SHA-256 in base64url, as PKCE's S256 requires (RFC 7636, section 4.2). */
export function digestBase64url(text: string): string {
  return hash('sha256', text, 'base64url')
}

/** Compares two strings in constant time, by their digests, because `timingSafeEqual` requires equal lengths. */
export function sameSecret(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(digest(a), 'hex'), Buffer.from(digest(b), 'hex'))
}

const hexDigits = new RandomDigits('0123456789abcdef')

/** Returns this many random bytes in hex, drawn from a pool: cheap enough for trace ids, but not meant for secrets. */
export function randomHex(bytes: number): string {
  let text = hexDigits.sixteen()
  while (text.length < 2 * bytes) text += hexDigits.sixteen()
  return text.slice(0, 2 * bytes)
}

/** Returns this many unguessable random bytes in base64url. */
export function randomToken(bytes = 32): string {
  return randomBytes(bytes).toString('base64url')
}
