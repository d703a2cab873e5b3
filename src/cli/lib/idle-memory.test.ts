import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createIdleTurn } from './idle-memory.ts'

/** Returns how often a process has collected after each of its checks, in each of which it was busy as given. */
async function collected(...busy: readonly number[]): Promise<readonly number[]> {
  let [at, times] = [0, 0]
  const turn = createIdleTurn({ busy: () => busy[at] ?? 0, collect: () => void times++ })
  const after: number[] = []
  for (; at < busy.length; at++) {
    await turn()
    after.push(times)
  }
  return after
}

test('a process collects when it is idle for the first time after its start, and never again', async () => {
  assert.deepEqual(await collected(0.6, 0.01, 0.01), [0, 1, 1])
  assert.deepEqual(await collected(0.6, 0.6, 0.01, 0.01), [0, 0, 1, 1])
})

test('a process that is busy in its first three checks never collects', async () => {
  assert.deepEqual(await collected(0.6, 0.6, 0.6, 0.01, 0.01), [0, 0, 0, 0, 0])
})
