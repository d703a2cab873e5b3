import assert from 'node:assert/strict'
import { once } from 'node:events'
import { getPriority } from 'node:os'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { idsOfThreads, startYielding, yieldToCalls } from './thread-priority.ts'

const niceness = 3
const code = `require('node:worker_threads').parentPort.postMessage(require('node:os').getPriority(0))`

// Lowering takes less than a millisecond from the start of the thread, whose own code runs tens of milliseconds later.
test('a thread that yields has a lower priority when its own code runs, and the others keep theirs', async (context) => {
  if (idsOfThreads().length === 0) return context.skip('this system does not list threads')
  const before = new Map(idsOfThreads().map((id) => [id, getPriority(id)]))
  const worker = startYielding(niceness, () => new Worker(code, { eval: true }))
  const [own] = (await once(worker, 'message')) as [number]
  assert.equal(own, Math.min(19, getPriority(process.pid) + niceness))
  for (const [id, priority] of before) assert.equal(getPriority(id), priority)
  await worker.terminate()
})

test('lowering a thread again changes nothing', async (context) => {
  if (process.platform !== 'linux') return context.skip('only Linux has priorities of threads')
  const worker = startYielding(
    niceness,
    () => new Worker('setInterval(() => {}, 1000)', { eval: true }),
  )
  await once(worker, 'online')
  const lowered = Math.min(19, getPriority(process.pid) + niceness)
  const id = idsOfThreads().find((each) => each !== process.pid && getPriority(each) === lowered)
  assert.ok(id !== undefined)
  yieldToCalls(niceness, id)
  assert.equal(getPriority(id), lowered)
  await worker.terminate()
})
