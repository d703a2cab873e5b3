import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { Secret } from './secret.ts'

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const crcDigits = 6
const idDigits = 8
const randomDigits = 43

/** A credential with a public id inside: `<prefix><id8>_<43 base62><crc6>`. */
export interface Minted {
  readonly secret: Secret
  /** The public part: for logs, support and lists. */
  readonly lookup: string
}

/** Mints a credential of our usual shape; 43 base62 digits carry 256 random bits. */
export function mintCredential(prefix: string): Minted {
  const lookup = randomBase62(idDigits)
  const body = `${prefix}${lookup}_${randomBase62(randomDigits)}`
  const text = body + checksum(body)
  return { secret: new Secret(text, hintOf(text, prefix)), lookup }
}

/** The public id of a credential with this prefix, or undefined if its shape or checksum is wrong. No look-up, no I/O. */
export function credentialLookup(text: string, prefix: string): string | undefined {
  if (text.length !== credentialLength(prefix) || !text.startsWith(prefix)) return undefined
  if (text.charCodeAt(prefix.length + idDigits) !== underscore) return undefined
  for (let at = prefix.length; at < text.length; at++) {
    if (at !== prefix.length + idDigits && !isBase62(text.charCodeAt(at))) return undefined
  }
  if (!checksumHolds(text)) return undefined
  return text.slice(prefix.length, prefix.length + idDigits)
}

/** The length in characters of every credential with this prefix. */
export function credentialLength(prefix: string): number {
  return prefix.length + idDigits + 1 + randomDigits + crcDigits
}

/** Random base62 text; every digit is equally likely. */
export function randomBase62(digits: number): string {
  let text = ''
  while (text.length < digits) {
    for (const byte of randomBytes(digits * 2)) {
      // 248 = 4 × 62: higher bytes would make the first digits more likely.
      if (byte < 248 && text.length < digits) text += base62.charAt(byte % 62)
    }
  }
  return text
}

/** CRC-32 of an ASCII text as six base62 digits. */
export function checksum(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let at = 0; at < crcDigits; at++) {
    digits = base62.charAt(rest % 62) + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}

/** Whether the last six characters of a text are the checksum of all before them. */
export function checksumHolds(text: string): boolean {
  return checksum(text.slice(0, -crcDigits)) === text.slice(-crcDigits)
}

/** How a credential is shown later: prefix, public id and the last four characters. */
export function hintOf(text: string, prefix: string): string {
  return `${text.slice(0, prefix.length + idDigits + 1)}…${text.slice(-4)}`
}

const underscore = 95

function isBase62(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122)
}
