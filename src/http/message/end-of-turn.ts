import { TurnReads } from './turn-reads.ts'
import { TurnWrites } from './turn-writes.ts'

/**
 * Handles what was read, and then writes what was collected, when the current turn of the event loop ends: in its
 * `setImmediate` phase, and so always before the loop waits.
 */
class EndOfTurn {
  readonly reads = new TurnReads(() => this.#await())
  readonly writes = new TurnWrites(() => this.#await())
  #isAwaited = false

  #await(): void {
    if (this.#isAwaited) return
    this.#isAwaited = true
    setImmediate(endTurn, this)
  }

  end(): void {
    try {
      this.reads.flush()
    } finally {
      // What the messages above made us write must not wait for another turn.
      this.#isAwaited = false
      this.writes.flush()
    }
  }
}

function endTurn(turn: EndOfTurn): void {
  turn.end()
}

/**
 * What the sockets that carry guarded calls received and send in this turn; TLS sockets and those of the standard lane
 * are read and written at once.
 */
export const { reads: turnReads, writes: turnWrites } = new EndOfTurn()
