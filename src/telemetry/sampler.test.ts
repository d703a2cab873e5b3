import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSampler } from './sampler.ts'

const low = '4bf92f3577b34da6a300000000000001'
const high = '4bf92f3577b34da6a3ffffffffffffff'

test('a sampler decides by its name: always, never, or by the random part of the trace', () => {
  assert.equal(createSampler('always_on', 0)(high, false), true)
  assert.equal(createSampler('always_off', 1)(low, true), false)
  const half = createSampler('traceidratio', 0.5)
  assert.deepEqual([half(low, false), half(high, true)], [true, false])
})

test("where the caller has decided, a parentbased sampler follows; else it decides as the one it's named after", () => {
  const half = createSampler('parentbased_traceidratio', 0.5)
  assert.deepEqual([half(low, false), half(high, true)], [false, true])
  assert.deepEqual([half(low, undefined), half(high, undefined)], [true, false])
  assert.equal(createSampler('parentbased_always_off', 1)(low, undefined), false)
})
