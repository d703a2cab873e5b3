import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RandomDigits } from './ids.ts'

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
