const digestAt = 0
const idAt = 4
const wordsInRecord = 8
const bytesInRecord = wordsInRecord * 4 + 2
const leastRecords = 4
const growth = 1 + 1 / 32

/** The content of a record; digest and id have four words each, and `shape` has 24 bits. */
export interface RecordContent {
  readonly digest: Int32Array
  readonly id: Int32Array
  readonly shape: number
  /** Milliseconds since 1970. */
  readonly expiresAt: number | undefined
}

/**
 * Fixed-size records in typed arrays, at places numbered from 0. A record has 34 bytes: the first 120 bits of the
 * secret's digest, the number of its shape (24 bits; 0 if the record is free), and the key's id.
 */
export class RecordSegment {
  #words = new Int32Array(0)
  /** The lower 16 bits of each id's last word; a search by digest needs them only if it must make the principal. */
  #idEnds = new Uint16Array(0)
  // Most keys never expire, so expiries (8 bytes per record) are kept only once a key that expires is added.
  #expiries: Float64Array | undefined
  /** How many places have ever been in use: 0 to `begun - 1`. */
  #begun = 0
  #firstFree = -1
  /** The next place to evict. */
  #hand = 0
  /** The number of records in use. */
  count = 0

  /** Adds a record and returns its place. */
  add({ digest, id, shape, expiresAt }: RecordContent): number {
    const place = this.#take()
    const at = place * wordsInRecord
    this.#words.set(digest, at + digestAt)
    this.#words[at + digestAt + 3] = ((digest[3] ?? 0) & ~0xff) | (shape & 0xff)
    this.#words.set(id, at + idAt)
    this.#words[at + idAt + 3] = ((id[3] ?? 0) & ~0xffff) | (shape >> 8)
    this.#idEnds[place] = (id[3] ?? 0) & 0xffff
    this.#setExpiry(place, expiresAt)
    this.count += 1
    return place
  }

  free(place: number): void {
    const at = place * wordsInRecord
    this.#words.fill(0, at, at + wordsInRecord)
    this.#words[at] = this.#firstFree
    this.#firstFree = place
    this.count -= 1
  }

  /** Returns the place of a record with this id; -1 if there is none. */
  find(id: Int32Array): number {
    const words = this.#words
    const [first, second, third, last = 0] = id
    const end = this.#begun * wordsInRecord
    for (let at = idAt; at < end; at += wordsInRecord) {
      if (words[at] !== first || words[at + 1] !== second || words[at + 2] !== third) continue
      const place = (at - idAt) / wordsInRecord
      if (this.#lastIdWord(place) === last && this.shapeOf(place) !== 0) return place
    }
    return -1
  }

  /** Returns the place of the next record to evict, and moves on; -1 if there is none. */
  oldest(): number {
    if (this.count === 0) return -1
    for (;;) {
      const place = this.#hand < this.#begun ? this.#hand : 0
      this.#hand = place + 1
      if (this.shapeOf(place) !== 0) return place
    }
  }

  /** Returns the first 32 bits of the record's digest. */
  hashOf(place: number): number {
    return this.#words[place * wordsInRecord + digestAt] ?? 0
  }

  copyId(place: number, id: Int32Array): void {
    const at = place * wordsInRecord + idAt
    for (let word = 0; word < 3; word++) id[word] = this.#words[at + word] ?? 0
    id[3] = this.#lastIdWord(place)
  }

  /** Whether the first 120 bits of a digest equal those in the record. */
  matches(place: number, digest: Int32Array): boolean {
    const words = this.#words
    const at = place * wordsInRecord + digestAt
    return (
      words[at] === digest[0] &&
      words[at + 1] === digest[1] &&
      words[at + 2] === digest[2] &&
      (words[at + 3] ?? 0) >>> 8 === (digest[3] ?? 0) >>> 8
    )
  }

  /** Returns the number of the record's shape; 0 if the record is free. */
  shapeOf(place: number): number {
    const words = this.#words
    const at = place * wordsInRecord
    const low = (words[at + digestAt + 3] ?? 0) & 0xff
    return (((words[at + idAt + 3] ?? 0) & 0xffff) << 8) | low
  }

  expiryOf(place: number): number | undefined {
    const expiresAt = this.#expiries?.[place] ?? Infinity
    return expiresAt === Infinity ? undefined : expiresAt
  }

  #lastIdWord(place: number): number {
    const start = (this.#words[place * wordsInRecord + idAt + 3] ?? 0) & ~0xffff
    return start | (this.#idEnds[place] ?? 0)
  }

  #take(): number {
    const free = this.#firstFree
    if (free >= 0) {
      this.#firstFree = this.#words[free * wordsInRecord] ?? 0
      return free
    }
    if (this.#begun === this.#idEnds.length) this.#grow()
    return this.#begun++
  }

  #grow(): void {
    const records = Math.max(leastRecords, Math.ceil(this.#begun * growth))
    // Both arrays share their memory, because each piece of memory has a cost of its own.
    const memory = new ArrayBuffer(Math.ceil((records * bytesInRecord) / 4) * 4)
    const words = new Int32Array(memory, 0, records * wordsInRecord)
    const idEnds = new Uint16Array(memory, words.byteLength, records)
    words.set(this.#words)
    idEnds.set(this.#idEnds)
    this.#words = words
    this.#idEnds = idEnds
    if (this.#expiries !== undefined) this.#expiries = expiriesFor(records, this.#expiries)
  }

  #setExpiry(place: number, expiresAt: number | undefined): void {
    if (this.#expiries === undefined) {
      if (expiresAt === undefined) return
      this.#expiries = expiriesFor(this.#idEnds.length)
    }
    this.#expiries[place] = expiresAt ?? Infinity
  }
}

function expiriesFor(records: number, known: Float64Array = new Float64Array(0)): Float64Array {
  const expiries = new Float64Array(records).fill(Infinity)
  expiries.set(known)
  return expiries
}
