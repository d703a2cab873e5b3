import assert from 'node:assert/strict'
import { getPriority } from 'node:os'
import { once } from 'node:events'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { idsOfThreads, startYielding } from './thread-priority.ts'

test(
  'a thread that yields has its lower priority before its own code runs, and no other thread has it',
  {
    skip: process.platform === 'linux' ? false : 'only Linux has a priority for each thread',
  },
  async () => {
    const before = new Map(idsOfThreads().map((id) => [id, getPriority(id)]))
    const worker = startYielding(3, () => {
      const code = `require('node:worker_threads').parentPort.postMessage(require('node:os').getPriority(0))`
      return new Worker(code, { eval: true })
    })
    const [own] = (await once(worker, 'message')) as [number]
    assert.equal(own, getPriority(process.pid) + 3)
    for (const [id, priority] of before) assert.equal(getPriority(id), priority)
    await worker.terminate()
  },
)
