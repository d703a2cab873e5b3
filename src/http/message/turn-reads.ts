import { SharedBuffer } from './shared-buffer.ts'

const queueBytes = 128 * 1024
/** Longer reads are handled at once, because copying them costs more than it saves. */
const maxReadBytes = 16 * 1024

/** What handles the bytes of one socket. */
export interface TurnReader {
  /** Whether bytes of this socket wait to be handled; set by `TurnReads`, and false at first. */
  hasWaiting: boolean
  /** Whether the bytes that were just read may wait until this turn ends; otherwise they are handled at once. */
  readonly mayWait: boolean
  /** Handles bytes, which are valid only during the call; returns false to stop reading if they did not wait. */
  take(bytes: Buffer): boolean
}

/**
 * Collects the short messages that sockets receive during one turn of the event loop, and handles them one after another
 * when the turn ends.
 *
 * Handling each message as it is read costs an eighth more CPU under load, because our code and the kernel's keep
 * displacing each other from the processor's caches.
 *
 * A socket's own events must not overtake its bytes: call `flush` first when it ends, fails or closes.
 */
export class TurnReads {
  readonly #awaitEnd: () => void
  readonly #queue = Buffer.allocUnsafeSlow(queueBytes)
  readonly #handled = new SharedBuffer()
  readonly #readers: (TurnReader | undefined)[] = []
  readonly #ends: number[] = []
  #count = 0
  #next = 0
  #from = 0
  #to = 0

  /** `awaitEnd` must see to it that `flush` is called when the current turn ends. */
  constructor(awaitEnd: () => void) {
    this.#awaitEnd = awaitEnd
  }

  /**
   * Takes the first `count` bytes of a buffer, which a socket has just read: copies them or handles them at once.
   * Returns false if the socket must stop reading.
   */
  add(reader: TurnReader, buffer: SharedBuffer, count: number): boolean {
    // So at most one message of a socket waits, and a later one meets the state that the earlier one left.
    if (reader.hasWaiting || this.#to + count > queueBytes) this.flush()
    if (count > maxReadBytes || !reader.mayWait) return reader.take(buffer.view(count))
    if (this.#count === 0) this.#awaitEnd()
    buffer.bytes.copy(this.#queue, this.#to, 0, count)
    this.#to += count
    this.#readers[this.#count] = reader
    this.#ends[this.#count] = this.#to
    this.#count++
    reader.hasWaiting = true
    return true
  }

  /** Handles all messages that wait, in the order in which they were read. */
  flush(): void {
    while (this.#next < this.#count) {
      const at = this.#next++
      const reader = this.#readers[at]
      const from = this.#from
      const end = this.#ends[at] ?? from
      this.#readers[at] = undefined
      this.#from = end
      if (reader === undefined) continue
      reader.hasWaiting = false
      this.#queue.copy(this.#handled.bytes, 0, from, end)
      reader.take(this.#handled.view(end - from))
    }
    this.#count = this.#next = this.#from = this.#to = 0
  }
}
