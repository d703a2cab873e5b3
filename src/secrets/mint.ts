import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import {
  checksumDigits as crcDigits,
  idDigits,
  identifiedDigits as randomDigits,
  type CredentialFormat,
} from '../credential-formats.ts'
import { Secret } from './secret.ts'

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** A credential that contains a public id: `<prefix><id8>_<43 base62><crc6>`. */
export interface Minted {
  readonly secret: Secret
  /** The public part, for logs, support and lists. */
  readonly lookup: string
}

/** Mints a credential in the format of `Minted`; 43 base62 characters carry 256 random bits. */
export function mintCredential(prefix: string): Minted {
  const lookup = randomBase62(idDigits)
  const body = `${prefix}${lookup}_${randomBase62(randomDigits)}`
  const text = body + checksum(body)
  return { secret: new Secret(text, hintOf(text, { prefix, shape: 'identified' })), lookup }
}

/**
 * Returns the public id of a credential with this prefix; undefined if its shape or checksum is wrong. The function
 * does no I/O, and the cheapest test comes first.
 */
export function credentialLookup(text: string, prefix: string): string | undefined {
  if (text.length !== credentialLength(prefix) || !text.startsWith(prefix)) return undefined
  const separatorAt = prefix.length + idDigits
  if (text.charCodeAt(separatorAt) !== underscore) return undefined
  // The checksum catches accidental errors; a crafted text may still pass it.
  if (!checksumHolds(text)) return undefined
  for (let at = prefix.length; at < text.length; at++) {
    if (at !== separatorAt && valueOf(text.charCodeAt(at)) === noDigit) return undefined
  }
  return text.slice(prefix.length, separatorAt)
}

/** The length in characters of every credential with this prefix. */
export function credentialLength(prefix: string): number {
  return prefix.length + idDigits + 1 + randomDigits + crcDigits
}

/** Returns a random base62 string in which every character is equally likely. */
export function randomBase62(digits: number): string {
  let text = ''
  while (text.length < digits) {
    for (const byte of randomBytes(digits * 2)) {
      // Bytes from 248 (4 × 62) up are skipped, because they would make the first characters of the alphabet more
      // likely.
      if (byte < 248 && text.length < digits) text += base62.charAt(byte % 62)
    }
  }
  return text
}

/** Returns the CRC-32 of an ASCII text as six base62 characters. */
export function checksum(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let at = 0; at < crcDigits; at++) {
    digits = base62.charAt(rest % 62) + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}

/** Whether a text's last six characters are the checksum of everything before them. */
export function checksumHolds(text: string): boolean {
  const end = text.length - crcDigits
  if (end < 0) return false
  let said = 0
  for (let at = end; at < text.length; at++) {
    const value = valueOf(text.charCodeAt(at))
    if (value === noDigit) return false
    said = said * 62 + value
  }
  return said === crcOfStart(text, end)
}

/**
 * Returns the form in which a credential is displayed after its creation: prefix, public id (if there is one) and last
 * four characters.
 */
export function hintOf(
  text: string,
  { prefix, shape }: Pick<CredentialFormat, 'prefix' | 'shape'>,
): string {
  const idLength = shape === 'identified' ? idDigits + 1 : 0
  return `${text.slice(0, prefix.length + idLength)}…${text.slice(-4)}`
}

const underscore = 95
const noDigit = 255

// Outsiders can trigger checksum checks as often as they like, so the checks use tables and allocate nothing per
// string.
const digitValues = new Uint8Array(128).fill(noDigit)
for (let value = 0; value < base62.length; value++) digitValues[base62.charCodeAt(value)] = value

function valueOf(code: number): number {
  return digitValues[code] ?? noDigit
}

// One entry per value of a byte, for the polynomial of zlib's crc32 (RFC 1952, section 8).
const crcTable = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xed_b8_83_20 : crc >>> 1
  return crc
})

/** Returns the CRC-32 of the first `end` characters of a text, which must be ASCII. */
function crcOfStart(text: string, end: number): number {
  let crc = -1
  for (let at = 0; at < end; at++) {
    crc = (crcTable[(crc ^ text.charCodeAt(at)) & 255] ?? 0) ^ (crc >>> 8)
  }
  return (crc ^ -1) >>> 0
}
