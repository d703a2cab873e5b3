import type { Socket } from 'node:net'

const bufferBytes = 64 * 1024
const maxFree = 64

/**
 * Writes chunks that are valid only during the call, by copying them into reused buffers: allocating memory for each
 * chunk of a large body would cost more than sending it.
 */
export class ChunkCopies {
  readonly #free: Buffer[] = []

  write(socket: Socket, chunk: Buffer): void {
    if (chunk.length > bufferBytes) {
      socket.write(Buffer.from(chunk))
      return
    }
    const buffer = this.#free.pop() ?? Buffer.allocUnsafeSlow(bufferBytes)
    chunk.copy(buffer)
    // Runs when the kernel has taken the bytes or the socket has failed: in both cases the buffer is free again.
    socket.write(buffer.subarray(0, chunk.length), () => {
      if (this.#free.length < maxFree) this.#free.push(buffer)
    })
  }
}
