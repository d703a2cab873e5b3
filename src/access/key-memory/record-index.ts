import type { Records } from './records.ts'

// Uses many small tables instead of one: each grows separately, so growth moves about 16,000 entries at most.
const segmentBits = 10
const belowSegment = 32 - segmentBits
const positions = 2 ** belowSegment
const leastSlots = 8
// Fuller tables need longer searches, and emptier ones more memory.
const maxLoad = 0.9
const growth = 1 + 1 / 16

// The lower 24 bits of a slot hold a record's number plus one, or 0 if the slot is empty. The upper eight bits are those
// bits of the digest's fourth word that the record itself does not have; they also spare reading most other records.
const entryMask = 0xff_ff_ff
const tagShift = 24

/** Finds records by 128 bits of their digests: an open-addressing table with linear probing. */
export class RecordIndex {
  readonly #records: Records
  readonly #segments: (Int32Array | undefined)[] = Array.from({ length: 2 ** segmentBits })
  readonly #counts = new Int32Array(2 ** segmentBits)
  /** What was read only to have it fetched; without this, the compiler would leave those reads out. */
  fetched = 0

  constructor(records: Records) {
    this.#records = records
  }

  /** Returns the number of the record with this digest (four words); -1 if there is none. */
  find(digest: Int32Array): number {
    const hash = digest[0] ?? 0
    const slots = this.#segments[hash >>> belowSegment]
    if (slots === undefined) return -1
    const tag = tagOf(digest)
    for (let at = homeOf(hash, slots); ; at = after(at, slots)) {
      const slot = slots[at] ?? 0
      if (slot === 0) return -1
      if (slot >>> tagShift !== tag) continue
      const entry = (slot & entryMask) - 1
      if (this.#records.matches(entry, digest)) return entry
    }
  }

  add(entry: number, digest: Int32Array): void {
    const segment = (digest[0] ?? 0) >>> belowSegment
    const slots = this.#withRoom(segment)
    this.#counts[segment] = (this.#counts[segment] ?? 0) + 1
    this.#put(slots, (tagOf(digest) << tagShift) | (entry + 1))
  }

  /** Replaces the number of a record that was copied; neither copy may have changed. */
  replace(from: number, to: number): void {
    const hash = this.#records.hashOf(from)
    const slots = this.#segments[hash >>> belowSegment]
    if (slots === undefined) return
    const at = slotOf(from, hash, slots)
    if (at >= 0) slots[at] = ((slots[at] ?? 0) & ~entryMask) | (to + 1)
  }

  /** The record must not have changed since it was added. */
  remove(entry: number): void {
    const hash = this.#records.hashOf(entry)
    const segment = hash >>> belowSegment
    const slots = this.#segments[segment]
    if (slots === undefined) return
    let hole = slotOf(entry, hash, slots)
    if (hole < 0) return
    this.#counts[segment] = (this.#counts[segment] ?? 0) - 1
    this.#fetchUntilEmpty(after(hole, slots), slots)
    // Searches stop at empty slots, so later entries move into the hole, unless that would put them before their home
    // slot.
    for (let at = after(hole, slots); slots[at] !== 0; at = after(at, slots)) {
      const home = homeOf(this.#records.hashOf(entryIn(slots, at)), slots)
      if (distance(home, at, slots) < distance(hole, at, slots)) continue
      slots[hole] = slots[at] ?? 0
      hole = at
    }
    slots[hole] = 0
  }

  /**
   * Reads the records of all slots up to the next empty one. The processor fetches many of them from memory at the same
   * time, as no read depends on another.
   */
  #fetchUntilEmpty(from: number, slots: Int32Array): void {
    let seen = 0
    for (let at = from; slots[at] !== 0; at = after(at, slots)) {
      seen ^= this.#records.hashOf(entryIn(slots, at))
    }
    this.fetched = seen
  }

  #put(slots: Int32Array, slot: number): void {
    let at = homeOf(this.#records.hashOf((slot & entryMask) - 1), slots)
    while (slots[at] !== 0) at = after(at, slots)
    slots[at] = slot
  }

  /** Returns a segment's slots, grown if needed, so that at least one slot is still empty after one more entry. */
  #withRoom(segment: number): Int32Array {
    const slots = this.#segments[segment]
    const needed = (this.#counts[segment] ?? 0) + 1
    if (slots !== undefined && needed <= slots.length * maxLoad) return slots
    const grown = new Int32Array(
      slots === undefined ? leastSlots : Math.ceil(slots.length * growth) + 1,
    )
    for (const slot of slots ?? []) if (slot !== 0) this.#put(grown, slot)
    this.#segments[segment] = grown
    return grown
  }
}

function tagOf(digest: Int32Array): number {
  return (digest[3] ?? 0) & 0xff
}

/** Hashes map to slots in proportion, so a table may have any length. */
function homeOf(hash: number, slots: Int32Array): number {
  return Math.floor(((hash & (positions - 1)) * slots.length) / positions)
}

/** Returns the slot of a record whose digest has this hash; -1 if there is none. */
function slotOf(entry: number, hash: number, slots: Int32Array): number {
  let at = homeOf(hash, slots)
  while (entryIn(slots, at) !== entry) {
    if (slots[at] === 0) return -1
    at = after(at, slots)
  }
  return at
}

function after(at: number, slots: Int32Array): number {
  return at + 1 === slots.length ? 0 : at + 1
}

function entryIn(slots: Int32Array, at: number): number {
  return ((slots[at] ?? 0) & entryMask) - 1
}

function distance(from: number, to: number, slots: Int32Array): number {
  return to >= from ? to - from : to - from + slots.length
}
