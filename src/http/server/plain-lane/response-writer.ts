import type { Socket } from 'node:net'
import { ChunkCopies } from '../../message/chunk-copies.ts'
import type { RelayedLines, ResponseHead } from '../lane/carrier.ts'
import { turnWrites } from '../../message/end-of-turn.ts'
import { writeRelayed } from './relay-writer.ts'
import { renderResponseHead, renderOwnLines, type ResponseEnding } from './response-head.ts'

const copies = new ChunkCopies()

/** Chunks up to this size are joined with the surrounding bytes into one write. */
const maxJoinedBytes = 16 * 1024

/** How many bytes may wait for the caller to read them before the upstream is paused. */
const maxWaitingBytes = 64 * 1024

/** Writes the responses of one connection, one after the other, in as few writes as possible. */
export class ResponseWriter {
  readonly #socket: Socket
  #isChunked = false
  /** The head of a streamed response; '' once it is written. */
  #head = ''

  constructor(socket: Socket) {
    this.#socket = socket
  }

  respond(head: ResponseHead, ending: ResponseEnding, body: string): void {
    const { text, isChunked } = renderResponseHead(head, ending)
    const rest = isChunked ? `${body === '' ? '' : chunkOf(body)}0\r\n\r\n` : body
    this.#write(text + rest)
  }

  relay(response: RelayedLines, own: readonly string[], ending: ResponseEnding): void {
    const lines = renderOwnLines(response.hasDate, own, ending)
    writeRelayed(this.#socket, response, { lines, ending: ending.bytes })
  }

  begin(head: ResponseHead, ending: ResponseEnding): void {
    const { text, isChunked } = renderResponseHead(head, ending)
    this.#head = text
    this.#isChunked = isChunked
  }

  flushHead(): void {
    if (this.#head === '') return
    this.#write(this.#head)
    this.#head = ''
  }

  write(chunk: Buffer): boolean {
    const head = this.#head
    this.#head = ''
    if (chunk.length <= maxJoinedBytes) {
      const body = chunk.toString('latin1')
      this.#write(head + (this.#isChunked ? chunkOf(body) : body))
      // What is still being collected is not counted, because it is about 64 KiB at most for all sockets together.
      return this.#socket.writableLength <= maxWaitingBytes
    }
    this.#writeLarge(head, chunk)
    // The upstream is paused only if more than `maxWaitingBytes` wait: pausing it for each chunk would cost as much as
    // sending the chunk.
    return this.#socket.writableLength <= maxWaitingBytes
  }

  end(trailers: readonly string[]): void {
    let text = this.#head
    this.#head = ''
    if (this.#isChunked) {
      text += '0\r\n'
      for (let at = 0; at + 1 < trailers.length; at += 2) {
        text += `${trailers[at]}: ${trailers[at + 1]}\r\n`
      }
      text += '\r\n'
    }
    if (text !== '') this.#write(text)
  }

  #writeLarge(head: string, chunk: Buffer): void {
    const before = this.#isChunked ? `${head}${chunk.length.toString(16)}\r\n` : head
    turnWrites.flush()
    this.#socket.cork()
    if (before !== '') this.#socket.write(before, 'latin1')
    // The code that passes the chunk reuses its buffer at once, so the bytes are copied.
    copies.write(this.#socket, chunk)
    if (this.#isChunked) this.#socket.write('\r\n', 'latin1')
    this.#socket.uncork()
  }

  #write(text: string): void {
    turnWrites.addText(this.#socket, text)
  }
}

function chunkOf(body: string): string {
  return `${body.length.toString(16)}\r\n${body}\r\n`
}
