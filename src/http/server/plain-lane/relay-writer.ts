import type { Socket } from 'node:net'
import { SharedBuffer } from '../../message/shared-buffer.ts'
import type { RelayedLines } from '../lane/carrier.ts'

/** What follows the upstream's lines in a head. */
export interface RestOfHead {
  /** Header lines whose characters are bytes. */
  readonly lines: string
  /** The last lines, which most responses share, and the empty line; copying bytes is cheaper than writing text. */
  readonly ending: Buffer
}

/**
 * Writes each relayed response in one write. Most responses are assembled in one buffer that all sockets share, because
 * allocating memory for each response would cost more than copying its bytes.
 */
export class RelayWriter {
  #shared = new SharedBuffer()

  /** Writes the upstream's lines, then the rest of the head, then the body. */
  write(socket: Socket, response: RelayedLines, rest: RestOfHead): void {
    const restBytes = rest.lines.length + rest.ending.length
    const length = response.lineBytes + restBytes + response.bodyBytes
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

function fill(buffer: Buffer, response: RelayedLines, { lines, ending }: RestOfHead): void {
  const linesAt = response.copyLines(buffer, 0)
  const endingAt = linesAt + buffer.write(lines, linesAt, 'latin1')
  buffer.set(ending, endingAt)
  response.copyBody(buffer, endingAt + ending.length)
}
