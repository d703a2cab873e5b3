import type { Socket } from 'node:net'
import { turnWrites } from '../../message/end-of-turn.ts'
import type { RelayedLines } from '../lane/carrier.ts'

/** What follows the upstream's lines in a head. */
export interface RestOfHead {
  /** Header lines whose characters are bytes. */
  readonly lines: string
  /** The last lines, which most responses share, and the empty line; copying bytes is cheaper than writing text. */
  readonly ending: Buffer
}

/**
 * Collects a relayed response as one message, to be written at the end of this turn: the upstream's lines, the rest of
 * the head, the body.
 */
export function writeRelayed(socket: Socket, response: RelayedLines, rest: RestOfHead): void {
  const { lines, ending } = rest
  const length = response.lineBytes + lines.length + ending.length + response.bodyBytes
  turnWrites.makeRoom(length)
  const { bytes, at } = turnWrites
  const linesAt = response.copyLines(bytes, at)
  const endingAt = linesAt + bytes.write(lines, linesAt, 'latin1')
  bytes.set(ending, endingAt)
  response.copyBody(bytes, endingAt + ending.length)
  turnWrites.add(socket, length)
}
