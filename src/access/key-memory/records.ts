/**
 * The offset of each field within a record, in 32-bit words: the first 128 bits of the secret's digest, the key's id,
 * and the number of the record's shape (0 if the record is free).
 */
export const digestAt = 0
export const idAt = 4
const shapeAt = 8
const wordsInRecord = 9

// Each chunk takes 144 KiB. Growth adds a chunk and copies nothing, and a node with few keys needs little memory.
const chunkBits = 12
const recordsInChunk = 1 << chunkBits
const inChunk = recordsInChunk - 1

/** The content of a record; digest and id have four words each. */
export interface RecordContent {
  readonly digest: Int32Array
  readonly id: Int32Array
  readonly shape: number
  readonly expiresAt: number | undefined
}

/** Fixed-size records in typed arrays, numbered from 0. Freed records are reused first. */
export class Records {
  readonly #chunks: Int32Array[] = []
  // Most keys never expire, so a chunk gets an array of expiries (8 bytes per record) only once a key that expires is
  // added to it.
  readonly #expiries: (Float64Array | undefined)[] = []
  #begun = 0
  #firstFree = -1
  #count = 0

  get count(): number {
    return this.#count
  }

  /** How many record numbers have ever been in use: 0 to `begun - 1`. */
  get begun(): number {
    return this.#begun
  }

  add(content: RecordContent): number {
    const entry = this.#take()
    const chunk = this.#chunkOf(entry)
    const at = offsetOf(entry)
    chunk.set(content.digest, at + digestAt)
    chunk.set(content.id, at + idAt)
    chunk[at + shapeAt] = content.shape
    this.#setExpiry(entry, content.expiresAt)
    this.#count += 1
    return entry
  }

  free(entry: number): void {
    const chunk = this.#chunkOf(entry)
    const at = offsetOf(entry)
    chunk.fill(0, at, at + wordsInRecord)
    chunk[at] = this.#firstFree
    this.#firstFree = entry
    this.#count -= 1
  }

  /** Returns the number of the record's shape; 0 if the record is free. */
  shapeOf(entry: number): number {
    return this.#chunkOf(entry)[offsetOf(entry) + shapeAt] ?? 0
  }

  expiryOf(entry: number): number | undefined {
    const expiresAt = this.#expiries[entry >> chunkBits]?.[entry & inChunk] ?? Infinity
    return expiresAt === Infinity ? undefined : expiresAt
  }

  word(entry: number, field: number): number {
    return this.#chunkOf(entry)[offsetOf(entry) + field] ?? 0
  }

  copy(entry: number, field: number, words: Int32Array): void {
    for (let at = 0; at < 4; at++) words[at] = this.word(entry, field + at)
  }

  matches(entry: number, field: number, words: Int32Array): boolean {
    const chunk = this.#chunkOf(entry)
    const at = offsetOf(entry) + field
    return (
      chunk[at] === words[0] &&
      chunk[at + 1] === words[1] &&
      chunk[at + 2] === words[2] &&
      chunk[at + 3] === words[3]
    )
  }

  #take(): number {
    const free = this.#firstFree
    if (free >= 0) {
      this.#firstFree = this.word(free, 0)
      return free
    }
    if ((this.#begun & inChunk) === 0) {
      this.#chunks.push(new Int32Array(recordsInChunk * wordsInRecord))
      this.#expiries.push(undefined)
    }
    return this.#begun++
  }

  #setExpiry(entry: number, expiresAt: number | undefined): void {
    const chunk = entry >> chunkBits
    let expiries = this.#expiries[chunk]
    if (expiries === undefined) {
      if (expiresAt === undefined) return
      expiries = new Float64Array(recordsInChunk).fill(Infinity)
      this.#expiries[chunk] = expiries
    }
    expiries[entry & inChunk] = expiresAt ?? Infinity
  }

  #chunkOf(entry: number): Int32Array {
    const chunk = this.#chunks[entry >> chunkBits]
    if (chunk === undefined) throw new RangeError('no such record')
    return chunk
  }
}

function offsetOf(entry: number): number {
  return (entry & inChunk) * wordsInRecord
}
