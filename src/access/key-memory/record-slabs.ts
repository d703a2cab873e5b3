// A record's number says where it is: in which slab (the upper bits), and at which of the slab's places. A place has 32
// bytes. The last two of the 32 places of a block hold no records, but those 16 bits of each id for which a record has
// no room. A slab starts with the numbers of the blocks that follow its own: a search through the blocks of a segment
// would wait longer for these if they were in the blocks.
const placeBits = 5
const places = 2 ** placeBits
const blockBits = 8
const slabBits = placeBits + blockBits
const belowSlab = 2 ** slabBits - 1
const wordsInPlace = 8
const linksInSlab = 2 ** blockBits
const wordsInSlab = linksInSlab + 2 ** slabBits * wordsInPlace
const maxBlocks = 2 ** (24 - placeBits)
// An allocation of this size starts 16 bytes after the start of a page. With this distance from there, a record is in
// one line of the processor's cache and a block is in one page.
const padding = 1024 - 16

const digestAt = 0
const idAt = 4
const idRestsAt = (places - 2) * wordsInPlace

const recordsInBlock = places - 2

/** The content of a record; digest and id have four words each, and `shape` has 24 bits. */
export interface RecordContent {
  readonly digest: Int32Array
  readonly id: Int32Array
  readonly shape: number
  /** Milliseconds since 1970. */
  readonly expiresAt: number | undefined
}

/**
 * Fixed-size records in large typed arrays. A record has 34 bytes: the first 120 bits of the secret's digest, the
 * number of its shape (24 bits; 0 if the record is not in use), and the key's id.
 */
export class RecordSlabs {
  readonly #slabs: Int32Array[] = []
  // Most keys never expire, so a slab has expiries (8 bytes per record) only once a key that expires is added.
  readonly #expiries: (Float64Array | undefined)[] = []
  // Block 0 is never used, so 0 means that there is no block.
  #blocks = 1
  #spareBlock = 0
  /** What was read only to have it fetched; without this, the compiler would leave those reads out. */
  fetched = 0

  /** Returns the number of the first record of an empty block that none follows; -1 if there are no numbers left. */
  takeBlock(): number {
    if (this.#spareBlock > 0) {
      const spare = this.#spareBlock
      this.#spareBlock = this.next(spare)
      this.link(spare, 0)
      return spare
    }
    if (this.#blocks === maxBlocks) return -1
    const block = this.#blocks << placeBits
    if (block >>> slabBits === this.#slabs.length) {
      const memory = new ArrayBuffer(wordsInSlab * 4 + padding)
      this.#slabs.push(new Int32Array(memory, padding))
    }
    this.#blocks += 1
    return block
  }

  /** Whether this many blocks that were never used are left. */
  hasBlocks(count: number): boolean {
    return maxBlocks - this.#blocks >= count
  }

  /** Empties a block, which can then be taken again. */
  giveBack(block: number): void {
    const start = startOf(block)
    // A search by id reads all places of a block, so none of the old records may stay.
    this.#slabOf(block).fill(0, start, start + places * wordsInPlace)
    this.link(block, this.#spareBlock)
    this.#spareBlock = block
  }

  /** Makes `next` the block that follows this one; both are given by the numbers of their first records. */
  link(block: number, next: number): void {
    this.#slabOf(block)[linkOf(block)] = next
  }

  /** Returns the number of the first record of the block that follows this one; 0 if there is none. */
  next(block: number): number {
    return this.#slabOf(block)[linkOf(block)] ?? 0
  }

  write(entry: number, { digest, id, shape, expiresAt }: RecordContent): void {
    const words = this.#slabOf(entry)
    const at = startOf(entry)
    words.set(digest, at + digestAt)
    words[at + digestAt + 3] = ((digest[3] ?? 0) & ~0xff) | (shape & 0xff)
    words.set(id, at + idAt)
    const idWord = id[1] ?? 0
    words[at + idAt + 1] = (idWord & ~0xffff) | (shape >> 8)
    this.#setIdRest(entry, idWord & 0xffff)
    this.#setExpiry(entry, expiresAt)
  }

  copy(from: number, to: number): void {
    const source = this.#slabOf(from)
    const target = this.#slabOf(to)
    const start = startOf(from)
    const distance = startOf(to) - start
    for (let at = start; at < start + wordsInPlace; at++) target[at + distance] = source[at] ?? 0
    this.#setIdRest(to, this.#idRestOf(from))
    this.#setExpiry(to, this.expiryOf(from))
  }

  /** Empties a record; `link` takes its place and can be read with `hashOf`. */
  free(entry: number, link: number): void {
    const words = this.#slabOf(entry)
    const at = startOf(entry)
    words.fill(0, at, at + wordsInPlace)
    words[at] = link
  }

  /** Returns the number of a record with this id in this block or those that follow; -1 if there is none. */
  find(first: number, id: Int32Array): number {
    this.#fetch(first)
    let block = first
    do {
      const entry = this.#findInBlock(block, id)
      if (entry >= 0) return entry
      block = this.next(block)
    } while (block > 0)
    return -1
  }

  /** Returns the first 32 bits of the record's digest. */
  hashOf(entry: number): number {
    return this.#slabOf(entry)[startOf(entry) + digestAt] ?? 0
  }

  copyId(entry: number, id: Int32Array): void {
    const words = this.#slabOf(entry)
    const at = startOf(entry) + idAt
    id[0] = words[at] ?? 0
    id[1] = ((words[at + 1] ?? 0) & ~0xffff) | this.#idRestOf(entry)
    id[2] = words[at + 2] ?? 0
    id[3] = words[at + 3] ?? 0
  }

  /** Whether the first 120 bits of a digest equal those in the record. */
  matches(entry: number, digest: Int32Array): boolean {
    const words = this.#slabOf(entry)
    const at = startOf(entry) + digestAt
    return (
      words[at] === digest[0] &&
      words[at + 1] === digest[1] &&
      words[at + 2] === digest[2] &&
      (words[at + 3] ?? 0) >>> 8 === (digest[3] ?? 0) >>> 8
    )
  }

  /** Returns the number of the record's shape; 0 if the record is not in use. */
  shapeOf(entry: number): number {
    const words = this.#slabOf(entry)
    const at = startOf(entry)
    const low = (words[at + digestAt + 3] ?? 0) & 0xff
    return (((words[at + idAt + 1] ?? 0) & 0xffff) << 8) | low
  }

  expiryOf(entry: number): number | undefined {
    const expiresAt = this.#expiries[entry >>> slabBits]?.[entry & belowSlab] ?? Infinity
    return expiresAt === Infinity ? undefined : expiresAt
  }

  #slabOf(entry: number): Int32Array {
    const words = this.#slabs[entry >>> slabBits]
    if (words === undefined) throw new RangeError('no such record')
    return words
  }

  /**
   * Reads one word of each block. The processor fetches many blocks from memory at the same time, as no read depends on
   * another; a search alone would wait for one block after the other.
   */
  #fetch(first: number): void {
    let seen = 0
    let block = first
    do {
      seen ^= this.#slabOf(block)[startOf(block) + idRestsAt] ?? 0
      block = this.next(block)
    } while (block > 0)
    this.fetched = seen
  }

  #findInBlock(block: number, id: Int32Array): number {
    const words = this.#slabOf(block)
    const rest = (id[1] ?? 0) & 0xffff
    const both = rest | (rest << 16)
    // The rests of 30 ids are in one line of the processor's cache, so nearly all other records need not be read.
    const start = startOf(block) + idRestsAt
    let zeros = 0
    for (let at = start; at < start + recordsInBlock / 2; at++) {
      const difference = (words[at] ?? 0) ^ both
      // Sets the highest bit of a half if the half is zero; of the upper half wrongly, but only if the lower one is zero.
      zeros |= (difference - 0x1_0001) & ~difference
    }
    if ((zeros & 0x8000_8000) === 0) return -1
    for (let place = 0; place < recordsInBlock; place++) {
      if (this.#idRestOf(block + place) !== rest) continue
      if (this.#hasId(block + place, id)) return block + place
    }
    return -1
  }

  #idRestOf(entry: number): number {
    return ((this.#slabOf(entry)[idRestAt(entry)] ?? 0) >>> idShiftOf(entry)) & 0xffff
  }

  #setIdRest(entry: number, rest: number): void {
    const words = this.#slabOf(entry)
    const at = idRestAt(entry)
    const shift = idShiftOf(entry)
    words[at] = ((words[at] ?? 0) & ~(0xffff << shift)) | (rest << shift)
  }

  #hasId(entry: number, id: Int32Array): boolean {
    const words = this.#slabOf(entry)
    const at = startOf(entry) + idAt
    return (
      words[at] === id[0] &&
      (words[at + 1] ?? 0) >>> 16 === (id[1] ?? 0) >>> 16 &&
      words[at + 2] === id[2] &&
      words[at + 3] === id[3] &&
      this.shapeOf(entry) !== 0
    )
  }

  #setExpiry(entry: number, expiresAt: number | undefined): void {
    let expiries = this.#expiries[entry >>> slabBits]
    if (expiries === undefined) {
      if (expiresAt === undefined) return
      expiries = new Float64Array(belowSlab + 1).fill(Infinity)
      this.#expiries[entry >>> slabBits] = expiries
    }
    expiries[entry & belowSlab] = expiresAt ?? Infinity
  }
}

/** Returns the number of the first record of this one's block. */
export function blockOf(entry: number): number {
  return entry & ~(places - 1)
}

/** Whether this is not the number of a record, but the one that follows the last record of a block. */
export function isBlockEnd(entry: number): boolean {
  return (entry & (places - 1)) === recordsInBlock
}

/** Returns where in its slab the place with this number starts, in words. */
function startOf(entry: number): number {
  return linksInSlab + (entry & belowSlab) * wordsInPlace
}

function linkOf(block: number): number {
  return (block & belowSlab) >> placeBits
}

/** Returns the word that contains the lower 16 bits of the second word of a record's id. */
function idRestAt(entry: number): number {
  return startOf(blockOf(entry)) + idRestsAt + ((entry & (places - 1)) >> 1)
}

function idShiftOf(entry: number): number {
  return (entry & 1) << 4
}
