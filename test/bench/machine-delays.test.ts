import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { delaysOf } from '../../bench/machine-delays.ts'

test('the calls from just before a core was slow until few calls are open count as delayed', () => {
  // Three calls that were due at 100 ms are answered at 130, 131 and 150; the core was slow at 105.
  const delays = delaysOf({ dueMs: [50, 100, 100, 100, 140], tookMs: [1, 30, 31, 50, 1] }, [105])
  const held = [50, 94, 95, 100, 129, 130, 140].filter((due) => delays.include(due))
  assert.deepEqual(held, [95, 100, 129])
})

test('calls that waited without a slow core do not count as delayed', () => {
  const delays = delaysOf({ dueMs: [50, 100, 100, 100], tookMs: [1, 30, 31, 50] }, [])
  assert.equal(delays.include(100), false)
})

test('a peer that does not catch up is excused for a tenth of a second only', () => {
  const delays = delaysOf({ dueMs: [10, 10, 10, 10], tookMs: [5, 900, 900, 900] }, [12, 500])
  assert.deepEqual(
    [15, 121, 122, 400, 490, 609, 610].map((due) => delays.include(due)),
    [true, true, false, false, true, true, false],
  )
  assert.equal(delays.include(1), false)
})
