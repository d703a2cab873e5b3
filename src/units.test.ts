import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseCallsPerSeconds } from './units.ts'

test('a rate is so many calls in a number of seconds, minutes, hours or days', () => {
  const windows = { '100/s': 1, '6000/m': 60, '5/10s': 10, '9/h': 3600, '1000/d': 86_400 }
  for (const [text, perSeconds] of Object.entries(windows)) {
    assert.deepEqual(parseCallsPerSeconds(text), { calls: Number.parseInt(text, 10), perSeconds })
  }
  const notRates = ['', '5', '5/', '5/y', '5/S', '5/toString', '-5/s', '5/s ']
  for (const text of [...notRates, '0/s', '5/0s', '5/00s']) {
    assert.throws(() => parseCallsPerSeconds(text), /must be a rate such as/, text)
  }
})
