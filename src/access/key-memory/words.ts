import { idAlphabet, type KeyId } from '../../ids.ts'

const none = 255
const hexValues = valuesOf('0123456789abcdef')
const idValues = valuesOf(idAlphabet)
const idCodes = Uint8Array.from(idAlphabet, (digit) => digit.charCodeAt(0))
const digestLength = 64
const prefix = 'key_'
const idLength = prefix.length + 26
const id = Buffer.alloc(idLength)
id.write(prefix, 'latin1')

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
  let start = 0
  for (let word = 0; word < 4; word++) {
    const bits = words[word] ?? 0
    start |= (bits & 3) << (word * 2)
    let rest = bits >>> 2
    const end = idLength - word * 6
    for (let at = end - 1; at >= end - 6; at--) {
      id[at] = idCodes[rest & 31] ?? 0
      rest >>>= 5
    }
  }
  id[prefix.length] = idCodes[start >> 5] ?? 0
  id[prefix.length + 1] = idCodes[start & 31] ?? 0
  return id.toString('latin1') as KeyId
}

function valuesOf(digits: string): Uint8Array {
  const values = new Uint8Array(128).fill(none)
  for (let at = 0; at < digits.length; at++) values[digits.charCodeAt(at)] = at
  return values
}
