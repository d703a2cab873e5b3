// Callers of a listener that is about to close: each opens one connection after another, with one request on each, until
// a connection is refused.
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

const outcomes = ['answered', 'refused', 'reset'] as const

export type Outcomes = Record<(typeof outcomes)[number], number>

export interface ClosingCallers extends AsyncDisposable {
  /** Resolves when all callers have been refused. */
  readonly counted: Promise<Outcomes>
}

/** Starts callers of a local port; resolves when some have got responses, so that the listener can be closed. */
export async function startClosingCallers(port: number): Promise<ClosingCallers> {
  const thread = new Worker(code, { eval: true, workerData: { port } })
  await once(thread, 'message')
  return {
    counted: once(thread, 'message').then(([counts]) => counts as Outcomes),
    [Symbol.asyncDispose]: async () => void (await thread.terminate()),
  }
}

export function addOutcomes(to: Outcomes, more: Outcomes): void {
  for (const outcome of outcomes) to[outcome] += more[outcome]
}

// Runs in a thread of its own, because it must make connections while the test's thread closes the listener.
const code = `
  const { connect } = require('node:net')
  const { parentPort, workerData } = require('node:worker_threads')
  const counts = { answered: 0, refused: 0, reset: 0 }
  const callers = 16
  let ended = 0
  const call = () => {
    let outcome = 'reset'
    const socket = connect(workerData.port, '127.0.0.1')
    socket.on('connect', () => socket.write('POST /x HTTP/1.1\\r\\nHost: a\\r\\nContent-Length: 1\\r\\nConnection: close\\r\\n\\r\\nx'))
    socket.on('data', () => { outcome = 'answered' })
    socket.on('error', (error) => { if (error.code === 'ECONNREFUSED') outcome = 'refused' })
    socket.on('close', () => {
      counts[outcome]++
      if (outcome === 'answered' && counts.answered === 100) parentPort.postMessage('busy')
      if (outcome !== 'refused') call()
      else if (++ended === callers) parentPort.postMessage(counts)
    })
  }
  for (let at = 0; at < callers; at++) call()
`
