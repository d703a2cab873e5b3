import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createId, idBound, isId, RandomDigits, timeOfId } from './ids.ts'

const now = Date.UTC(2026, 10, 27)
const times = [
  0,
  1,
  31,
  32,
  1023,
  1024,
  1025,
  now,
  now + 1,
  now + 1023,
  now + 1024,
  2 ** 49,
  5,
  now,
]

test('an id tells its time, in any order of times and whatever bound was asked for in between', () => {
  for (const ms of times) {
    const id = createId('req', ms)
    assert.ok(isId('req', id), id)
    assert.equal(timeOfId(id), ms)
    assert.ok(id.startsWith(idBound('req', ms)))
    idBound('key', ms + 7)
    assert.equal(timeOfId(createId('key', ms)), ms)
  }
})

test('ids of later milliseconds sort later', () => {
  const sorted = [...new Set(times)].toSorted((a, b) => a - b)
  const ids = sorted.map((ms) => createId('req', ms))
  assert.deepEqual(ids.toSorted(), ids)
})

test('no id comes twice', () => {
  const ids = Array.from({ length: 5000 }, () => createId('req', now))
  assert.equal(new Set(ids).size, ids.length)
})

test('every digit is drawn about equally often, at every place, and no text comes twice', () => {
  const digits = new RandomDigits('0123456789abcdef')
  const texts = Array.from({ length: 4096 }, () => digits.sixteen())
  assert.equal(new Set(texts).size, texts.length)
  for (let place = 0; place < 16; place++) {
    const counts = new Map<string, number>()
    for (const text of texts) {
      assert.match(text, /^[0-9a-f]{16}$/)
      counts.set(text.charAt(place), (counts.get(text.charAt(place)) ?? 0) + 1)
    }
    // Of 4,096 draws, 256 are expected for each digit, with a standard deviation of 15.5.
    assert.equal(counts.size, 16)
    for (const count of counts.values()) assert.ok(Math.abs(count - 256) < 125, `${count}`)
  }
})
