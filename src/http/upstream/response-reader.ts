import { mayTrailResponse } from '../message/header-rules.ts'
import {
  MalformedResponse,
  parseUpstreamHead,
  parseTrailers,
  readKeepAlive,
} from './response-head.ts'
import type { UpstreamResponseHead } from './response-head.ts'
import { UsualResponses, type UsualResponse } from './usual-response.ts'

/** Receives a response in the order head, data…, end. Chunks are views that are valid only during the call. */
export interface AnswerSink {
  /** A 1xx response other than 101. */
  interim(head: UpstreamResponseHead): void
  /** A 101; the following bytes (`rest`) are no longer HTTP. */
  switched(head: UpstreamResponseHead, rest: Buffer): void
  head(head: UpstreamResponseHead): void
  /**
   * Called instead of head, data and end if the response has no body, or a short body of known length that arrived
   * together with the end of the head; `body` has one character per byte.
   */
  whole(head: UpstreamResponseHead, body: string): void
  /** Whether `usual` may be called instead of `whole`. */
  readonly takesUsual: boolean
  usual(response: UsualResponse): void
  data(chunk: Buffer): void
  end(trailers: string[]): void
}

type State =
  | 'idle'
  | 'head'
  | 'length'
  | 'close'
  | 'chunk-size'
  | 'chunk-data'
  | 'chunk-end'
  | 'trailers'
  | 'switched'

const headBytes = 64 * 1024
const wholeBytes = 16 * 1024
const lineBytes = 1024
const trailerBytes = 16 * 1024
const maxInterims = 16

const usualResponses = new UsualResponses()

/** Parses the responses of one connection from its bytes; throws `MalformedResponse` for anything ambiguous. */
export class AnswerReader {
  #state: State = 'idle'
  #sink: AnswerSink | undefined
  #method = ''
  #maySwitch = false
  #mayBeUsual = false
  #partial = ''
  #left = 0
  #interims = 0
  #started = false
  #keepAlive = false
  #keepAliveMs: number | undefined

  /** Whether the connection can carry another request after this response. */
  get reusable(): boolean {
    return this.#state === 'idle' && this.#keepAlive
  }

  /** Milliseconds for which the upstream promised to keep the connection; undefined if it did not say. */
  get keepAliveMs(): number | undefined {
    return this.#keepAliveMs
  }

  get started(): boolean {
    return this.#started
  }

  get busy(): boolean {
    return this.#state !== 'idle'
  }

  expect(sink: AnswerSink, method: string, maySwitch: boolean): void {
    this.#sink = sink
    this.#method = method
    this.#maySwitch = maySwitch
    this.#mayBeUsual = sink.takesUsual && method !== 'HEAD' && !maySwitch
    this.#state = 'head'
    this.#partial = ''
    this.#interims = 0
    this.#started = false
    this.#keepAlive = true
  }

  /** Bytes beyond the response make the connection unusable for another request. */
  read(bytes: Buffer): void {
    this.#started = true
    let at = 0
    while (at < bytes.length) {
      if (this.#state === 'idle') {
        this.#keepAlive = false
        return
      }
      at = this.#step(bytes, at)
    }
  }

  /** Called when the upstream has closed its side; throws if that cuts the response short. */
  close(): void {
    if (this.#state === 'close') {
      this.#done([])
      return
    }
    if (this.#state !== 'idle')
      throw new MalformedResponse('the upstream closed before its answer ended')
  }

  #step(bytes: Buffer, at: number): number {
    switch (this.#state) {
      case 'head':
        return this.#readHead(bytes, at)
      case 'length':
        return this.#readLength(bytes, at)
      case 'close':
        this.#sink?.data(bytes.subarray(at))
        return bytes.length
      case 'chunk-size':
        return this.#readChunkSize(bytes, at)
      case 'chunk-data':
        return this.#readChunkData(bytes, at)
      case 'chunk-end':
        return this.#readChunkEnd(bytes, at)
      case 'trailers':
        return this.#readTrailers(bytes, at)
      default:
        return bytes.length
    }
  }

  #readHead(bytes: Buffer, at: number): number {
    const before = this.#partial
    if (this.#mayBeUsual && before === '') {
      const response = usualResponses.read(bytes, at)
      if (response !== undefined) return this.#usual(response, bytes.length)
    }
    const text = before + bytes.toString('latin1', at, Math.min(bytes.length, at + headBytes))
    const end = text.indexOf('\r\n\r\n', Math.max(0, before.length - 3))
    if (end === -1) {
      if (text.length >= headBytes) throw new MalformedResponse('the head is too large')
      // A head with bare line feeds would otherwise never seem complete, because its end is recognized by CRLF.
      if (/(?:^|[^\r])\n|\0/.test(text))
        throw new MalformedResponse('bare line feed or NUL in the head')
      this.#partial = text
      return bytes.length
    }
    if (end > headBytes) throw new MalformedResponse('the head is too large')
    this.#partial = ''
    const head = parseUpstreamHead(text.slice(0, end), this.#method)
    const bodyAt = at + end + 4 - before.length
    if (head.status < 200) return this.#interim(head, bytes, bodyAt)
    this.#keepAlive = head.keepAlive
    this.#keepAliveMs = head.keepAliveMs
    if (head.framing === 'length' && head.contentLength <= wholeBytes) {
      const bodyEnd = bodyAt + head.contentLength
      if (bodyEnd <= bytes.length && end + 4 + head.contentLength <= text.length) {
        this.#whole(head, text.slice(end + 4, end + 4 + head.contentLength))
        return bodyEnd
      }
    }
    if (head.framing === 'none') {
      this.#whole(head, '')
      return bodyAt
    }
    this.#begin(head)
    return bodyAt
  }

  #interim(head: UpstreamResponseHead, bytes: Buffer, bodyAt: number): number {
    if (head.status === 101) {
      if (!this.#maySwitch)
        throw new MalformedResponse('101 to a request that asked for no upgrade')
      this.#state = 'switched'
      this.#keepAlive = false
      this.#sink?.switched(head, Buffer.from(bytes.subarray(bodyAt)))
      return bytes.length
    }
    if (++this.#interims > maxInterims) throw new MalformedResponse('too many interim answers')
    this.#sink?.interim(head)
    return bodyAt
  }

  #begin(head: UpstreamResponseHead): void {
    this.#left = head.contentLength
    this.#state =
      head.framing === 'chunked' ? 'chunk-size' : head.framing === 'length' ? 'length' : 'close'
    this.#sink?.head(head)
  }

  #whole(head: UpstreamResponseHead, body: string): void {
    const sink = this.#sink
    this.#state = 'idle'
    this.#sink = undefined
    sink?.whole(head, body)
  }

  #usual(response: UsualResponse, end: number): number {
    const sink = this.#sink
    this.#keepAliveMs = readKeepAlive(response.keepAlive)
    this.#state = 'idle'
    this.#sink = undefined
    sink?.usual(response)
    return end
  }

  #readLength(bytes: Buffer, at: number): number {
    const to = Math.min(bytes.length, at + this.#left)
    this.#left -= to - at
    this.#sink?.data(bytes.subarray(at, to))
    if (this.#left === 0) this.#done([])
    return to
  }

  #readChunkSize(bytes: Buffer, at: number): number {
    const [line, next] = this.#line(bytes, at, lineBytes)
    if (line === undefined) return next
    // Chunk extensions are legal and dropped; anything else after the size is malformed (RFC 9112, section 7.1).
    const size = /^([0-9a-fA-F]{1,12})(?:[ \t]*;[\t\x20-\x7e\x80-\xff]*)?$/.exec(line)?.[1]
    if (size === undefined) throw new MalformedResponse('chunk size')
    this.#left = Number.parseInt(size, 16)
    this.#state = this.#left === 0 ? 'trailers' : 'chunk-data'
    return next
  }

  #readChunkData(bytes: Buffer, at: number): number {
    const to = Math.min(bytes.length, at + this.#left)
    this.#left -= to - at
    this.#sink?.data(bytes.subarray(at, to))
    if (this.#left === 0) this.#state = 'chunk-end'
    return to
  }

  #readChunkEnd(bytes: Buffer, at: number): number {
    const [line, next] = this.#line(bytes, at, 2)
    if (line === undefined) return next
    if (line !== '') throw new MalformedResponse('chunk end')
    this.#state = 'chunk-size'
    return next
  }

  #readTrailers(bytes: Buffer, at: number): number {
    const before = this.#partial
    const text = before + bytes.toString('latin1', at, Math.min(bytes.length, at + trailerBytes))
    if (text.startsWith('\r\n')) {
      this.#partial = ''
      this.#done([])
      return at + 2 - before.length
    }
    const end = text.indexOf('\r\n\r\n')
    if (end === -1) {
      if (text.length >= trailerBytes) throw new MalformedResponse('the trailers are too large')
      this.#partial = text
      return bytes.length
    }
    this.#partial = ''
    this.#done(parseTrailers(text.slice(0, end), mayTrailResponse))
    return at + end + 4 - before.length
  }

  /** Returns the line without its CRLF, or undefined if it is incomplete, and the offset after the bytes read. */
  #line(bytes: Buffer, at: number, atMost: number): [string | undefined, number] {
    const feed = bytes.indexOf(10, at)
    const end = feed === -1 ? bytes.length : feed + 1
    if (end - at + this.#partial.length > atMost) throw new MalformedResponse('a line is too long')
    const text = this.#partial + bytes.toString('latin1', at, end)
    if (feed === -1) {
      this.#partial = text
      return [undefined, end]
    }
    this.#partial = ''
    if (!text.endsWith('\r\n')) throw new MalformedResponse('bare line feed')
    return [text.slice(0, -2), end]
  }

  #done(trailers: string[]): void {
    const sink = this.#sink
    if (this.#state === 'close') this.#keepAlive = false
    this.#state = 'idle'
    this.#sink = undefined
    sink?.end(trailers)
  }
}
