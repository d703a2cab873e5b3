import type { OrganizationId } from '../../ids.ts'
import type { DigestBytes } from '../../secrets/index.ts'
import type { CacheMemory } from '../../store/index.ts'
import { keyPrincipal, type KeyShape, type KnownKey } from './principal.ts'
import { IdLists } from './id-lists.ts'
import { KeyRecords, maxRecords, maxShapeNumber } from './key-records.ts'
import { Shapes } from './shapes.ts'
import { keyIdOf, readDigest, readKeyId } from './words.ts'

/** How many keys have their principals kept as objects; each object takes about 400 bytes. */
const hotKeys = 16_384
// A key whose shape no other key has takes about 600 bytes, so the number of shapes is bounded.
const maxShapes = 500_000
const triesForShape = 64

interface KeyMemoryLimits {
  readonly capacity: number
  /** How many shapes there may be. */
  readonly maxShapes?: number
  /** How many principals are kept as objects; a power of two. */
  readonly hotKeys?: number
  /** How many keys there may be for each list of ids before a list is added. */
  readonly idsWanted?: number
}

/**
 * Remembers keys in about 40 bytes each: 115 bits of the digest, the key's id and the number of a shape. A shape has
 * everything that many keys have in common.
 *
 * Principals are made from records on demand. Those of keys that are used again soon are kept, because a call's limits are
 * cached under the principal object. A kept object is returned only if its record is found and the record's shape has not
 * been forgotten.
 */
export class KeyMemory implements CacheMemory<KnownKey, DigestBytes> {
  readonly #capacity: number
  readonly #maxShapes: number
  readonly #hotKeys: number
  readonly #digest = new Int32Array(4)
  readonly #id = new Int32Array(4)
  readonly #freedId = new Int32Array(4)
  readonly #records = new KeyRecords()
  readonly #ids: IdLists
  #shapes: Shapes
  // `#hot` keeps each principal at the second word of its digest modulo `#hotKeys`, and `#hotMarks` holds the first word
  // of the digest last found there. A principal is kept only if its key is found twice in turn: among millions of keys, most
  // are not found again soon, and keeping their objects for a while would cost the garbage collector more than making
  // them.
  readonly #hot: (KnownKey | undefined)[]
  readonly #hotMarks: Int32Array

  constructor(limits: KeyMemoryLimits) {
    this.#capacity = Math.min(limits.capacity, maxRecords)
    this.#maxShapes = Math.min(limits.maxShapes ?? maxShapes, maxShapeNumber)
    this.#hotKeys = limits.hotKeys ?? hotKeys
    this.#ids = new IdLists(this.#records, this.#capacity, limits.idsWanted)
    this.#shapes = new Shapes(this.#maxShapes)
    this.#hot = Array.from({ length: this.#hotKeys })
    this.#hotMarks = new Int32Array(this.#hotKeys)
  }

  get size(): number {
    return this.#records.count - this.#shapes.forgottenUses
  }

  get(digest: DigestBytes): KnownKey | undefined {
    if (!readDigest(digest, this.#digest)) return undefined
    // The mark is read before the record, so that the processor fetches both from memory at the same time.
    const mark = this.#digest[0] ?? 0
    const place = this.#hotPlace(this.#digest[1] ?? 0)
    const isSeenAgain = this.#hotMarks[place] === mark
    const record = this.#records.find(this.#digest)
    if (record < 0) return undefined
    const shape = this.#shapes.at(this.#records.shapeOf(record))
    if (shape === undefined) return undefined
    if (isSeenAgain) {
      const hot = this.#hot[place]
      if (hot?.digest === digest) return hot
    }
    this.#records.copyId(record, this.#id)
    const expiresAt = this.#records.expiryOf(record)
    const known = keyPrincipal(shape, { keyId: keyIdOf(this.#id), digest, expiresAt })
    if (isSeenAgain) this.#hot[place] = known
    else this.#hotMarks[place] = mark
    return known
  }

  add(digest: DigestBytes, known: KnownKey): void {
    this.drop(digest)
    // A key whose digest or id does not have the expected format is not remembered, so each of its calls reads the
    // database.
    if (!readDigest(digest, this.#digest) || !readKeyId(known.keyId, this.#id)) return
    if (this.#records.count >= this.#capacity || !this.#ids.hasRoom(this.#id)) {
      this.#forgetOldest(this.#id)
      if (!this.#ids.hasRoom(this.#id)) return
    }
    const shape = this.#numberOf(known.shape)
    if (shape === 0) return
    if (!this.#addRecord(shape, known.expiresAt)) {
      this.#shapes.release(shape)
      return
    }
    this.#hotMarks[this.#hotPlace(this.#digest[1] ?? 0)] = this.#digest[0] ?? 0
  }

  drop(digest: DigestBytes): void {
    const record = this.#find(digest)
    if (record >= 0) this.#free(record)
  }

  forget(subject: string): void {
    if (subject.startsWith('org_')) this.#shapes.forget(subject as OrganizationId)
    else if (readKeyId(subject, this.#id)) this.#forgetKey()
  }

  clear(): void {
    this.#records.clear()
    this.#ids.clear()
    this.#shapes = new Shapes(this.#maxShapes)
    this.#hot.fill(undefined)
    this.#hotMarks.fill(0)
  }

  /** Returns the shape with this text, if a remembered key has it. */
  shapeOf(organizationId: OrganizationId, text: string): KeyShape | undefined {
    return this.#shapes.find(organizationId, text)
  }

  #find(digest: DigestBytes): number {
    return readDigest(digest, this.#digest) ? this.#records.find(this.#digest) : -1
  }

  /**
   * Adds the record of the key whose digest and id were read, and lists it by its id. Returns false, and leaves nothing
   * behind, if there is no place or no memory for it.
   */
  #addRecord(shape: number, expiresAt: number | undefined): boolean {
    const content = { digest: this.#digest, id: this.#id, shape, expiresAt }
    let record = -1
    let isListed = false
    try {
      record = this.#records.add(content)
      if (record < 0) return false
      this.#ids.add(this.#id, this.#records.regionOf(record))
      isListed = true
      this.#ids.grow()
    } catch (error) {
      if (!(error instanceof RangeError)) {
        // If records and lists did not agree, a change would not find every key.
        this.clear()
        throw error
      }
      // A record that is not listed would outlive the revocation of its key.
      if (record >= 0 && !isListed) this.#records.remove(record)
    }
    return isListed
  }

  /** Forgets the records of every secret of the key whose id is in `#id`. */
  #forgetKey(): void {
    for (let at = this.#ids.find(this.#id); at >= 0; at = this.#ids.find(this.#id, at)) {
      const record = this.#records.findById(this.#ids.regionOf(at), this.#id)
      if (record >= 0) this.#free(record)
    }
  }

  /** If there is no room for a new shape, forgets some of the oldest keys; returns 0 if even that makes no room. */
  #numberOf(shape: KeyShape): number {
    for (let tries = 0; tries < triesForShape; tries++) {
      const number = this.#shapes.use(shape)
      if (number !== 0) return number
      this.#forgetOldest()
    }
    return 0
  }

  #forgetOldest(id?: Int32Array): void {
    const record = this.#ids.oldest(id)
    if (record >= 0) this.#free(record)
  }

  #free(record: number): void {
    const hotPlace = this.#hotPlace(this.#records.secondWordOf(record))
    this.#hot[hotPlace] = undefined
    this.#hotMarks[hotPlace] = 0
    this.#records.copyId(record, this.#freedId)
    this.#ids.remove(this.#freedId, this.#records.regionOf(record))
    this.#shapes.release(this.#records.shapeOf(record))
    this.#records.remove(record)
  }

  #hotPlace(word: number): number {
    return word & (this.#hotKeys - 1)
  }
}
