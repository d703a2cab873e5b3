import type { Socket } from 'node:net'

const bufferBytes = 64 * 1024
/** Longer texts are written at once, because copying them costs more than it saves. */
const maxTextBytes = 32 * 1024

/**
 * Collects the short messages that sockets get during one turn of the event loop, and writes them one after another
 * when the turn ends.
 *
 * Writing each message at once costs a fifth more CPU under load: our code and the kernel's keep displacing each other
 * from the processor's caches, and the program at the other end falls asleep and must be woken for every message.
 *
 * Call `flush` before you write to such a socket in any other way, end it or destroy it; otherwise the collected bytes
 * would be out of order or lost.
 */
export class TurnWrites {
  /** The buffer in which the next message is assembled, from `at` on. */
  bytes = Buffer.allocUnsafeSlow(bufferBytes)
  at = 0
  /**
   * The number of the batch being collected; a message has been written once this is greater than the number that `add`
   * returned for it.
   */
  batch = 0
  readonly #awaitEnd: () => void
  readonly #sockets: (Socket | undefined)[] = []
  readonly #ends: number[] = []
  #count = 0

  /** `awaitEnd` must see to it that `flush` is called when the current turn ends. */
  constructor(awaitEnd: () => void) {
    this.#awaitEnd = awaitEnd
  }

  /** Makes room for a message of this length; it must be assembled and added before room is made for another one. */
  makeRoom(length: number): void {
    if (this.at + length <= this.bytes.length) return
    this.flush()
    if (length > this.bytes.length) this.bytes = Buffer.allocUnsafeSlow(length)
  }

  /** Adds the message of this length that was assembled at `at`; returns the number of its batch. */
  add(socket: Socket, length: number): number {
    if (this.#count === 0) this.#awaitEnd()
    this.at += length
    this.#sockets[this.#count] = socket
    this.#ends[this.#count] = this.at
    this.#count++
    return this.batch
  }

  /**
   * Adds a message whose characters are bytes (latin1); returns the number of its batch, or -1 if it was too long to be
   * collected and has already been written.
   */
  addText(socket: Socket, text: string): number {
    if (text.length > maxTextBytes) {
      this.flush()
      socket.write(text, 'latin1')
      return -1
    }
    this.makeRoom(text.length)
    this.bytes.write(text, this.at, 'latin1')
    return this.add(socket, text.length)
  }

  /** Writes all messages that have been added. */
  flush(): void {
    if (this.#count === 0) return
    const { bytes } = this
    let isWaiting = false
    let from = 0
    // Sockets report completion, errors and `drain` in a later tick, so nothing is added during this loop.
    for (let at = 0; at < this.#count; at++) {
      const socket = this.#sockets[at]
      const end = this.#ends[at] ?? from
      this.#sockets[at] = undefined
      if (socket?.destroyed === false && write(socket, bytes.subarray(from, end))) isWaiting = true
      from = end
    }
    this.#count = 0
    this.at = 0
    this.batch++
    // If the kernel did not take all of a socket's bytes, that socket still needs this buffer.
    if (isWaiting || bytes.length > bufferBytes) this.bytes = Buffer.allocUnsafeSlow(bufferBytes)
  }
}

/** Writes a message; returns whether the socket still needs its bytes, which at most one message of a socket does. */
function write(socket: Socket, message: Buffer): boolean {
  // A message that must wait behind others is copied, because a view of it would keep the whole buffer in memory.
  if (socket.writableLength > 0) {
    socket.write(Buffer.from(message))
    return false
  }
  socket.write(message)
  return socket.writableLength > 0
}
