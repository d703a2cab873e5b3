import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DatabaseClock } from './database-clock.ts'

test('a moment has the time of the database, and both times of the machine', async () => {
  const machine = { now: () => 5_000_000, monotonic: () => 1000 }
  const clock = new DatabaseClock(machine)
  assert.deepEqual(clock.moment(), { nowMs: 5_000_000, machineMs: 5_000_000, monotonicMs: 1000 })
  await clock.sample(async () => 9_000_000)
  assert.deepEqual(clock.moment(), { nowMs: 9_000_000, machineMs: 5_000_000, monotonicMs: 1000 })
  assert.equal(clock.moment().nowMs, clock.now())
})
