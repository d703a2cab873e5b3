// The worker side of parse-aside.ts: a thread that parses one file.
import { parentPort, workerData } from 'node:worker_threads'
import { yieldToCalls } from '../../thread-priority.ts'
import { parseFile } from './parse.ts'

// Without the worker's data, importing this file does nothing.
const given = workerData as { configurationText?: unknown; niceness?: number } | null
const text = given?.configurationText
if (parentPort !== null && typeof text === 'string') {
  yieldToCalls(given?.niceness ?? 0)
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort.postMessage(parseFile(text))
}
