const slots = 2048
const maxNames = 1024
const maxBytes = 64
/**
 * Slots probed per look-up. Callers and upstreams choose the names: without a bound, they could make each look-up probe
 * a thousand.
 */
const maxProbes = 8

/**
 * Looks header names up by their bytes: a known name needs no new string and no lower-casing. The table keeps no
 * reference to a head, which may contain a credential.
 */
export class HeaderNames<Kind extends number> {
  readonly #kindOf: (lower: string) => Kind
  readonly #names: (string | undefined)[] = Array.from({ length: slots })
  /** The bytes of each name, which are cheaper to compare than its characters. */
  readonly #bytes: (Buffer | undefined)[] = Array.from({ length: slots })
  readonly #kinds = new Uint8Array(slots)
  #count = 0
  /** The meaning of the name that was looked up last. */
  kind: Kind

  constructor(usual: readonly string[], kindOf: (lower: string) => Kind) {
    this.#kindOf = kindOf
    this.kind = kindOf('')
    for (const name of usual) {
      const bytes = Buffer.from(name, 'latin1')
      this.find(bytes, 0, bytes.length)
    }
  }

  /** Returns the name between two offsets, and sets `kind` to its meaning. */
  find(bytes: Buffer, start: number, end: number): string {
    const length = end - start
    const home = hashOf(bytes, start, end)
    for (let probe = 0; probe < maxProbes; probe++) {
      const slot = (home + probe) & (slots - 1)
      const name = this.#names[slot]
      const known = this.#bytes[slot]
      if (name === undefined || known === undefined) {
        return this.#add(slot, bytes.toString('latin1', start, end))
      }
      if (known.length === length && isSame(known, bytes, start)) {
        this.kind = this.#kinds[slot] as Kind
        return name
      }
    }
    return this.#add(undefined, bytes.toString('latin1', start, end))
  }

  #add(slot: number | undefined, name: string): string {
    this.kind = this.#kindOf(name.toLowerCase())
    if (slot !== undefined && this.#count < maxNames && name.length <= maxBytes) {
      this.#count++
      this.#names[slot] = name
      this.#bytes[slot] = Buffer.from(name, 'latin1')
      this.#kinds[slot] = this.kind
    }
    return name
  }
}

/**
 * Returns a hash of a name's length and three of its bytes: reading all of them would cost more than the few more
 * probes that a weak hash causes.
 */
function hashOf(bytes: Buffer, start: number, end: number): number {
  const middle = bytes[(start + end) >> 1] ?? 0
  const some = (bytes[start] ?? 0) | (middle << 8) | ((bytes[end - 1] ?? 0) << 16)
  return Math.imul(some + ((end - start) << 24), 0x9e3779b1) >>> 16
}

function isSame(name: Buffer, bytes: Buffer, start: number): boolean {
  for (let at = 0; at < name.length; at++) {
    if (name[at] !== bytes[start + at]) return false
  }
  return true
}
