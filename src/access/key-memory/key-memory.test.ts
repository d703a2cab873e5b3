import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createId, type KeyId, type OrganizationId } from '../../ids.ts'
import { digest } from '../../secrets/index.ts'
import { randomFrom } from '../../../test/harness/random.ts'
import { keyPrincipal, type KeyShape, type KnownKey } from './principal.ts'
import { KeyMemory } from './key-memory.ts'
import { IdLists } from './id-lists.ts'
import { KeyRecords } from './key-records.ts'
import { keyIdOf, readDigest, readKeyId } from './words.ts'

const organizations = ['org_a', 'org_b', 'org_c'] as const

function shapeOf(organizationId: OrganizationId, text: string): KeyShape {
  return {
    ...{ organizationId, text, organizationSlug: text, scheme: 'bearer' },
    ...{ isOldSecret: false, isRevoked: false, organizationRate: undefined },
    ...{ grants: undefined, cidrs: undefined, rateLimit: undefined, quota: undefined },
  }
}

function knownKey(keyId: KeyId, keyDigest: string, shape = shapeOf('org_a', 'a')): KnownKey {
  return keyPrincipal(shape, { keyId, digest: keyDigest, expiresAt: undefined })
}

describe('remembered keys', () => {
  test('are rebuilt from their records unchanged, also when another key has taken their place', () => {
    const memory = new KeyMemory({ capacity: 20_000 })
    const keys = Array.from({ length: 20_000 }, (_, at) =>
      keyPrincipal(shapeOf(organizations[at % 3] ?? 'org_a', `shape ${at % 5}`), {
        keyId: createId('key', at * 7_777_777),
        digest: digest(String(at)),
        expiresAt: at % 4 === 0 ? at : undefined,
      }),
    )
    for (const key of keys) memory.add(key.digest, key)
    assert.equal(memory.size, keys.length)
    for (const key of keys) assert.deepEqual(memory.get(key.digest), key)
    const last = keys.at(-1)
    assert.ok(last)
    // `get` returns the same object again, because a call's limits are cached under that object.
    assert.equal(memory.get(last.digest), memory.get(last.digest))
  })

  test('are found by 118 bits of the digest and by nothing less', () => {
    const memory = new KeyMemory({ capacity: 10 })
    const own = digest('own')
    memory.add(own, knownKey(createId('key'), own))
    for (let bit = 0; bit < 118; bit++) {
      const at = Math.floor(bit / 4)
      const changed = Number.parseInt(own[at] ?? '', 16) ^ (8 >> (bit % 4))
      const other = own.slice(0, at) + changed.toString(16) + own.slice(at + 1)
      assert.equal(memory.get(other), undefined)
    }
    // Nothing else of the digest is compared.
    assert.ok(memory.get(own.slice(0, 30) + (own[30] === '0' ? '1' : '0').repeat(34)))
    for (const other of ['', own.slice(1), own.slice(0, 32), `${own}0`, own.toUpperCase()]) {
      assert.equal(memory.get(other), undefined)
    }
    assert.equal(memory.get(own)?.digest, own)
  })

  test('whose id is not one of ours are not remembered, and an id is given back to the letter', () => {
    const words = new Int32Array(4)
    for (let at = 0; at < 2000; at++) {
      const id = createId('key', Math.floor(2 ** (at / 42)))
      assert.ok(readKeyId(id, words))
      assert.equal(keyIdOf(words), id)
    }
    const id = createId('key')
    const others = ['', 'key_1', id.slice(1), `${id}0`, id.toUpperCase(), id.replace('key', 'kez')]
    const digits = ['u', 'i', 'é', '8'].map((digit) => `key_${digit}${id.slice(5)}`)
    for (const other of [...others, ...digits]) assert.equal(readKeyId(other, words), false, other)
    assert.equal(readDigest('g'.repeat(64), words), false)
    const memory = new KeyMemory({ capacity: 10 })
    memory.add(digest('x'), knownKey('key_1', digest('x')))
    assert.equal(memory.size, 0)
  })

  test('go oldest first when there are too many', () => {
    const memory = new KeyMemory({ capacity: 3 })
    const digests = Array.from({ length: 10 }, (_, at) => digest(String(at)))
    for (const [at, each] of digests.entries()) {
      memory.add(each, knownKey(createId('key'), each))
      const found = digests.filter((one) => memory.get(one) !== undefined)
      assert.deepEqual(found, digests.slice(Math.max(0, at - 2), at + 1))
    }
  })

  test('of a full list go oldest first, although other lists have room', () => {
    const memory = new KeyMemory({ capacity: 10_000_000 })
    const digests = Array.from({ length: 5000 }, (_, at) => digest(String(at)))
    for (const [at, each] of digests.entries()) {
      const id = createId('key', at)
      memory.add(each, knownKey(`${id.slice(0, -6)}000${id.slice(-3)}` as KeyId, each))
    }
    const found = digests.filter((each) => memory.get(each) !== undefined)
    assert.equal(memory.size, found.length)
    assert.equal(found.length, 1023)
    assert.deepEqual(found, digests.slice(-found.length))
  })

  test('of all secrets of a key go at once, wherever they are', () => {
    const memory = new KeyMemory({ capacity: 1000 })
    const digests = Array.from({ length: 300 }, (_, at) => digest(String(at)))
    const ids = [createId('key'), createId('key'), createId('key')] as const
    for (const [at, each] of digests.entries())
      memory.add(each, knownKey(ids[at % 3] ?? ids[0], each))
    memory.forget(ids[1])
    const found = digests.filter((each) => memory.get(each) !== undefined)
    assert.deepEqual(
      found,
      digests.filter((_, at) => at % 3 !== 1),
    )
    assert.equal(memory.size, 200)
  })

  test('whose entries in a list are equal go one by one, before and after the list is split', () => {
    for (const idsWanted of [100, 1]) {
      const memory = new KeyMemory({ capacity: 100, idsWanted })
      // The records are in one region, and the ids differ only in the bits that select the list.
      const keys = ['0', '1', '2', '3'].map((digit) => {
        const id: KeyId = `key_${'0'.repeat(22)}${digit}000`
        return knownKey(id, '0'.repeat(63) + digit)
      })
      const digests = ['a', 'b', 'c', 'd'].map((digit) => '0'.repeat(8) + digit + '0'.repeat(55))
      for (const [at, key] of keys.entries()) memory.add(digests[at] ?? '', key)
      for (const [at, key] of keys.entries()) {
        memory.forget(key.keyId)
        const found = digests.filter((each) => memory.get(each) !== undefined)
        assert.deepEqual(found, digests.slice(at + 1))
      }
    }
  })

  test('are kept as objects once they are found twice in turn, and not by one look-up of another', () => {
    const memory = new KeyMemory({ capacity: 10, hotKeys: 1 })
    const [first, second] = [digest('first'), digest('second')]
    for (const each of [first, second]) memory.add(each, knownKey(createId('key'), each))
    memory.get(first)
    const kept = memory.get(first)
    assert.equal(memory.get(first), kept)
    memory.get(second)
    memory.get(first)
    assert.equal(memory.get(first), kept)
    if (kept !== undefined) memory.forget(kept.keyId)
    assert.equal(memory.get(first), undefined)
    memory.add(first, knownKey(createId('key'), first))
    assert.notEqual(memory.get(first)?.keyId, kept?.keyId)
  })

  test('leave nothing behind when they go', () => {
    const memory = new KeyMemory({ capacity: 1000 })
    const add = (from: number, to: number): void => {
      for (let at = from; at < to; at++) {
        const each = digest(String(at))
        memory.add(each, knownKey(createId('key'), each))
      }
    }
    add(0, 10_000)
    const before = process.memoryUsage().arrayBuffers
    add(10_000, 210_000)
    const grownBytes = process.memoryUsage().arrayBuffers - before
    assert.ok(grownBytes < 100_000, `${grownBytes} bytes more`)
  })

  for (const [name, type, method] of [
    ['a table grows', KeyRecords, 'add'],
    ['a list grows', IdLists, 'add'],
    ['a list is split', IdLists, 'grow'],
  ] as const) {
    test(`can still be forgotten if memory runs out while ${name}`, (context) => {
      const memory = new KeyMemory({ capacity: 1000 })
      const ids = [createId('key'), createId('key')] as const
      memory.add(digest('a'), knownKey(ids[0], digest('a')))
      const failing = context.mock.method(type.prototype, method as 'add', () => {
        throw new RangeError('Array buffer allocation failed')
      })
      const other = knownKey(ids[1], digest('b'))
      memory.add(other.digest, other)
      failing.mock.restore()
      assert.equal(memory.get(other.digest) !== undefined, method === 'grow')
      for (const id of ids) memory.forget(id)
      assert.equal(memory.size, 0)
      memory.add(other.digest, other)
      assert.ok(memory.get(other.digest))
    })
  }

  test('are all forgotten if their records and the lists of their ids do not agree', (context) => {
    const memory = new KeyMemory({ capacity: 1000 })
    memory.add(digest('a'), knownKey(createId('key'), digest('a')))
    context.mock.method(IdLists.prototype, 'grow', () => {
      throw new Error('an entry has no record')
    })
    assert.throws(() => memory.add(digest('b'), knownKey(createId('key'), digest('b'))))
    assert.equal(memory.size, 0)
    assert.equal(memory.get(digest('a')), undefined)
  })

  test('keep their objects while their records move', () => {
    const memory = new KeyMemory({ capacity: 100_000, hotKeys: 2 ** 20 })
    const [first = '', ...others] = Array.from({ length: 20_000 }, (_, at) => digest(String(at)))
    memory.add(first, knownKey(createId('key'), first))
    memory.get(first)
    const kept = memory.get(first)
    for (const each of others) memory.add(each, knownKey(createId('key'), each))
    assert.equal(memory.get(first), kept)
  })

  test('make room for a new shape, and a key is not remembered where they cannot', () => {
    const memory = new KeyMemory({ capacity: 1000, maxShapes: 2 })
    const add = (name: string, text: string): void => {
      memory.add(digest(name), knownKey(createId('key'), digest(name), shapeOf('org_a', text)))
    }
    for (let at = 0; at < 200; at++) add(`common ${at}`, 'common')
    add('own', 'own')
    add('other', 'other')
    assert.ok(memory.get(digest('own')))
    assert.equal(memory.get(digest('other')), undefined)
    assert.ok(memory.size < 200)
    for (let at = 0; at < 10; at++) add(`other ${at}`, 'other')
    assert.ok(memory.get(digest('other 9')))
  })

  test('keep their own shapes, also when these are more than 16 bits can number', () => {
    const memory = new KeyMemory({ capacity: 10_000_000 })
    const keys = Array.from({ length: 70_000 }, (_, at) => {
      const shape = shapeOf(organizations[at % 3] ?? 'org_a', `shape ${at}`)
      return knownKey(createId('key', at), digest(String(at)), shape)
    })
    for (const key of keys) memory.add(key.digest, key)
    for (const key of keys) {
      assert.equal(memory.get(key.digest)?.shape.text, key.shape.text)
      assert.equal(memory.get(key.digest)?.organizationId, key.organizationId)
    }
  })

  test('of an organization are forgotten at once, and its next ones are others', () => {
    const memory = new KeyMemory({ capacity: 1000 })
    const add = (name: string, organizationId: OrganizationId): void => {
      const shape = shapeOf(organizationId, 'same')
      memory.add(digest(name), knownKey(createId('key'), digest(name), shape))
    }
    for (let at = 0; at < 100; at++) add(`a ${at}`, 'org_a')
    for (let at = 0; at < 100; at++) add(`b ${at}`, 'org_b')
    memory.forget('org_a')
    assert.equal(memory.size, 100)
    assert.equal(memory.get(digest('a 7')), undefined)
    assert.equal(memory.shapeOf('org_a', 'same'), undefined)
    assert.ok(memory.get(digest('b 7')))
    add('a 7', 'org_a')
    assert.ok(memory.get(digest('a 7')))
    assert.equal(memory.get(digest('a 8')), undefined)
    assert.equal(memory.size, 101)
  })
})

describe('remembered keys beside a plain map', () => {
  test('are the same after any changes, when there is room for all', () => {
    for (let seed = 1; seed <= 1000; seed++) {
      // There is one segment, or one for every one or three keys.
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
  readonly #map = new Map<string, KnownKey>()
  readonly #digests: readonly string[]
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
      // Some digests differ only in the last bits that the memory compares, or in those that say the segment.
      if (at < 16) return at.toString(16).padStart(29, '0') + rest.slice(29)
      if (at < 20) return at.toString(16).padStart(25, '0') + rest.slice(25)
      return start + rest.slice(start.length)
    })
    this.#ids = Array.from({ length: Math.ceil(count / 2) }, (): KeyId => {
      // Half of the ids belong to one segment, and differ only in their first or last words.
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

  #check(keyDigest: string, isExact: boolean): boolean {
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
  return `${organizationId} ${shape.text} ${keyId} ${keyDigest} ${expiresAt}`
}
