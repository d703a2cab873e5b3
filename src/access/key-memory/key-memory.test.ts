import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createId, type KeyId, type OrganizationId } from '../../ids.ts'
import { digestBytes, digestFromHex, digestToHex, type DigestBytes } from '../../secrets/index.ts'
import { organizations, shapeOf } from '../../../test/harness/key-shapes.ts'
import { keyPrincipal, type KnownKey } from './principal.ts'
import { KeyMemory } from './key-memory.ts'
import { IdLists } from './id-lists.ts'
import { KeyRecords } from './key-records.ts'
import { keyIdOf, readDigest, readKeyId } from './words.ts'

function knownKey(keyId: KeyId, keyDigest: DigestBytes, shape = shapeOf('org_a', 'a')): KnownKey {
  return keyPrincipal(shape, { keyId, digest: keyDigest, expiresAt: undefined })
}

describe('remembered keys', () => {
  test('are rebuilt from their records unchanged, also when another key has taken their place', () => {
    const memory = new KeyMemory({ capacity: 20_000 })
    const keys = Array.from({ length: 20_000 }, (_, at) =>
      keyPrincipal(shapeOf(organizations[at % 3] ?? 'org_a', `shape ${at % 5}`), {
        keyId: createId('key', at * 7_777_777),
        digest: digestBytes(String(at)),
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

  test('are found by 115 bits of the digest and by nothing less', () => {
    const memory = new KeyMemory({ capacity: 10 })
    const own = digestBytes('own')
    memory.add(own, knownKey(createId('key'), own))
    for (let bit = 0; bit < 115; bit++) {
      const other = Buffer.from(digestToHex(own), 'hex')
      other[bit >> 3] = (other[bit >> 3] ?? 0) ^ (128 >> (bit & 7))
      assert.equal(memory.get(digestFromHex(other.toString('hex'))), undefined)
    }
    // Nothing else of the digest is compared.
    const hex = digestToHex(own)
    const rest = Buffer.from(hex, 'hex')
    for (let bit = 115; bit < 256; bit++)
      rest[bit >> 3] = (rest[bit >> 3] ?? 0) ^ (128 >> (bit & 7))
    assert.ok(memory.get(digestFromHex(rest.toString('hex'))))
    const text = own as unknown as string
    for (const other of ['', text.slice(1), `${text}0`, hex, `Ā${text.slice(1)}`]) {
      assert.equal(memory.get(other as unknown as DigestBytes), undefined)
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
    assert.equal(readDigest('Ā'.repeat(32) as unknown as DigestBytes, words), false)
    const memory = new KeyMemory({ capacity: 10 })
    memory.add(digestBytes('x'), knownKey('key_1', digestBytes('x')))
    assert.equal(memory.size, 0)
  })

  test('go oldest first when there are too many', () => {
    const memory = new KeyMemory({ capacity: 3 })
    const digests = Array.from({ length: 10 }, (_, at) => digestBytes(String(at)))
    for (const [at, each] of digests.entries()) {
      memory.add(each, knownKey(createId('key'), each))
      const found = digests.filter((one) => memory.get(one) !== undefined)
      assert.deepEqual(found, digests.slice(Math.max(0, at - 2), at + 1))
    }
  })

  test('of a full list go oldest first, although other lists have room', () => {
    const memory = new KeyMemory({ capacity: 10_000_000 })
    const digests = Array.from({ length: 5000 }, (_, at) => digestBytes(String(at)))
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
    const digests = Array.from({ length: 300 }, (_, at) => digestBytes(String(at)))
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
        return knownKey(id, digestFromHex('0'.repeat(63) + digit))
      })
      const digests = ['a', 'b', 'c', 'd'].map((digit) =>
        digestFromHex('0'.repeat(8) + digit + '0'.repeat(55)),
      )
      for (const [at, key] of keys.entries()) memory.add(digests[at] ?? key.digest, key)
      for (const [at, key] of keys.entries()) {
        memory.forget(key.keyId)
        const found = digests.filter((each) => memory.get(each) !== undefined)
        assert.deepEqual(found, digests.slice(at + 1))
      }
    }
  })

  test('are kept as objects once they are found twice in turn, and not by one look-up of another', () => {
    const memory = new KeyMemory({ capacity: 10, hotKeys: 1 })
    const [first, second] = [digestBytes('first'), digestBytes('second')]
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
        const each = digestBytes(String(at))
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
      memory.add(digestBytes('a'), knownKey(ids[0], digestBytes('a')))
      const failing = context.mock.method(type.prototype, method as 'add', () => {
        throw new RangeError('Array buffer allocation failed')
      })
      const other = knownKey(ids[1], digestBytes('b'))
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
    memory.add(digestBytes('a'), knownKey(createId('key'), digestBytes('a')))
    context.mock.method(IdLists.prototype, 'grow', () => {
      throw new Error('an entry has no record')
    })
    assert.throws(() => memory.add(digestBytes('b'), knownKey(createId('key'), digestBytes('b'))))
    assert.equal(memory.size, 0)
    assert.equal(memory.get(digestBytes('a')), undefined)
  })

  test('keep their objects while their records move', () => {
    const memory = new KeyMemory({ capacity: 100_000, hotKeys: 2 ** 20 })
    const first = digestBytes('first')
    const others = Array.from({ length: 20_000 }, (_, at) => digestBytes(String(at)))
    memory.add(first, knownKey(createId('key'), first))
    memory.get(first)
    const kept = memory.get(first)
    for (const each of others) memory.add(each, knownKey(createId('key'), each))
    assert.equal(memory.get(first), kept)
  })

  test('make room for a new shape, and a key is not remembered where they cannot', () => {
    const memory = new KeyMemory({ capacity: 1000, maxShapes: 2 })
    const add = (name: string, text: string): void => {
      memory.add(
        digestBytes(name),
        knownKey(createId('key'), digestBytes(name), shapeOf('org_a', text)),
      )
    }
    for (let at = 0; at < 200; at++) add(`common ${at}`, 'common')
    add('own', 'own')
    add('other', 'other')
    assert.ok(memory.get(digestBytes('own')))
    assert.equal(memory.get(digestBytes('other')), undefined)
    assert.ok(memory.size < 200)
    for (let at = 0; at < 10; at++) add(`other ${at}`, 'other')
    assert.ok(memory.get(digestBytes('other 9')))
  })

  test('keep their own shapes, also when these are more than 16 bits can number', () => {
    const memory = new KeyMemory({ capacity: 10_000_000 })
    const keys = Array.from({ length: 70_000 }, (_, at) => {
      const shape = shapeOf(organizations[at % 3] ?? 'org_a', `shape ${at}`)
      return knownKey(createId('key', at), digestBytes(String(at)), shape)
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
      memory.add(digestBytes(name), knownKey(createId('key'), digestBytes(name), shape))
    }
    for (let at = 0; at < 100; at++) add(`a ${at}`, 'org_a')
    for (let at = 0; at < 100; at++) add(`b ${at}`, 'org_b')
    memory.forget('org_a')
    assert.equal(memory.size, 100)
    assert.equal(memory.get(digestBytes('a 7')), undefined)
    assert.equal(memory.shapeOf('org_a', 'same'), undefined)
    assert.ok(memory.get(digestBytes('b 7')))
    add('a 7', 'org_a')
    assert.ok(memory.get(digestBytes('a 7')))
    assert.equal(memory.get(digestBytes('a 8')), undefined)
    assert.equal(memory.size, 101)
  })
})
