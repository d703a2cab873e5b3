// The worker side of parse-aside.ts: a thread that parses one file.
import { parentPort, workerData } from 'node:worker_threads'
import { parseFile } from './parse.ts'

// Without the worker's data, importing this file does nothing.
const text = (workerData as { configurationText?: unknown } | null)?.configurationText
if (parentPort !== null && typeof text === 'string') {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort.postMessage(parseFile(text))
}
