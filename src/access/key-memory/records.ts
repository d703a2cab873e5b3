import { blockOf, isBlockEnd, RecordSlabs, type RecordContent } from './record-slabs.ts'

const numberBits = 24
const maxSegmentBits = 13
/** How many records a segment should have; finding a key by its id searches all records of one segment. */
const recordsWanted = 1536

/** The maximum number of records. There are numbers for more, because by chance some segments fill sooner than others. */
export const maxRecords = 14_000_000

// What is known of a segment takes eight words, of which these are used. Each but the first is a record's number plus
// one, or 0 if there is none: the first record, the next one that was never in use, the first one that is free again,
// and the next one to evict.
const wordsInSegment = 8
const countAt = 0
const firstAt = 1
const unusedAt = 2
const freeAt = 3
const handAt = 4

/**
 * The records of all remembered keys. The key's id decides to which segment a record belongs, so finding a key by its
 * id needs no index. A segment is a chain of blocks, so it grows without copying any record.
 */
export class Records {
  readonly #slabs = new RecordSlabs()
  readonly #segmentBits: number
  readonly #segments: Int32Array
  readonly #id = new Int32Array(4)
  #count = 0
  /** The segment from which a record was last evicted when any segment would do. */
  #turn = 0

  constructor(capacity: number) {
    const bits = Math.ceil(Math.log2(Math.max(1, capacity / recordsWanted)))
    this.#segmentBits = Math.min(maxSegmentBits, bits)
    this.#segments = new Int32Array(2 ** this.#segmentBits * wordsInSegment)
  }
  get count(): number {
    return this.#count
  }

  /** Adds a record and returns its number; -1 if its segment is full. */
  add(content: RecordContent): number {
    const segment = this.#segmentOf(content.id)
    const count = this.#segments[segment + countAt] ?? 0
    if (count === this.#recordsPerSegment) return -1
    const entry = this.#take(segment)
    if (entry < 0) return -1
    this.#slabs.write(entry, content)
    this.#segments[segment + countAt] = count + 1
    this.#count += 1
    return entry
  }

  free(entry: number): void {
    this.copyId(entry, this.#id)
    const segment = this.#segmentOf(this.#id)
    this.#slabs.free(entry, this.#segments[segment + freeAt] ?? 0)
    this.#segments[segment + freeAt] = entry + 1
    this.#segments[segment + countAt] = (this.#segments[segment + countAt] ?? 0) - 1
    this.#count -= 1
  }

  /**
   * Returns the number of a record with this id; -1 if there is none. If `freed` is the record that the last search
   * found, the search goes on from there.
   */
  findById(id: Int32Array, freed?: number): number {
    const first = freed ?? (this.#segments[this.#segmentOf(id) + firstAt] ?? 0) - 1
    return first < 0 ? -1 : this.#slabs.find(blockOf(first), id)
  }

  /**
   * Returns the oldest record of the segment to which this id belongs, or of another segment if that one is empty or no
   * id is given; -1 if there is no record. A record that took the place of a freed one counts as old as that one.
   */
  oldest(id?: Int32Array): number {
    const own = id === undefined ? -1 : this.#oldestOf(this.#segmentOf(id))
    if (own >= 0) return own
    for (let steps = 0; steps < this.#segments.length; steps += wordsInSegment) {
      this.#turn = (this.#turn + wordsInSegment) % this.#segments.length
      const entry = this.#oldestOf(this.#turn)
      if (entry >= 0) return entry
    }
    return -1
  }

  /** Returns the number of the record's shape; 0 if the record is free. */
  shapeOf(entry: number): number {
    return this.#slabs.shapeOf(entry)
  }

  expiryOf(entry: number): number | undefined {
    return this.#slabs.expiryOf(entry)
  }

  /** Returns the first 32 bits of the record's digest. */
  hashOf(entry: number): number {
    return this.#slabs.hashOf(entry)
  }

  copyId(entry: number, id: Int32Array): void {
    this.#slabs.copyId(entry, id)
  }

  /** Whether the first 120 bits of a digest equal those in the record. */
  matches(entry: number, digest: Int32Array): boolean {
    return this.#slabs.matches(entry, digest)
  }

  get #recordsPerSegment(): number {
    // The index counts numbers from 1, so one number stays unused.
    return 2 ** (numberBits - this.#segmentBits) - 1
  }

  /** Returns where in `#segments` the segment of this id starts. */
  #segmentOf(id: Int32Array): number {
    // A shift by 32 bits would shift by none.
    if (this.#segmentBits === 0) return 0
    return ((id[0] ?? 0) >>> (32 - this.#segmentBits)) * wordsInSegment
  }

  /** Takes a free record, or one that was never in use; returns -1 if there is neither. */
  #take(segment: number): number {
    const segments = this.#segments
    const free = (segments[segment + freeAt] ?? 0) - 1
    if (free >= 0) {
      segments[segment + freeAt] = this.#slabs.hashOf(free)
      return free
    }
    let unused = (segments[segment + unusedAt] ?? 0) - 1
    if (unused < 0 || isBlockEnd(unused)) {
      const block = this.#slabs.takeBlock()
      if (block < 0) return -1
      if (unused < 0) {
        segments[segment + firstAt] = block + 1
        segments[segment + handAt] = block + 1
      } else this.#slabs.link(blockOf(unused), block)
      unused = block
    }
    segments[segment + unusedAt] = unused + 2
    return unused
  }

  #oldestOf(segment: number): number {
    const segments = this.#segments
    if (segments[segment + countAt] === 0) return -1
    for (;;) {
      let entry = (segments[segment + handAt] ?? 0) - 1
      // The hand may be behind a block's last record, because there was no next block when it got there.
      if (entry === (segments[segment + unusedAt] ?? 0) - 1) {
        entry = (segments[segment + firstAt] ?? 0) - 1
      } else if (isBlockEnd(entry)) entry = this.#slabs.next(blockOf(entry))
      segments[segment + handAt] = entry + 2
      if (this.shapeOf(entry) !== 0) return entry
    }
  }
}
