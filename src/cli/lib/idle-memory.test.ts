import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createIdleTurn } from './idle-memory.ts'

test('a process collects when it is idle for the first time after its start, and never again', async () => {
  const process = { busy: 0.6, collected: 0 }
  const turn = createIdleTurn({
    busy: () => process.busy,
    collect: () => {
      process.collected++
    },
  })
  await turn()
  assert.equal(process.collected, 0)
  process.busy = 0.01
  await turn()
  assert.equal(process.collected, 1)
  await turn()
  assert.equal(process.collected, 1)
})

test('a process that is busy in its first two checks collects when it is idle then', async () => {
  const process = { busy: 0.6, collected: 0 }
  const turn = createIdleTurn({
    busy: () => process.busy,
    collect: () => {
      process.collected++
    },
  })
  for (let check = 0; check < 2; check++) await turn()
  process.busy = 0.01
  await turn()
  assert.equal(process.collected, 1)
})

test('a process that is busy in its first three checks never collects', async () => {
  const process = { busy: 0.6, collected: 0 }
  const turn = createIdleTurn({
    busy: () => process.busy,
    collect: () => {
      process.collected++
    },
  })
  for (let check = 0; check < 3; check++) await turn()
  process.busy = 0.01
  await turn()
  assert.equal(process.collected, 0)
})
