import type { Socket } from 'node:net'
import { SharedBuffer } from '../../message/shared-buffer.ts'
import type { RelayedLines } from '../lane/carrier.ts'

/**
 * Writes each relayed response in one write. Most responses are assembled in one buffer that all sockets share, because
 * allocating memory for each response would cost more than copying its bytes.
 */
export class RelayWriter {
  #shared = new SharedBuffer()

  /** Writes the upstream's lines, then the rest of the head (characters are bytes), then the body. */
  write(socket: Socket, response: RelayedLines, rest: string): void {
    const length = response.lineBytes + rest.length + response.bodyBytes
    const shared = this.#shared
    // Bytes that wait behind others in the socket would be overwritten by the next response.
    if (socket.writableLength > 0 || length > shared.bytes.length) {
      const own = Buffer.allocUnsafe(length)
      fill(own, response, rest)
      socket.write(own)
      return
    }
    fill(shared.bytes, response, rest)
    socket.write(shared.view(length))
    // If the kernel did not take all bytes at once, the socket still needs this buffer, so the next response gets a new
    // one.
    if (socket.writableLength > 0) this.#shared = new SharedBuffer()
  }
}

function fill(buffer: Buffer, response: RelayedLines, rest: string): void {
  const restAt = response.copyLines(buffer, 0)
  response.copyBody(buffer, restAt + buffer.write(rest, restAt, 'latin1'))
}
