import type { OrganizationId } from '../../ids.ts'
import type { CacheMemory } from '../../store/index.ts'
import { keyPrincipal, type KeyShape, type KnownKey } from './principal.ts'
import { RecordIndex } from './record-index.ts'
import { maxRecords, Records } from './records.ts'
import { Shapes } from './shapes.ts'
import { keyIdOf, readDigest, readKeyId } from './words.ts'

/** How many keys have their principals kept as objects; each object takes about 400 bytes. */
const hotKeys = 16_384
// A key whose shape no other key has takes about 600 bytes, so the number of shapes is bounded.
const maxShapes = 500_000
const triesForShape = 64

interface KeyMemoryLimits {
  readonly capacity: number
  /** How many shapes there may be, and how many principals are kept as objects. */
  readonly maxShapes?: number
  readonly hotKeys?: number
  /** How many records there may be for each segment before a segment is added. */
  readonly recordsWanted?: number
}

/**
 * Remembers keys in about 40 bytes each: half of the digest, the key's id and the number of a shape. A shape has
 * everything that many keys have in common.
 *
 * Principals are made from records on demand. Those of keys that are used again soon are kept, because a call's limits are
 * cached under the principal object. A kept object is returned only if its record is found and the record's shape has not
 * been forgotten.
 */
export class KeyMemory implements CacheMemory<KnownKey> {
  readonly #capacity: number
  readonly #maxShapes: number
  readonly #hotKeys: number
  readonly #recordsWanted: number | undefined
  readonly #digest = new Int32Array(4)
  readonly #id = new Int32Array(4)
  #records: Records
  #byDigest: RecordIndex
  #shapes: Shapes
  // Kept principals, each at its record's number modulo `hotKeys`. `#hotEntries` has the full number of the record that
  // was last found there. A principal is kept only if its record is found twice in turn: among millions of keys, most are
  // not found again soon, and keeping their objects for a while would cost the garbage collector more than making them.
  readonly #hot: (KnownKey | undefined)[]
  readonly #hotEntries: Int32Array

  constructor(limits: KeyMemoryLimits) {
    this.#capacity = Math.min(limits.capacity, maxRecords)
    this.#maxShapes = limits.maxShapes ?? maxShapes
    this.#hotKeys = limits.hotKeys ?? hotKeys
    this.#recordsWanted = limits.recordsWanted
    this.#records = new Records(this.#capacity, this.#recordsWanted)
    this.#byDigest = new RecordIndex(this.#records)
    this.#shapes = new Shapes(this.#maxShapes)
    this.#hot = Array.from({ length: this.#hotKeys })
    this.#hotEntries = new Int32Array(this.#hotKeys).fill(-1)
  }

  get size(): number {
    return this.#records.count - this.#shapes.forgottenUses
  }

  get(digest: string): KnownKey | undefined {
    const entry = this.#find(digest)
    if (entry < 0) return undefined
    const shape = this.#shapes.at(this.#records.shapeOf(entry))
    if (shape === undefined) return undefined
    const place = entry % this.#hotKeys
    const isSeenAgain = this.#hotEntries[place] === entry
    if (isSeenAgain) {
      const hot = this.#hot[place]
      if (hot?.digest === digest) return hot
    }
    this.#records.copyId(entry, this.#id)
    const expiresAt = this.#records.expiryOf(entry)
    const known = keyPrincipal(shape, { keyId: keyIdOf(this.#id), digest, expiresAt })
    if (isSeenAgain) this.#hot[place] = known
    else this.#hotEntries[place] = entry
    return known
  }

  add(digest: string, known: KnownKey): void {
    this.drop(digest)
    // A key whose digest or id does not have the expected format is not remembered, so each of its calls reads the
    // database.
    if (!readDigest(digest, this.#digest) || !readKeyId(known.keyId, this.#id)) return
    if (this.#records.count >= this.#capacity) this.#forgetOldest(this.#id)
    const shape = this.#numberOf(known.shape)
    if (shape === 0) return
    const { expiresAt } = known
    const content = { digest: this.#digest, id: this.#id, shape, expiresAt }
    let entry = this.#records.add(content)
    if (entry < 0) {
      this.#forgetOldest(this.#id)
      entry = this.#records.add(content)
    }
    if (entry < 0) {
      this.#shapes.release(shape)
      return
    }
    this.#byDigest.add(entry, this.#digest)
    this.#hotEntries[entry % this.#hotKeys] = entry
    this.#grow()
  }

  drop(digest: string): void {
    const entry = this.#find(digest)
    if (entry >= 0) this.#free(entry)
  }

  forget(subject: string): void {
    if (subject.startsWith('org_')) this.#shapes.forget(subject as OrganizationId)
    else if (readKeyId(subject, this.#id)) this.#forgetKey()
  }

  clear(): void {
    this.#records = new Records(this.#capacity, this.#recordsWanted)
    this.#byDigest = new RecordIndex(this.#records)
    this.#shapes = new Shapes(this.#maxShapes)
    this.#hot.fill(undefined)
    this.#hotEntries.fill(-1)
  }

  /** Returns the shape with this text, if a remembered key has it. */
  shapeOf(organizationId: OrganizationId, text: string): KeyShape | undefined {
    return this.#shapes.find(organizationId, text)
  }

  #find(digest: string): number {
    return readDigest(digest, this.#digest) ? this.#byDigest.find(this.#digest) : -1
  }

  /** Forgets the records of every secret of the key whose id is in `#id`. */
  #forgetKey(): void {
    let entry = this.#records.findById(this.#id)
    while (entry >= 0) {
      this.#free(entry)
      entry = this.#records.findById(this.#id, entry)
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
    const entry = this.#records.oldest(id)
    if (entry >= 0) this.#free(entry)
  }

  #free(entry: number): void {
    this.#forgetHot(entry)
    this.#byDigest.remove(entry)
    this.#shapes.release(this.#records.shapeOf(entry))
    this.#records.free(entry)
  }

  #grow(): void {
    try {
      this.#records.grow((from, to) => {
        this.#byDigest.replace(from, to)
        this.#forgetHot(from)
      })
    } catch (error) {
      // If memory ran out in the middle, a change would no longer find some of the keys, so none may be remembered.
      this.clear()
      throw error
    }
  }

  /** A number may be given to another record, so nothing may be kept under the number of a record that left it. */
  #forgetHot(entry: number): void {
    this.#hot[entry % this.#hotKeys] = undefined
    this.#hotEntries[entry % this.#hotKeys] = -1
  }
}
