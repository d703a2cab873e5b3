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
    let hash = length
    for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + (bytes[at] ?? 0)) | 0
    const home = hash ^ (hash >>> 15)
    for (let probe = 0; probe < maxProbes; probe++) {
      const slot = (home + probe) & (slots - 1)
      const name = this.#names[slot]
      if (name === undefined) return this.#add(slot, bytes.toString('latin1', start, end))
      if (name.length === length && isSame(name, bytes, start)) {
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
      this.#kinds[slot] = this.kind
    }
    return name
  }
}

function isSame(name: string, bytes: Buffer, start: number): boolean {
  for (let at = 0; at < name.length; at++) {
    if (name.charCodeAt(at) !== bytes[start + at]) return false
  }
  return true
}
