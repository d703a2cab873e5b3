import type { Worker } from 'node:cluster'
import { SpreadListener, type ConnectionTaker } from '../../http/index.ts'
import type { FromSupervisor, FromWorker, ListenError } from './port-messages.ts'

/**
 * The port that all workers share. The supervisor accepts the connections and gives each to the worker with the fewest
 * open ones; the scheduling of `node:cluster` prefers workers that happen to be faster, and then one has twice as many
 * connections as another. The port is open while at least one worker takes connections.
 */
export class SharedPort {
  readonly #takers = new Map<Worker, ConnectionTaker>()
  #opening: Promise<SpreadListener> | undefined
  #closing: Promise<void> | undefined
  /** How many workers wait until the port is open. */
  #asking = 0

  /** Serves a worker from its start to its exit; `onListening` is called when it takes connections. */
  serve(worker: Worker, onListening: () => void): void {
    worker.on('message', (message: FromWorker) => {
      if (message.kind === 'intercept:listen') void this.#listen(worker, message, onListening)
      else if (message.kind === 'intercept:closed') this.#takers.get(worker)?.closed(message.count)
      else if (message.kind === 'intercept:stop') void this.#stop(worker)
    })
    worker.once('exit', () => void this.#leave(worker))
  }

  async #listen(
    worker: Worker,
    where: { readonly host: string; readonly port: number },
    onListening: () => void,
  ): Promise<void> {
    this.#asking++
    try {
      await this.#closing
      this.#opening ??= SpreadListener.open(where)
      const listener = await this.#opening
      if (worker.isDead()) return
      onListening()
      tell(worker, { kind: 'intercept:listening', address: listener.address })
      const taker = listener.add((socket, sent) => void worker.send(passing, socket, {}, sent))
      this.#takers.set(worker, taker)
    } catch (error) {
      this.#opening = undefined
      tell(worker, { kind: 'intercept:not-listening', error: listenErrorOf(error) })
    } finally {
      this.#asking--
      await this.#closeIfUnused()
    }
  }

  /** Gives a worker no more connections; the last one first gets all that callers have already made. */
  async #stop(worker: Worker): Promise<void> {
    const taker = this.#takers.get(worker)
    if (taker !== undefined && this.#takers.size === 1) await this.#close()
    this.#takers.delete(worker)
    taker?.leave()
    tell(worker, { kind: 'intercept:stopped' })
  }

  async #leave(worker: Worker): Promise<void> {
    this.#takers.get(worker)?.abandon()
    this.#takers.delete(worker)
    await this.#closeIfUnused()
  }

  async #closeIfUnused(): Promise<void> {
    if (this.#takers.size === 0 && this.#asking === 0) await this.#close()
  }

  async #close(): Promise<void> {
    const opening = this.#opening
    this.#opening = undefined
    if (opening !== undefined)
      this.#closing = opening.then(async (listener) => await listener.stop())
    await this.#closing
  }
}

const passing: FromSupervisor = { kind: 'intercept:connection' }

function tell(worker: Worker, message: FromSupervisor): void {
  // The worker may have exited by now.
  if (worker.isConnected()) worker.send(message)
}

function listenErrorOf(error: unknown): ListenError {
  const { message, code, syscall, address, port } = error as ListenError
  return { message, code, syscall, address, port }
}
