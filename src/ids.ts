import { randomFillSync } from 'node:crypto'

/** The prefixes of all ids, which tell what kind of thing an id names. */
export type IdPrefix =
  | 'org'
  | 'usr'
  | 'mem'
  | 'inv'
  | 'idn'
  | 'key'
  | 'ses'
  | 'con'
  | 'dom'
  | 'dir'
  | 'tgt'
  | 'rul'
  | 'evt'
  | 'ep'
  | 'dlv'
  | 'att'
  | 'aud'
  | 'req'
  | 'op'
  | 'node'
  | 'grp'
  | 'sgn'
  | 'tok'

export type Id<P extends IdPrefix> = `${P}_${string}`
export type OrganizationId = Id<'org'>
export type UserId = Id<'usr'>
export type KeyId = Id<'key'>
export type SessionId = Id<'ses'>
export type TargetId = Id<'tgt'>
export type RuleId = Id<'rul'>
export type EventId = Id<'evt'>
export type RequestId = Id<'req'>

/** The pattern of a target's slug, which is also a label of a host name: 1 to 63 of a–z, 0–9 and inner hyphens. */
export const targetSlugPattern = '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'

// Crockford's base 32: its texts sort like the numbers that they encode, and it has no easily confused letters.
export const idAlphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const timeDigits = 10
const randomDigits = 16

/** Draws texts of 16 random digits from a pool: cheap enough for ids of calls and traces, but not meant for secrets. */
export class RandomDigits {
  readonly #codes: Uint8Array
  /** Random bytes. With at most 16 digits, each byte makes two of them, because drawing bytes costs the most. */
  readonly #drawn: Uint8Array
  readonly #pool = new Uint8Array(randomDigits * 256)
  #used = this.#pool.length

  /** The number of digits must be a power of two up to 256, because only then is every digit equally likely. */
  constructor(digits: string) {
    this.#codes = Uint8Array.from(digits, (digit) => digit.charCodeAt(0))
    this.#drawn = new Uint8Array(this.#pool.length / (digits.length > 16 ? 1 : 2))
  }

  sixteen(): string {
    if (this.#used === this.#pool.length) this.#refill()
    const at = this.#used
    this.#used += randomDigits
    // One call with the codes of all characters costs a fifth of making the text from a buffer.
    // prettier-ignore
    return String.fromCharCode(
      this.#code(at), this.#code(at + 1), this.#code(at + 2), this.#code(at + 3),
      this.#code(at + 4), this.#code(at + 5), this.#code(at + 6), this.#code(at + 7),
      this.#code(at + 8), this.#code(at + 9), this.#code(at + 10), this.#code(at + 11),
      this.#code(at + 12), this.#code(at + 13), this.#code(at + 14), this.#code(at + 15),
    )
  }

  #code(at: number): number {
    return this.#pool[at] ?? 0
  }

  #refill(): void {
    const drawn = randomFillSync(this.#drawn)
    const pool = this.#pool
    const mask = this.#codes.length - 1
    const count = drawn.length
    for (let at = 0; at < count; at++) pool[at] = this.#codes[(drawn[at] ?? 0) & mask] ?? 0
    for (let at = count; at < pool.length; at++) {
      pool[at] = this.#codes[((drawn[at - count] ?? 0) >> 4) & mask] ?? 0
    }
    this.#used = 0
  }
}

const random = new RandomDigits(idAlphabet)
let lastTime = -1
let timeText = ''
/** The last two digits count this many milliseconds; the others are kept as text, because they rarely change. */
const lowDigitsMs = 1024
let lastHigh = -1
let highDigits = ''

/**
 * Creates an id: prefix, 10 characters of time (ms) and 16 random ones (80 bits). Later ids sort later, to the
 * millisecond.
 */
export function createId<P extends IdPrefix>(prefix: P, nowMs: number = Date.now()): Id<P> {
  return `${prefix}_${timePart(nowMs)}${random.sixteen()}`
}

/**
 * Returns a bound between ids with this prefix: those created at this time or later sort at or after it, older ones
 * before it.
 */
export function idBound(prefix: IdPrefix, ms: number): string {
  return `${prefix}_${timePart(Math.max(0, Math.floor(ms)))}`
}

/** Returns when an id was created, in milliseconds since 1970. */
export function timeOfId(id: string): number {
  const start = id.indexOf('_') + 1
  let time = 0
  for (let at = start; at < start + timeDigits; at++) {
    time = time * 32 + Math.max(0, idAlphabet.indexOf(id.charAt(at)))
  }
  return time
}

/** Whether a text has the form of an id with this prefix; the id need not exist. */
export function isId<P extends IdPrefix>(prefix: P, text: string): text is Id<P> {
  return (
    text.length === prefix.length + 1 + timeDigits + randomDigits &&
    text.startsWith(`${prefix}_`) &&
    /^[0-9a-hjkmnp-tv-z]+$/.test(text.slice(prefix.length + 1))
  )
}

function timePart(nowMs: number): string {
  if (nowMs === lastTime) return timeText
  const high = Math.floor(nowMs / lowDigitsMs)
  if (high !== lastHigh) {
    lastHigh = high
    highDigits = digitsOf(high, timeDigits - 2)
  }
  const low = nowMs % lowDigitsMs
  lastTime = nowMs
  timeText = highDigits + idAlphabet.charAt(low >> 5) + idAlphabet.charAt(low & 31)
  return timeText
}

function digitsOf(value: number, count: number): string {
  let rest = value
  let text = ''
  for (let digit = 0; digit < count; digit++) {
    text = idAlphabet.charAt(rest % 32) + text
    rest = Math.floor(rest / 32)
  }
  return text
}
