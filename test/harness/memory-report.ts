// Loaded before a node's own code: prints every few minutes, for each of its threads, the memory in use after a
// collection.
import { threadId } from 'node:worker_threads'
import { heapInUse } from './heap.ts'

const everyMs = 150_000

setInterval(() => {
  const heap = heapInUse()
  const { external } = process.memoryUsage()
  const atMs = Math.round(performance.timeOrigin + performance.now())
  console.log(JSON.stringify({ memoryReport: { thread: threadId, atMs, heap, external } }))
}, everyMs).unref()
