import type { Socket } from 'node:net'
import { SharedWrites } from '../../message/shared-writes.ts'
import type { RelayedLines } from '../lane/carrier.ts'

/** What follows the upstream's lines in a head. */
export interface RestOfHead {
  /** Header lines whose characters are bytes. */
  readonly lines: string
  /** The last lines, which most responses share, and the empty line; copying bytes is cheaper than writing text. */
  readonly ending: Buffer
}

const writes = new SharedWrites()

/** Writes a relayed response as one write: the upstream's lines, then the rest of the head, then the body. */
export function writeRelayed(socket: Socket, response: RelayedLines, rest: RestOfHead): void {
  const { lines, ending } = rest
  const length = response.lineBytes + lines.length + ending.length + response.bodyBytes
  const buffer = writes.bufferFor(socket, length)
  const linesAt = response.copyLines(buffer, 0)
  const endingAt = linesAt + buffer.write(lines, linesAt, 'latin1')
  buffer.set(ending, endingAt)
  response.copyBody(buffer, endingAt + ending.length)
  writes.write(socket, buffer, length)
}
