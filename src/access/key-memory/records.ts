import { blockOf, isBlockEnd, RecordSlabs, type RecordContent } from './record-slabs.ts'

const maxSegmentBits = 13
/** A segment is added once there are more records than this for each segment. */
const recordsWanted = 1200
/** Finding a key by its id searches all records of one segment, so their number is bounded. */
const mostRecords = 4095

/** While a segment is split, at most two more blocks are in use than have been given back. */
const blocksToSplit = 2

/** The maximum number of records. There are numbers for more, because the last block of each segment is not full. */
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
 * id needs no index. A segment is a chain of blocks, so adding a record copies no other, except when a segment is split.
 * As the number of records grows, one segment after another is split in two (linear hashing): few large segments would
 * make searches slow, and many small ones would waste memory, because the last block of each is half empty on average.
 */
export class Records {
  readonly #slabs = new RecordSlabs()
  readonly #recordsWanted: number
  readonly #maxSegments: number
  readonly #id = new Int32Array(4)
  #segments = new Int32Array(wordsInSegment)
  #segmentCount = 1
  #count = 0
  /** The segment from which a record was last evicted when any segment would do. */
  #turn = 0

  /** A segment is added once there are more than `wanted` records for each segment. */
  constructor(capacity: number, wanted = recordsWanted) {
    this.#recordsWanted = wanted
    const bits = Math.ceil(Math.log2(Math.max(1, capacity / wanted)))
    this.#maxSegments = 2 ** Math.min(maxSegmentBits, bits)
  }

  get count(): number {
    return this.#count
  }

  /** Adds a record and returns its number; -1 if its segment is full. */
  add(content: RecordContent): number {
    const segment = this.#segmentOf(content.id)
    if ((this.#segments[segment + countAt] ?? 0) === mostRecords) return -1
    const entry = this.#take(segment)
    if (entry < 0) return -1
    this.#slabs.write(entry, content)
    this.#count += 1
    return entry
  }

  /**
   * Splits a segment in two if the records have become too many. Each record of that segment is copied and has another
   * number from then on; `moved` is called with the old and the new number while both can be read. If this throws, some
   * records can no longer be found by their ids.
   */
  grow(moved: (from: number, to: number) => void): void {
    const count = this.#segmentCount
    if (count === this.#maxSegments || this.#count <= count * this.#recordsWanted) return
    if (!this.#slabs.hasBlocks(blocksToSplit)) return
    // The segments are split in order, and from the first one again when their number has doubled.
    const split = (count - 2 ** (31 - Math.clz32(count))) * wordsInSegment
    const first = (this.#segments[split + firstAt] ?? 0) - 1
    this.#segments.fill(0, split, split + wordsInSegment)
    this.#addSegment()
    for (let block = blockOf(first); block > 0;) {
      for (let entry = block; !isBlockEnd(entry); entry++) {
        if (this.shapeOf(entry) === 0) continue
        this.copyId(entry, this.#id)
        const to = this.#take(this.#segmentOf(this.#id))
        this.#slabs.copy(entry, to)
        moved(entry, to)
      }
      const next = this.#slabs.next(block)
      this.#slabs.giveBack(block)
      block = next
    }
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
   * id is given; -1 if there is no record. A record that took the place of a freed one counts as old as that one, and
   * after a split the search starts again from the first record.
   */
  oldest(id?: Int32Array): number {
    const own = id === undefined ? -1 : this.#oldestOf(this.#segmentOf(id))
    if (own >= 0) return own
    const end = this.#segmentCount * wordsInSegment
    for (let steps = 0; steps < end; steps += wordsInSegment) {
      this.#turn = (this.#turn + wordsInSegment) % end
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

  #addSegment(): void {
    const words = this.#segmentCount * wordsInSegment
    if (words === this.#segments.length) {
      const segments = new Int32Array(words * 2)
      segments.set(this.#segments)
      this.#segments = segments
    }
    this.#segmentCount += 1
  }

  /** Returns where in `#segments` the segment of this id starts. */
  #segmentOf(id: Int32Array): number {
    // A segment that has been split since the number of segments last doubled is told from its other half by one more bit.
    const hash = (id[0] ?? 0) >>> (32 - maxSegmentBits)
    const bits = 32 - Math.clz32(this.#segmentCount - 1)
    const segment = hash & (2 ** bits - 1)
    return (
      (segment < this.#segmentCount ? segment : segment & (2 ** (bits - 1) - 1)) * wordsInSegment
    )
  }

  /** Takes a free record of a segment, or one that was never in use; returns -1 if there is neither. */
  #take(segment: number): number {
    const entry = this.#takeFree(segment)
    if (entry >= 0) this.#segments[segment + countAt] = (this.#segments[segment + countAt] ?? 0) + 1
    return entry
  }

  #takeFree(segment: number): number {
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
