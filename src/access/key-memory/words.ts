import { idAlphabet, type KeyId } from '../../ids.ts'

const none = 255
const hexValues = valuesOf('0123456789abcdef')
const idValues = valuesOf(idAlphabet)
const idCodes = Uint8Array.from(idAlphabet, (digit) => digit.charCodeAt(0))
const digestLength = 64
const prefix = 'key_'
const idLength = prefix.length + 26

/**
 * Reads the first 128 bits of a SHA-256 digest in hex into four words; returns false if the text is no such digest.
 *
 * Half of the digest identifies a key: with ten million keys remembered, a caller who may try a million keys a second
 * needs 10^18 years to find one of these halves by chance. We mint the keys, so nobody can choose two that collide.
 */
export function readDigest(text: string, words: Int32Array): boolean {
  if (text.length !== digestLength) return false
  let seen = 0
  for (let word = 0; word < 4; word++) {
    let bits = 0
    for (let at = word * 8; at < word * 8 + 8; at++) {
      const value = hexValues[text.charCodeAt(at)] ?? none
      seen |= value
      bits = (bits << 4) | value
    }
    words[word] = bits
  }
  return seen < 16
}

/**
 * Reads a key's id into four words; returns false if it does not have the format of `createId`. The 26 base-32 digits
 * carry 128 bits, because the first digit is below 8. Each word gets six of the last 24 digits, and two of the eight
 * bits that the first two digits carry.
 */
export function readKeyId(text: string, words: Int32Array): boolean {
  if (text.length !== idLength || !text.startsWith(prefix)) return false
  let seen = 0
  const value = (at: number): number => {
    const found = idValues[text.charCodeAt(at)] ?? none
    seen |= found
    return found
  }
  const start = (value(prefix.length) << 5) | value(prefix.length + 1)
  for (let word = 0; word < 4; word++) {
    // The random digits at the end of the id go into the first words, because an index needs random bits there.
    const end = idLength - word * 6
    let bits = 0
    for (let at = end - 6; at < end; at++) bits = (bits << 5) | value(at)
    words[word] = (bits << 2) | ((start >> (word * 2)) & 3)
  }
  return seen < 32 && start < 256
}

/** The inverse of `readKeyId`. */
export function keyIdOf(words: Int32Array): KeyId {
  const a = words[0] ?? 0
  const b = words[1] ?? 0
  const c = words[2] ?? 0
  const d = words[3] ?? 0
  const start = (a & 3) | ((b & 3) << 2) | ((c & 3) << 4) | ((d & 3) << 6)
  // One call with the codes of all characters, of which the first four are `key_`, costs half as much as making the text
  // from a buffer.
  // prettier-ignore
  return String.fromCharCode(
    107, 101, 121, 95, codeOf(start >> 5), codeOf(start),
    codeOf(d >> 27), codeOf(d >> 22), codeOf(d >> 17), codeOf(d >> 12), codeOf(d >> 7), codeOf(d >> 2),
    codeOf(c >> 27), codeOf(c >> 22), codeOf(c >> 17), codeOf(c >> 12), codeOf(c >> 7), codeOf(c >> 2),
    codeOf(b >> 27), codeOf(b >> 22), codeOf(b >> 17), codeOf(b >> 12), codeOf(b >> 7), codeOf(b >> 2),
    codeOf(a >> 27), codeOf(a >> 22), codeOf(a >> 17), codeOf(a >> 12), codeOf(a >> 7), codeOf(a >> 2),
  ) as KeyId
}

/** Returns the code of the character that stands for the lower five bits. */
function codeOf(bits: number): number {
  return idCodes[bits & 31] ?? 0
}

function valuesOf(digits: string): Uint8Array {
  const values = new Uint8Array(128).fill(none)
  for (let at = 0; at < digits.length; at++) values[digits.charCodeAt(at)] = at
  return values
}
