// Loaded before a node's own code, in each of its threads: every 2.5 minutes, collects garbage and prints how much
// memory the thread still uses.
import { getHeapSpaceStatistics } from 'node:v8'
import { threadId } from 'node:worker_threads'
import { heapInUse } from './heap.ts'

const everyMs = 150_000

setInterval(() => {
  const inUse = heapInUse()
  const code = getHeapSpaceStatistics()
    .filter(({ space_name: name }) => /^(code|trusted)_/.test(name))
    .reduce((sum, { space_used_size: bytes }) => sum + bytes, 0)
  const heap = inUse - code
  const { external } = process.memoryUsage()
  const atMs = Math.round(performance.timeOrigin + performance.now())
  console.log(JSON.stringify({ memoryReport: { thread: threadId, atMs, heap, code, external } }))
}, everyMs).unref()
