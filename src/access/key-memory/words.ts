import { idAlphabet, type KeyId } from '../../ids.ts'
import type { DigestBytes } from '../../secrets/index.ts'

const none = 255
const idValues = valuesOf(idAlphabet)
/** For each ten bits, the codes of the two characters that stand for them: the first one in the upper byte. */
const idPairs = Uint16Array.from({ length: 1024 }, (_, bits) => {
  return (idAlphabet.charCodeAt(bits >> 5) << 8) | idAlphabet.charCodeAt(bits & 31)
})
const digestLength = 32
const prefix = 'key_'
const idLength = prefix.length + 26

/**
 * Reads the first 128 bits of a SHA-256 digest into four words; returns false unless it is 32 characters of one byte each.
 *
 * Of these, 115 identify a key: with ten million keys remembered, a caller who may try a million keys a second needs
 * 10^14 years to find one by chance. We mint the keys, so nobody can choose two that collide.
 */
export function readDigest(bytes: DigestBytes, words: Int32Array): boolean {
  if (bytes.length !== digestLength) return false
  let seen = 0
  for (let word = 0; word < 4; word++) {
    let bits = 0
    for (let at = word * 4; at < word * 4 + 4; at++) {
      const byte = bytes.charCodeAt(at)
      seen |= byte
      bits = (bits << 8) | byte
    }
    words[word] = bits
  }
  return seen < 256
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
  const start = pairOf((a & 3) | ((b & 3) << 2) | ((c & 3) << 4) | ((d & 3) << 6))
  const d1 = pairOf(d >> 22)
  const d2 = pairOf(d >> 12)
  const d3 = pairOf(d >> 2)
  const c1 = pairOf(c >> 22)
  const c2 = pairOf(c >> 12)
  const c3 = pairOf(c >> 2)
  const b1 = pairOf(b >> 22)
  const b2 = pairOf(b >> 12)
  const b3 = pairOf(b >> 2)
  const a1 = pairOf(a >> 22)
  const a2 = pairOf(a >> 12)
  const a3 = pairOf(a >> 2)
  // One call with the codes of all characters, of which the first four are `key_`, costs half as much as making the text
  // from a buffer.
  // prettier-ignore
  return String.fromCharCode(
    107, 101, 121, 95, start >> 8, start & 255,
    d1 >> 8, d1 & 255, d2 >> 8, d2 & 255, d3 >> 8, d3 & 255,
    c1 >> 8, c1 & 255, c2 >> 8, c2 & 255, c3 >> 8, c3 & 255,
    b1 >> 8, b1 & 255, b2 >> 8, b2 & 255, b3 >> 8, b3 & 255,
    a1 >> 8, a1 & 255, a2 >> 8, a2 & 255, a3 >> 8, a3 & 255,
  ) as KeyId
}

/** Returns the codes of the two characters that stand for the lower ten bits. */
function pairOf(bits: number): number {
  return idPairs[bits & 1023] ?? 0
}

function valuesOf(digits: string): Uint8Array {
  const values = new Uint8Array(128).fill(none)
  for (let at = 0; at < digits.length; at++) values[digits.charCodeAt(at)] = at
  return values
}
