import type { Worker } from 'node:cluster'
import { SpreadListener, type ConnectionTaker } from '../../http/index.ts'
import type { FromSupervisor, FromWorker, ListenError } from './port-messages.ts'

interface Where {
  readonly host: string
  readonly port: number
}

/**
 * The port that all workers share. The supervisor accepts the connections and gives each to the worker with the fewest
 * open ones; the scheduling of `node:cluster` prefers workers that happen to be faster, and then one has twice as many
 * connections as another. The port is open while at least one worker takes connections.
 */
export class SharedPort {
  readonly #takers = new Map<Worker, ConnectionTaker>()
  readonly #dropped: () => void
  #opening: Promise<SpreadListener> | undefined
  #closing: Promise<void> | undefined
  /** How many workers are waiting for the port to open. */
  #waiting = 0

  /** `dropped` is called for each connection that is lost because no worker could have it. */
  constructor(dropped: () => void) {
    this.#dropped = dropped
  }

  /** Serves a worker from its start to its exit; `onListening` is called when it takes connections. */
  serve(worker: Worker, onListening: () => void): void {
    worker.on('message', (message: FromWorker) => {
      if (message.kind === 'intercept:listen') void this.#listen(worker, message, onListening)
      else if (message.kind === 'intercept:open') this.#takers.get(worker)?.report(message)
      else if (message.kind === 'intercept:stop') void this.#stop(worker)
    })
    worker.once('exit', () => this.#forget(worker))
  }

  async #listen(worker: Worker, where: Where, onListening: () => void): Promise<void> {
    this.#waiting++
    try {
      const listener = await this.#open(where)
      if (!worker.isDead()) {
        onListening()
        this.#addTaker(worker, listener)
      }
    } catch (error) {
      tell(worker, { kind: 'intercept:not-listening', error: listenErrorOf(error) })
    }
    this.#waiting--
    this.#closeIfUnused()
  }

  async #open(where: Where): Promise<SpreadListener> {
    await this.#closing
    const opening = (this.#opening ??= SpreadListener.open(where, this.#dropped))
    try {
      return await opening
    } catch (error) {
      if (this.#opening === opening) this.#opening = undefined
      throw error
    }
  }

  #addTaker(worker: Worker, listener: SpreadListener): void {
    tell(worker, { kind: 'intercept:listening', address: listener.address })
    const taker = listener.add(({ socket, number }, sent) => {
      const message: FromSupervisor = { kind: 'intercept:connection', number }
      worker.send(message, socket, {}, sent)
    })
    this.#takers.set(worker, taker)
  }

  /** Gives a worker no more connections; the last worker first gets all that callers have already made. */
  async #stop(worker: Worker): Promise<void> {
    if (this.#takers.has(worker) && this.#takers.size === 1) {
      this.#close()
      await this.#closing
    }
    this.#takers.get(worker)?.leave()
    this.#takers.delete(worker)
    tell(worker, { kind: 'intercept:stopped' })
  }

  #forget(worker: Worker): void {
    this.#takers.get(worker)?.abandon()
    this.#takers.delete(worker)
    this.#closeIfUnused()
  }

  #closeIfUnused(): void {
    if (this.#takers.size === 0 && this.#waiting === 0) this.#close()
  }

  #close(): void {
    if (this.#opening === undefined) return
    this.#closing = stop(this.#opening)
    this.#opening = undefined
  }
}

async function stop(opening: Promise<SpreadListener>): Promise<void> {
  // If it could not be opened, the workers that asked for it have been told.
  const listener = await opening.catch(() => undefined)
  await listener?.stop()
}

function tell(worker: Worker, message: FromSupervisor): void {
  // A worker may die at any moment; without a callback, a message that cannot be sent would end this process.
  worker.send(message, () => {})
}

function listenErrorOf(error: unknown): ListenError {
  const { message, code, syscall, address, port, hostname } = error as ListenError
  return { message, code, syscall, address, port, hostname }
}
