import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import {
  checksumDigits as crcDigits,
  idDigits,
  identifiedDigits as randomDigits,
} from '../credential-formats.ts'
import { Secret } from './secret.ts'

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

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

/** The public id of a credential with this prefix, or undefined if its shape or checksum is wrong. No look-up, no I/O; the cheapest test comes first. */
export function credentialLookup(text: string, prefix: string): string | undefined {
  if (text.length !== credentialLength(prefix) || !text.startsWith(prefix)) return undefined
  const separatorAt = prefix.length + idDigits
  if (text.charCodeAt(separatorAt) !== underscore) return undefined
  // What is wrong by chance ends here; what comes through may still be made up of anything.
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

/** How a credential is shown later: prefix, public id and the last four characters. */
export function hintOf(text: string, prefix: string): string {
  return `${text.slice(0, prefix.length + idDigits + 1)}…${text.slice(-4)}`
}

const underscore = 95
const noDigit = 255

// Strangers can ask for this as often as they like: by tables, without a slice or a buffer per text.
const digitValues = new Uint8Array(128).fill(noDigit)
for (let value = 0; value < base62.length; value++) digitValues[base62.charCodeAt(value)] = value

/** What a character counts as a base62 digit; `noDigit` if it is none. */
function valueOf(code: number): number {
  return digitValues[code] ?? noDigit
}

// One entry a byte, of the polynomial that zlib's crc32 has (RFC 1952, section 8).
const crcTable = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xed_b8_83_20 : crc >>> 1
  return crc
})

/** CRC-32 of a text's first characters; like `crc32` for ASCII, and of no use for anything else. */
function crcOfStart(text: string, end: number): number {
  let crc = -1
  for (let at = 0; at < end; at++) {
    crc = (crcTable[(crc ^ text.charCodeAt(at)) & 255] ?? 0) ^ (crc >>> 8)
  }
  return (crc ^ -1) >>> 0
}
