import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LoopDelay } from './loop-delay.ts'

test('a stall of the event loop is measured until the samples are forgotten', async () => {
  const delay = new LoopDelay()
  assert.equal(delay.max(), 0)
  const end = performance.now() + 250
  while (performance.now() < end);
  // The timer of `LoopDelay` was due before this one, so it has fired when this one fires.
  await new Promise((resolve) => setTimeout(resolve, 1))
  assert.ok(delay.max() > 0.1, `${delay.max()} s`)
  assert.ok(delay.percentile(99) > 0.1)
  delay.reset()
  assert.equal(delay.max(), 0)
  assert.equal(delay.percentile(50), 0)
  delay.stop()
})
