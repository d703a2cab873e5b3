// The worker side of call-writer.ts: a thread that writes call records, one commit after the other.
import Database from 'better-sqlite3'
import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import { rowInserter, type CallsWritten } from './call-rows-insert.ts'

const busyTimeoutMs = 5000

// Without the worker's data, importing this file does nothing.
const path = (workerData as { callsPath?: unknown } | null)?.callsPath
if (parentPort !== null && typeof path === 'string') serve(parentPort, path)

function serve(port: MessagePort, file: string): void {
  const database = new Database(file, { timeout: busyTimeoutMs })
  database.pragma('synchronous = NORMAL')
  // Only this connection runs checkpoints, because they wait for the disk.
  const insert = rowInserter(database)
  port.on('message', (json: string) => {
    let written: CallsWritten = {}
    try {
      insert(json)
    } catch (error) {
      const { message, code } = error as { message: string; code?: string }
      written = { error: message, code }
    }
    port.postMessage(written)
  })
}
