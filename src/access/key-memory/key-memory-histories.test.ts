import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { organizations, shapeOf } from '../../../test/harness/key-shapes.ts'
import { randomFrom } from '../../../test/harness/random.ts'
import { createId, type KeyId } from '../../ids.ts'
import { digest, digestFromHex, digestToHex, type DigestBytes } from '../../secrets/index.ts'
import { KeyMemory } from './key-memory.ts'
import { keyPrincipal, type KnownKey } from './principal.ts'

describe('remembered keys beside a plain map', () => {
  test('are the same after any changes, when there is room for all', () => {
    for (let seed = 1; seed <= 1000; seed++) {
      // There is one list of ids, or one for every one or three keys.
      const world = new World(seed, { capacity: 1000, idsWanted: [1000, 1, 3][seed % 3] ?? 1 })
      for (let step = 0; step < 150; step++) world.step()
      world.checkAll(true)
    }
  })

  test('are never older than the map and never too many, when some have to go', () => {
    for (let seed = 1; seed <= 1000; seed++) {
      const limits = { capacity: 1 + (seed % 20), maxShapes: 1 + (seed % 7) }
      const world = new World(seed, { ...limits, idsWanted: [1000, 1, 3][seed % 3] ?? 1 })
      for (let step = 0; step < 150; step++) world.step()
      world.checkAll(false)
    }
  })

  test('are never older than the map when a list has more of them than a block', () => {
    for (let seed = 1; seed <= 30; seed++) {
      const world = new World(seed, { capacity: 150, keys: 400, idsWanted: 1000 })
      for (let step = 0; step < 3000; step++) world.step()
      world.checkAll(false)
    }
  })

  test('are the same while thousands come and go in the same places', () => {
    const world = new World(7, { capacity: 100_000, keys: 20_000, idsWanted: 100 })
    for (let step = 0; step < 20_000; step++) world.step()
    world.checkAll(true)
  })
})

interface Limits {
  readonly capacity: number
  readonly maxShapes?: number
  readonly keys?: number
  readonly idsWanted?: number
}

/** A key memory, and a plain map of the keys that the memory may contain: every operation is applied to both. */
class World {
  readonly #random: () => number
  readonly #limits: Limits
  readonly #memory: KeyMemory
  readonly #map = new Map<DigestBytes, KnownKey>()
  readonly #digests: readonly DigestBytes[]
  readonly #ids: readonly KeyId[]
  readonly #seed: number

  constructor(seed: number, limits: Limits) {
    this.#seed = seed
    this.#random = randomFrom(seed)
    this.#limits = limits
    this.#memory = new KeyMemory({ hotKeys: 4, ...limits })
    const count = limits.keys ?? 60
    // Many digests begin with the same digits, so that searches must skip many other records.
    this.#digests = Array.from({ length: count }, (_, at) => {
      const start = digest(String(this.#below(4))).slice(0, 3 + this.#below(9))
      const rest = digest(String(this.#random()))
      // Some digests differ only in the last bits that the memory compares, or in those that select the segment.
      // The last of 29 hexadecimal digits has three of the 115 bits that are compared.
      if (at < 8) return digestFromHex((2 * at).toString(16).padStart(29, '0') + rest.slice(29))
      if (at < 12) return digestFromHex(at.toString(16).padStart(25, '0') + rest.slice(25))
      return digestFromHex(start + rest.slice(start.length))
    })
    this.#ids = Array.from({ length: Math.ceil(count / 2) }, (): KeyId => {
      // Half of the ids belong to one list, and differ only in their first or last words.
      if (this.#random() < 0.5) return createId('key', this.#below(1000))
      return `key_0000000${this.#below(4)}${'0'.repeat(17)}${this.#below(4)}`
    })
  }

  step(): void {
    const dice = this.#random()
    const often = this.#limits.keys === undefined ? 1 : 0.02
    if (dice < 0.4) this.#add()
    else if (dice < 0.75) this.#check(this.#one(this.#digests), false)
    else if (dice < 0.83) this.#drop()
    else if (dice < 0.93) this.#forget(({ keyId }) => keyId, this.#one(this.#ids))
    else if (dice < 0.93 + 0.05 * often) {
      this.#forget(({ organizationId }) => organizationId, this.#one(organizations))
    } else if (dice < 0.93 + 0.055 * often) {
      this.#memory.clear()
      this.#map.clear()
    }
  }

  checkAll(isExact: boolean): void {
    const found = this.#digests.filter((each) => this.#check(each, isExact))
    assert.equal(this.#memory.size, new Set(found).size, this.#name)
    assert.ok(this.#memory.size <= this.#limits.capacity)
  }

  #add(): void {
    const keyDigest = this.#one(this.#digests)
    const organizationId = this.#one(organizations)
    const text = `shape ${this.#below(6)}`
    const shape = this.#memory.shapeOf(organizationId, text) ?? shapeOf(organizationId, text)
    const expiresAt = this.#random() < 0.3 ? this.#below(1e12) : undefined
    const key = { keyId: this.#one(this.#ids), digest: keyDigest, expiresAt }
    this.#memory.add(keyDigest, keyPrincipal(shape, key))
    this.#map.set(keyDigest, keyPrincipal(shape, key))
  }

  #drop(): void {
    const keyDigest = this.#one(this.#digests)
    this.#memory.drop(keyDigest)
    this.#map.delete(keyDigest)
  }

  #forget(subjectOf: (key: KnownKey) => string, subject: string): void {
    this.#memory.forget(subject)
    for (const [each, key] of this.#map) if (subjectOf(key) === subject) this.#map.delete(each)
  }

  #check(keyDigest: DigestBytes, isExact: boolean): boolean {
    const found = this.#memory.get(keyDigest)
    const expected = this.#map.get(keyDigest)
    if (found !== undefined || isExact) assert.equal(textOf(found), textOf(expected), this.#name)
    return found !== undefined
  }

  get #name(): string {
    return `seed ${this.#seed}`
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit)
  }

  #one<T>(list: readonly T[]): T {
    return list[this.#below(list.length)] as T
  }
}

/** Renders a principal as text, with every property in which the keys of this test can differ. */
function textOf(known: KnownKey | undefined): string {
  if (known === undefined) return 'unknown'
  const { organizationId, shape, keyId, digest: keyDigest, expiresAt } = known
  return `${organizationId} ${shape.text} ${keyId} ${digestToHex(keyDigest)} ${expiresAt}`
}
