import type { KeyRecords } from './key-records.ts'

const maxListBits = 15
/** A list is added once lists have more than this many entries on average. */
const entriesWanted = 400
/** Finding a key by its id reads a whole list, so its length is bounded. */
const mostEntries = 1023

// An entry's number says where it is: in which slab (the upper bits), in which of the slab's blocks, and at which of the
// block's places. The last place of a block has the number of the first entry of the block that follows it, or 0.
const placeBits = 5
const places = 2 ** placeBits
const slabBits = 14
const belowSlab = 2 ** slabBits - 1
const maxBlocks = 2 ** (24 - placeBits)

// The upper eight bits of an entry come from the id, so that most records of other keys need not be read; the lower 24
// bits are the record's region. In an entry that is not in use, the upper bits are 0, and the lower ones are the number
// plus one of another such entry of the list, or 0.
const tagShift = 24
const regionMask = 0xff_ff_ff

// What is known of a list takes eight words, of which these are used. Each but the first is an entry's number plus one,
// or 0 if there is none: the first entry, the next one that was never in use, the first one that is free again, and the
// next one to evict.
const wordsInList = 8
const countAt = 0
const firstAt = 1
const unusedAt = 2
const freeAt = 3
const handAt = 4

/**
 * Finds records by the ids of their keys. The id selects the list. An entry names the region of a record instead of its
 * place, so records may move. A list is a chain of blocks. As the number of keys grows, one list after another is split in
 * two (linear hashing): few long lists would make searches slow, and many short ones would waste memory, because the last
 * block of each is half empty on average.
 */
export class IdLists {
  readonly #records: KeyRecords
  readonly #entriesWanted: number
  readonly #maxLists: number
  readonly #slabs: Int32Array[] = []
  // Block 0 is never used, so 0 means that there is no block.
  #blocks = 1
  #spareBlock = 0
  readonly #id = new Int32Array(4)
  // The entries that a split moves, and the first words of their ids.
  readonly #moved = new Int32Array(mostEntries)
  readonly #movedIds = new Int32Array(mostEntries)
  #lists = new Int32Array(wordsInList)
  #listCount = 1
  #count = 0
  /** The list from which an entry was last evicted when any list would do. */
  #turn = 0

  /** A list is added once lists have more than `wanted` entries on average. */
  constructor(records: KeyRecords, capacity: number, wanted = entriesWanted) {
    this.#records = records
    this.#entriesWanted = wanted
    const bits = Math.ceil(Math.log2(Math.max(1, capacity / wanted)))
    this.#maxLists = 2 ** Math.min(maxListBits, bits)
  }

  /** Whether there is room for one more record with this id. */
  hasRoom(id: Int32Array): boolean {
    const list = this.#listOf(id)
    if ((this.#lists[list + countAt] ?? 0) >= mostEntries) return false
    if ((this.#lists[list + freeAt] ?? 0) > 0) return true
    const unused = (this.#lists[list + unusedAt] ?? 0) - 1
    if (unused >= 0 && !isBlockEnd(unused)) return true
    return this.#spareBlock > 0 || this.#blocks < maxBlocks
  }

  /**
   * Adds a record, for which there must be room. Throws a `RangeError` if there is no memory left; then nothing changed.
   */
  add(id: Int32Array, region: number): void {
    this.#append(this.#listOf(id), entryOf(id, region))
    this.#count += 1
  }

  remove(id: Int32Array, region: number): void {
    const list = this.#listOf(id)
    // If several records have the same entry, it does not matter which of the entries is removed.
    const number = this.#search((this.#lists[list + firstAt] ?? 0) - 1, entryOf(id, region), 0)
    if (number < 0) return
    this.#put(number, this.#lists[list + freeAt] ?? 0)
    this.#lists[list + freeAt] = number + 1
    this.#lists[list + countAt] = (this.#lists[list + countAt] ?? 0) - 1
    this.#count -= 1
  }

  /**
   * Returns the number of the first entry, after the entry `after` if given, that may belong to a record with this id; -1
   * if there is none. Only the records of the entry's region can tell.
   */
  find(id: Int32Array, after?: number): number {
    const first = (this.#lists[this.#listOf(id) + firstAt] ?? 0) - 1
    return this.#search(after === undefined ? first : this.#next(after), tagOf(id), tagShift)
  }

  /** Removes all entries, without a need for memory. */
  clear(): void {
    this.#slabs.length = 0
    this.#blocks = 1
    this.#spareBlock = 0
    this.#lists.fill(0)
    this.#listCount = 1
    this.#count = 0
    this.#turn = 0
  }

  regionOf(number: number): number {
    return this.#at(number) & regionMask
  }

  /**
   * Splits a list in two if the entries have become too many. Throws a `RangeError` if there is no memory left; then
   * nothing changed.
   */
  grow(): void {
    const count = this.#listCount
    if (count === this.#maxLists || this.#count <= count * this.#entriesWanted) return
    // A split needs at most one block more than it gives back. Whatever needs memory comes before the first change.
    if (this.#spareBlock === 0) {
      if (this.#blocks === maxBlocks) return
      this.#giveBack(this.#takeBlock())
    }
    this.#makeRoomForList()
    // The lists are split in order, and from the first one again when their number has doubled.
    const split = (count - 2 ** (31 - Math.clz32(count))) * wordsInList
    const moved = this.#collect(split)
    let block = (this.#lists[split + firstAt] ?? 0) - 1
    this.#lists.fill(0, split, split + wordsInList)
    this.#listCount += 1
    while (block > 0) {
      const next = this.#at(linkOf(block))
      this.#giveBack(block)
      block = next
    }
    for (let at = 0; at < moved; at++) {
      this.#append(this.#listFor(this.#movedIds[at] ?? 0), this.#moved[at] ?? 0)
    }
  }

  /**
   * Returns the number of the record with the oldest entry in the list of this id; if that list is empty or no id is
   * given, in another list; -1 if there is no record. A reused entry keeps the age of the one it replaced, and a split
   * restarts the search at the first entry.
   */
  oldest(id?: Int32Array): number {
    const own = id === undefined ? -1 : this.#oldestOf(this.#listOf(id))
    if (own >= 0) return own
    const end = this.#listCount * wordsInList
    for (let steps = 0; steps < end; steps += wordsInList) {
      this.#turn = (this.#turn + wordsInList) % end
      const record = this.#oldestOf(this.#turn)
      if (record >= 0) return record
    }
    return -1
  }

  #oldestOf(list: number): number {
    const lists = this.#lists
    if (lists[list + countAt] === 0) return -1
    for (;;) {
      let number = (lists[list + handAt] ?? 0) - 1
      // The hand may rest on a block's last place, because no block followed when it got there.
      if (number === (lists[list + unusedAt] ?? 0) - 1) number = (lists[list + firstAt] ?? 0) - 1
      else if (isBlockEnd(number)) number = this.#at(number)
      lists[list + handAt] = number + 2
      const entry = this.#at(number)
      if (isUsed(entry)) return this.#recordOf(entry, list, 0)
    }
  }

  /** Copies the entries of a list to `#moved`, with the first words of their ids; returns how many there are. */
  #collect(list: number): number {
    const seen = new Map<number, number>()
    let count = 0
    let number = (this.#lists[list + firstAt] ?? 0) - 1
    for (; number >= 0; number = this.#next(number)) {
      const entry = this.#at(number)
      if (!isUsed(entry)) continue
      // Several records may have the same entry. Each such entry takes another one of them.
      const before = seen.get(entry) ?? 0
      seen.set(entry, before + 1)
      if (this.#recordOf(entry, list, before) < 0) throw new Error('an entry has no record')
      this.#moved[count] = entry
      this.#movedIds[count] = this.#id[0] ?? 0
      count++
    }
    return count
  }

  /**
   * Returns the number of the record to which an entry of this list belongs, and copies its id to `#id`. `before` is how
   * many other records with the same entry to pass over. Returns -1 if there is no such record.
   */
  #recordOf(entry: number, list: number, before: number): number {
    const region = entry & regionMask
    let left = before
    let record = this.#records.firstIn(region)
    for (; record >= 0; record = this.#records.nextIn(region, record)) {
      this.#records.copyId(record, this.#id)
      if (tagOf(this.#id) !== entry >>> tagShift || this.#listOf(this.#id) !== list) continue
      if (left === 0) return record
      left -= 1
    }
    return -1
  }

  /**
   * Searches a list from the entry `from` on for one that equals `bits` once its `shift` lower bits are dropped. Returns
   * its number; -1 if there is none.
   */
  #search(from: number, bits: number, shift: number): number {
    const wanted = bits >>> 0
    let number = from
    while (number >= 0) {
      const slab = this.#slabs[number >>> slabBits]
      if (slab === undefined) return -1
      const end = linkOf(number & belowSlab)
      for (let at = number & belowSlab; at < end; at++) {
        if ((slab[at] ?? 0) >>> shift === wanted) return (number & ~belowSlab) | at
      }
      number = (slab[end] ?? 0) || -1
    }
    return -1
  }

  #makeRoomForList(): void {
    const words = this.#listCount * wordsInList
    if (words === this.#lists.length) {
      const lists = new Int32Array(words * 2)
      lists.set(this.#lists)
      this.#lists = lists
    }
  }

  #listOf(id: Int32Array): number {
    return this.#listFor(id[0] ?? 0)
  }

  /** Returns where in `#lists` the list of the ids with this first word starts. */
  #listFor(word: number): number {
    // A list that has been split since the number of lists last doubled is told from its other half by one more bit.
    const hash = word >>> (32 - maxListBits)
    const bits = 32 - Math.clz32(this.#listCount - 1)
    const list = hash & (2 ** bits - 1)
    return (list < this.#listCount ? list : list & (2 ** (bits - 1) - 1)) * wordsInList
  }

  #append(list: number, entry: number): void {
    this.#put(this.#take(list), entry)
    this.#lists[list + countAt] = (this.#lists[list + countAt] ?? 0) + 1
  }

  /** Takes an entry of a list that is free again, or one that was never in use. */
  #take(list: number): number {
    const lists = this.#lists
    const free = (lists[list + freeAt] ?? 0) - 1
    if (free >= 0) {
      lists[list + freeAt] = this.#at(free)
      return free
    }
    let unused = (lists[list + unusedAt] ?? 0) - 1
    if (unused < 0 || isBlockEnd(unused)) {
      const block = this.#takeBlock()
      if (unused < 0) {
        lists[list + firstAt] = block + 1
        lists[list + handAt] = block + 1
      } else this.#put(unused, block)
      unused = block
    }
    lists[list + unusedAt] = unused + 2
    return unused
  }

  /** Returns the number of the first entry of an empty block that none follows. */
  #takeBlock(): number {
    if (this.#spareBlock > 0) {
      const spare = this.#spareBlock
      this.#spareBlock = this.#at(linkOf(spare))
      this.#put(linkOf(spare), 0)
      return spare
    }
    const block = this.#blocks << placeBits
    if (block >>> slabBits === this.#slabs.length) this.#slabs.push(new Int32Array(2 ** slabBits))
    this.#blocks += 1
    return block
  }

  /** Empties a block, which can then be taken again. */
  #giveBack(block: number): void {
    this.#slabs[block >>> slabBits]?.fill(0, block & belowSlab, (block & belowSlab) + places)
    this.#put(linkOf(block), this.#spareBlock)
    this.#spareBlock = block
  }

  /** Returns the number of the entry that follows in its list, whether in use or not; -1 if there is none. */
  #next(number: number): number {
    if (!isBlockEnd(number + 1)) return number + 1
    const next = this.#at(number + 1)
    return next === 0 ? -1 : next
  }

  #at(number: number): number {
    return this.#slabs[number >>> slabBits]?.[number & belowSlab] ?? 0
  }

  #put(number: number, entry: number): void {
    const slab = this.#slabs[number >>> slabBits]
    if (slab !== undefined) slab[number & belowSlab] = entry
  }
}

function entryOf(id: Int32Array, region: number): number {
  return (tagOf(id) << tagShift) | region
}

/** Returns eight bits of an id, which are never 0. */
function tagOf(id: Int32Array): number {
  // The lowest two bits are those of a time, and the same for a century.
  return Math.max(1, ((id[1] ?? 0) >>> 2) & 0xff)
}

function isUsed(entry: number): boolean {
  return entry >>> tagShift > 0
}

/** Whether this is the last place of a block, which has no entry. */
function isBlockEnd(number: number): boolean {
  return linkOf(number) === number
}

/** Returns the last place of a block. */
function linkOf(number: number): number {
  return number | (places - 1)
}
