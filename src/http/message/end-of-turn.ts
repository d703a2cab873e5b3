import { AsyncLocalStorage } from 'node:async_hooks'
import { TurnReads } from './turn-reads.ts'
import { TurnWrites } from './turn-writes.ts'

/** Without this, all messages of a turn would be handled in the asynchronous context of whoever was the first. */
const inNoContext = AsyncLocalStorage.snapshot()

/**
 * Handles what was read, and then writes what was collected, when the current turn of the event loop ends: in its
 * `setImmediate` phase, and so always before the loop waits.
 */
export class EndOfTurn {
  readonly reads = new TurnReads(() => this.#await())
  readonly writes = new TurnWrites(() => this.#await())
  #isAwaited = false

  #await(): void {
    if (this.#isAwaited) return
    this.#isAwaited = true
    inNoContext(awaitEnd, this)
  }

  end(): void {
    try {
      this.reads.flush()
    } finally {
      this.#isAwaited = false
      if (this.reads.areWaiting) this.#await()
      this.writes.flush()
    }
  }
}

function awaitEnd(turn: EndOfTurn): void {
  setImmediate(endTurn, turn)
}

function endTurn(turn: EndOfTurn): void {
  turn.end()
}

/**
 * What the sockets of guarded calls receive and send in this turn. TLS sockets and those of the standard lane are read
 * and written at once.
 */
export const { reads: turnReads, writes: turnWrites } = new EndOfTurn()
