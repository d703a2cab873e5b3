// A record's number says in which segment it is (the upper bits), and at which of the segment's places.
const segmentBits = 7
const segments = 2 ** segmentBits
const placeBits = 18
const belowSegment = 2 ** placeBits - 1
// Several segments instead of one large table: each grows separately, so growth moves few records at once. With more of
// them, their typed-array objects would not all stay in the processor's cache, and with ten million keys a segment would be
// smaller than a huge page of 2 MiB (`bin/serve-flags.js`); this many fill one each from about eight million keys on.
// Digests are random, so even with `maxRecords` records no segment comes near this many places.
const mostPlaces = 2 ** placeBits
// Fuller segments need longer searches, and emptier ones more memory.
const maxLoad = 0.94
const growth = 1 + 1 / 32
const leastHomes = 8
/** How many spare places an array gets after its last record or home. */
const spareEnd = 8

const wordsInRecord = 8
const wordBytes = 4
// glibc starts an allocation of this size 16 bytes into a page. With this padding, no record crosses a line of the
// processor's cache.
const padding = 16

// A record holds three words of the digest, then a word with 12 more bits of the digest above the shape's number, then
// the four words of the key's id.
const restAt = 3
const idAt = 4
const shapeBits = 20
const shapeMask = 2 ** shapeBits - 1

const regionBits = 17
const regionShift = 32 - regionBits
const belowRegion = 2 ** regionBits - 1
const signBit = 0x8000_0000

/** At most this many keys are remembered; segments have room for twice as many, so random digests fill none. */
export const maxRecords = 14_000_000

/** The greatest number of a shape. Numbers start at 1, because 0 marks an empty place. */
export const maxShapeNumber = shapeMask

/** The content of a record; digest and id have four words each. */
export interface RecordContent {
  readonly digest: Int32Array
  readonly id: Int32Array
  readonly shape: number
  /** Milliseconds since 1970. */
  readonly expiresAt: number | undefined
}

/**
 * The records of remembered keys, found by their digests: open-addressing tables with linear probing, in which records
 * are ordered by their digests. So finding a key usually reads a few adjacent lines of the processor's cache. A record
 * takes 32 bytes, which contain 108 bits of the secret's digest; seven more bits select the segment. A record's number
 * may change whenever records are added or removed.
 */
export class KeyRecords {
  readonly #segments: (Int32Array | undefined)[] = Array.from({ length: segments })
  readonly #counts = new Int32Array(segments)
  /** How many of a segment's places are homes. The places after them hold records that were pushed past the last home. */
  readonly #homes = new Int32Array(segments)
  // Most keys never expire, so a segment has expiries (8 bytes per place) only once a key that expires is added.
  readonly #expiries: (Float64Array | undefined)[] = Array.from({ length: segments })
  #count = 0

  get count(): number {
    return this.#count
  }

  /** Returns the number of the record with this digest (four words), compared by 115 bits; -1 if there is none. */
  find(digest: Int32Array): number {
    const segment = segmentOf(digest)
    const words = this.#segments[segment]
    if (words === undefined) return -1
    const hash = digest[0] ?? 0
    const order = orderOf(hash)
    for (let place = homeOf(hash, this.#homes[segment] ?? 0); ; place++) {
      const at = place * wordsInRecord
      const found = words[at] ?? 0
      if (found === hash) {
        if (isEmpty(words, at)) return -1
        if (matches(words, at, digest)) return (segment << placeBits) | place
      } else if (orderOf(found) > order) return -1
    }
  }

  /**
   * Adds a record whose digest no other has; returns its number, or -1 if its segment is full. Throws a `RangeError` if
   * there is no memory left; then the record was not added.
   */
  add(content: RecordContent): number {
    const { digest, expiresAt } = content
    const segment = segmentOf(digest)
    const words = this.#withRoom(segment, digest)
    if (words === undefined) return -1
    const expiries = this.#expiriesOf(segment, expiresAt)
    const hash = digest[0] ?? 0
    const place = this.#placeFor(segment, hash)
    const end = emptyFrom(words, place)
    words.copyWithin((place + 1) * wordsInRecord, place * wordsInRecord, end * wordsInRecord)
    write(words, place * wordsInRecord, content)
    if (expiries !== undefined) {
      expiries.copyWithin(place + 1, place, end)
      expiries[place] = expiresAt ?? Infinity
    }
    this.#counts[segment] = (this.#counts[segment] ?? 0) + 1
    this.#count += 1
    return (segment << placeBits) | place
  }

  remove(entry: number): void {
    const segment = entry >>> placeBits
    const place = entry & belowSegment
    const words = this.#segments[segment]
    if (words === undefined) return
    // Searches stop at empty places, so each record that follows moves one place towards its home, until one is at home
    // already.
    const homes = this.#homes[segment] ?? 0
    let end = place + 1
    while (isDisplaced(words, end, homes)) end++
    words.copyWithin(place * wordsInRecord, (place + 1) * wordsInRecord, end * wordsInRecord)
    words.fill(0, (end - 1) * wordsInRecord, end * wordsInRecord)
    this.#expiries[segment]?.copyWithin(place, place + 1, end)
    this.#counts[segment] = (this.#counts[segment] ?? 0) - 1
    this.#count -= 1
  }

  /** Returns the number of the first record in this region; -1 if there is none. */
  firstIn(region: number): number {
    const homes = this.#homes[region >>> regionBits] ?? 0
    return this.#nextFrom(region, homeOf(lowestIn(region), homes))
  }

  /** Returns the number of the record that follows this one in the same region; -1 if there is none. */
  nextIn(region: number, entry: number): number {
    return this.#nextFrom(region, (entry & belowSegment) + 1)
  }

  /** Returns the number of a record with this id in this region; -1 if there is none. */
  findById(region: number, id: Int32Array): number {
    let entry = this.firstIn(region)
    while (entry >= 0 && !this.#hasId(entry, id)) entry = this.nextIn(region, entry)
    return entry
  }

  /** Removes all records, without a need for memory. */
  clear(): void {
    this.#segments.fill(undefined)
    this.#expiries.fill(undefined)
    this.#counts.fill(0)
    this.#homes.fill(0)
    this.#count = 0
  }

  /** Returns the number of the record's shape. */
  shapeOf(entry: number): number {
    return (this.#wordsOf(entry)[startOf(entry) + restAt] ?? 0) & shapeMask
  }

  expiryOf(entry: number): number | undefined {
    const expiresAt = this.#expiries[entry >>> placeBits]?.[entry & belowSegment] ?? Infinity
    return expiresAt === Infinity ? undefined : expiresAt
  }

  copyId(entry: number, id: Int32Array): void {
    const words = this.#wordsOf(entry)
    const at = startOf(entry) + idAt
    id[0] = words[at] ?? 0
    id[1] = words[at + 1] ?? 0
    id[2] = words[at + 2] ?? 0
    id[3] = words[at + 3] ?? 0
  }

  /** Returns the second word of the record's digest. */
  secondWordOf(entry: number): number {
    return this.#wordsOf(entry)[startOf(entry) + 1] ?? 0
  }

  /** Returns the region of a record, which never changes. */
  regionOf(entry: number): number {
    return regionOf(entry >>> placeBits, this.#wordsOf(entry)[startOf(entry)] ?? 0)
  }

  #hasId(entry: number, id: Int32Array): boolean {
    const words = this.#wordsOf(entry)
    const at = startOf(entry) + idAt
    return (
      words[at] === id[0] &&
      words[at + 1] === id[1] &&
      words[at + 2] === id[2] &&
      words[at + 3] === id[3]
    )
  }

  /** Returns the number of the first record of a region, from this place on; -1 if there is none. */
  #nextFrom(region: number, from: number): number {
    const segment = region >>> regionBits
    const words = this.#segments[segment]
    if (words === undefined) return -1
    const lastHome = homeOf(highestIn(region), this.#homes[segment] ?? 0)
    for (let place = from; ; place++) {
      const at = place * wordsInRecord
      if (isEmpty(words, at)) {
        // A region may span several homes, with empty places between its records.
        if (place >= lastHome) return -1
        continue
      }
      const found = regionOf(segment, words[at] ?? 0)
      if (found === region) return (segment << placeBits) | place
      if (found > region) return -1
    }
  }

  #wordsOf(entry: number): Int32Array {
    const words = this.#segments[entry >>> placeBits]
    if (words === undefined) throw new RangeError('no such record')
    return words
  }

  /** Returns where a record with this hash belongs: before the first that is greater. */
  #placeFor(segment: number, hash: number): number {
    const words = this.#segments[segment]
    let place = homeOf(hash, this.#homes[segment] ?? 0)
    if (words === undefined) return place
    const order = orderOf(hash)
    while (
      !isEmpty(words, place * wordsInRecord) &&
      orderOf(words[place * wordsInRecord] ?? 0) <= order
    ) {
      place++
    }
    return place
  }

  /**
   * Returns a segment with room for one more record with this digest; undefined if the segment must not grow further.
   * The last place of a segment is always empty, because searches stop there.
   */
  #withRoom(segment: number, digest: Int32Array): Int32Array | undefined {
    const words = this.#segments[segment]
    const homes = this.#homes[segment] ?? 0
    if (words === undefined) return this.#resize(segment, leastHomes)
    if ((this.#counts[segment] ?? 0) >= homes * maxLoad) {
      return this.#resize(segment, Math.ceil(homes * growth) + 1)
    }
    const end = emptyFrom(words, this.#placeFor(segment, digest[0] ?? 0))
    return end + 1 < placesIn(words) ? words : this.#resize(segment, homes)
  }

  /** Moves the records of a segment to a larger array; returns undefined if that would be too large. */
  #resize(segment: number, homes: number): Int32Array | undefined {
    if (homes + spareEnd > mostPlaces) return undefined
    const old = this.#segments[segment] ?? new Int32Array(0)
    const oldExpiries = this.#expiries[segment]
    const end = Math.max(homes, endOf(old, homes))
    const places = end + spareEnd
    if (places > mostPlaces) return undefined
    const bytes = places * wordsInRecord * wordBytes
    const words = new Int32Array(new ArrayBuffer(bytes + padding), padding)
    const expiries = oldExpiries && new Float64Array(places).fill(Infinity)
    let free = 0
    for (let from = 0; from < placesIn(old); from++) {
      const start = from * wordsInRecord
      if (isEmpty(old, start)) continue
      const place = Math.max(free, homeOf(old[start] ?? 0, homes))
      const target = place * wordsInRecord
      for (let word = 0; word < wordsInRecord; word++) words[target + word] = old[start + word] ?? 0
      if (expiries !== undefined) expiries[place] = oldExpiries?.[from] ?? Infinity
      free = place + 1
    }
    this.#segments[segment] = words
    this.#expiries[segment] = expiries
    this.#homes[segment] = homes
    return words
  }

  /** Returns a segment's expiries, which are added if this one is the first; undefined if no key of it expires. */
  #expiriesOf(segment: number, expiresAt: number | undefined): Float64Array | undefined {
    const expiries = this.#expiries[segment]
    if (expiries !== undefined || expiresAt === undefined) return expiries
    const places = placesIn(this.#segments[segment] ?? new Int32Array(0))
    const added = new Float64Array(places).fill(Infinity)
    this.#expiries[segment] = added
    return added
  }
}

/** Returns the segment of a digest, from seven bits that its record does not store. */
function segmentOf(digest: Int32Array): number {
  return (digest[3] ?? 0) >>> (32 - segmentBits)
}

/**
 * Records are ordered by this number: the hash, which is the first word of the digest, minus one as an unsigned number,
 * with its sign bit flipped so that signed comparison works. So 0, the first word of an empty place, comes last, and
 * searches stop there.
 */
function orderOf(hash: number): number {
  return (hash - 1) ^ signBit
}

/** Hashes map to homes in proportion, so there may be any number of homes, and records keep their order as they grow. */
function homeOf(hash: number, homes: number): number {
  return Math.floor((((hash - 1) >>> 0) * homes) / 2 ** 32)
}

/**
 * A region consists of the records of a segment whose hashes minus one begin with the same 17 bits: with millions of
 * keys, usually one record or a few.
 */
function regionOf(segment: number, hash: number): number {
  return (segment << regionBits) | ((hash - 1) >>> regionShift)
}

/** Returns the first hash of a region in the order of the records. */
function lowestIn(region: number): number {
  return (((region & belowRegion) << regionShift) + 1) | 0
}

/** Returns the last hash of a region in that order. */
function highestIn(region: number): number {
  return (lowestIn(region) + 2 ** regionShift - 1) | 0
}

function isEmpty(words: Int32Array, at: number): boolean {
  return ((words[at + restAt] ?? 0) & shapeMask) === 0
}

/** Whether this place holds a record whose home is an earlier place. */
function isDisplaced(words: Int32Array, place: number, homes: number): boolean {
  const at = place * wordsInRecord
  return !isEmpty(words, at) && homeOf(words[at] ?? 0, homes) < place
}

function emptyFrom(words: Int32Array, from: number): number {
  let place = from
  while (!isEmpty(words, place * wordsInRecord)) place++
  return place
}

/** Returns the place that would follow the last record if the segment had this many homes. */
function endOf(words: Int32Array, homes: number): number {
  let end = 0
  for (let at = 0; at < words.length; at += wordsInRecord) {
    if (!isEmpty(words, at)) end = Math.max(end, homeOf(words[at] ?? 0, homes)) + 1
  }
  return end
}

function placesIn(words: Int32Array): number {
  return words.length / wordsInRecord
}

function startOf(entry: number): number {
  return (entry & belowSegment) * wordsInRecord
}

function matches(words: Int32Array, at: number, digest: Int32Array): boolean {
  return (
    words[at + 1] === digest[1] &&
    words[at + 2] === digest[2] &&
    (words[at + restAt] ?? 0) >>> shapeBits === digestRestOf(digest)
  )
}

/** Returns the 12 bits that follow those of the segment. */
function digestRestOf(digest: Int32Array): number {
  return ((digest[3] ?? 0) << segmentBits) >>> shapeBits
}

function write(words: Int32Array, at: number, { digest, id, shape }: RecordContent): void {
  words[at] = digest[0] ?? 0
  words[at + 1] = digest[1] ?? 0
  words[at + 2] = digest[2] ?? 0
  words[at + restAt] = (digestRestOf(digest) << shapeBits) | shape
  words.set(id, at + idAt)
}
