import type { Socket } from 'node:net'
import { SharedBuffer } from './shared-buffer.ts'

/**
 * Assembles messages in one buffer that all sockets share, because allocating memory for each message would cost more
 * than copying its bytes. Each message takes three steps: `bufferFor`, filling that buffer, and `write`.
 */
export class SharedWrites {
  #shared = new SharedBuffer()

  /** Returns a buffer with room for a message, which must be written before another one is assembled. */
  bufferFor(socket: Socket, length: number): Buffer {
    const { bytes } = this.#shared
    // Bytes that wait behind others in the socket would be overwritten by the next message.
    return socket.writableLength > 0 || length > bytes.length ? Buffer.allocUnsafe(length) : bytes
  }

  /** Writes the first bytes of a buffer from `bufferFor`, as one write. */
  write(socket: Socket, buffer: Buffer, length: number): void {
    const shared = this.#shared
    if (buffer !== shared.bytes) {
      socket.write(buffer)
      return
    }
    socket.write(shared.view(length))
    // If the kernel did not take all bytes at once, the socket still needs this buffer, so the next message gets a new
    // one.
    if (socket.writableLength > 0) this.#shared = new SharedBuffer()
  }
}
