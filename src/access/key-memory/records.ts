import { RecordSegment, type RecordContent } from './record-segment.ts'

// A record's number has 24 bits: the lower ones are the number of its segment, the others its place in that segment.
const numberBits = 24
const maxSegmentBits = 13
/** How many records a segment should have; finding a key by its id reads all records of one segment. */
const recordsWanted = 1536

/** The maximum number of records. The segments have room for more, because by chance some fill sooner than others. */
export const maxRecords = 15_000_000

/**
 * The records of all remembered keys. The key's id decides to which segment a record belongs, so finding a key by its
 * id needs no index. Each segment grows separately, so growth copies less than 100 kB.
 */
export class Records {
  readonly #segmentBits: number
  readonly #segments: (RecordSegment | undefined)[]
  #count = 0
  /** The segment from which a record was last evicted when any segment would do. */
  #turn = 0

  constructor(capacity: number) {
    const bits = Math.ceil(Math.log2(Math.max(1, capacity / recordsWanted)))
    this.#segmentBits = Math.min(maxSegmentBits, bits)
    this.#segments = Array.from({ length: 2 ** this.#segmentBits })
  }

  get count(): number {
    return this.#count
  }

  /** Adds a record and returns its number; -1 if its segment is full. */
  add(content: RecordContent): number {
    const number = this.#segmentOf(content.id)
    const segment = (this.#segments[number] ??= new RecordSegment())
    if (segment.count === this.#recordsPerSegment) return -1
    this.#count += 1
    return (segment.add(content) << this.#segmentBits) | number
  }

  free(entry: number): void {
    this.#segment(entry).free(this.#placeOf(entry))
    this.#count -= 1
  }

  /** Returns the number of a record with this id; -1 if there is none. */
  findById(id: Int32Array): number {
    const number = this.#segmentOf(id)
    const place = this.#segments[number]?.find(id) ?? -1
    return place < 0 ? -1 : (place << this.#segmentBits) | number
  }

  /**
   * Returns the oldest record of the segment to which this id belongs, or of another segment if that one is empty or no
   * id is given; -1 if there is no record. A record that took the place of a freed one counts as old as that one.
   */
  oldest(id?: Int32Array): number {
    const own = id === undefined ? -1 : this.#oldestOf(this.#segmentOf(id))
    if (own >= 0) return own
    for (let steps = 0; steps < this.#segments.length; steps++) {
      this.#turn = (this.#turn + 1) % this.#segments.length
      const entry = this.#oldestOf(this.#turn)
      if (entry >= 0) return entry
    }
    return -1
  }

  /** Returns the number of the record's shape; 0 if the record is free. */
  shapeOf(entry: number): number {
    return this.#segment(entry).shapeOf(this.#placeOf(entry))
  }

  expiryOf(entry: number): number | undefined {
    return this.#segment(entry).expiryOf(this.#placeOf(entry))
  }

  /** Returns the first 32 bits of the record's digest. */
  hashOf(entry: number): number {
    return this.#segment(entry).hashOf(this.#placeOf(entry))
  }

  copyId(entry: number, words: Int32Array): void {
    this.#segment(entry).copyId(this.#placeOf(entry), words)
  }

  /** Whether the first 120 bits of a digest equal those in the record. */
  matches(entry: number, digest: Int32Array): boolean {
    return this.#segment(entry).matches(this.#placeOf(entry), digest)
  }

  get #recordsPerSegment(): number {
    // The index counts numbers from 1, so the last place stays unused.
    return 2 ** (numberBits - this.#segmentBits) - 1
  }

  #segmentOf(id: Int32Array): number {
    // A shift by 32 bits would shift by none.
    return this.#segmentBits === 0 ? 0 : (id[0] ?? 0) >>> (32 - this.#segmentBits)
  }

  #segment(entry: number): RecordSegment {
    const segment = this.#segments[entry & (this.#segments.length - 1)]
    if (segment === undefined) throw new RangeError('no such record')
    return segment
  }

  #placeOf(entry: number): number {
    return entry >> this.#segmentBits
  }

  #oldestOf(number: number): number {
    const place = this.#segments[number]?.oldest() ?? -1
    return place < 0 ? -1 : (place << this.#segmentBits) | number
  }
}
