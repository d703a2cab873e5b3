import { codes, isTokenCode } from '../message/codes.ts'
import { HeaderNames } from '../message/header-names.ts'
import { responseHeaderFate } from '../message/header-rules.ts'
import type { RelayedLines } from '../server/lane/carrier.ts'

/**
 * A complete response whose header lines are passed on unchanged or dropped; it is valid until the next response is
 * read.
 */
export interface UsualResponse extends RelayedLines {
  readonly status: number
  /** The value of Keep-Alive; '' if there is none. */
  readonly keepAlive: string
}

const maxFields = 64
const maxBodyBytes = 16 * 1024
const maxLengthDigits = 6
const version = Buffer.from('HTTP/1.1 ')
const noBytes = Buffer.alloc(0)

const cr = 0x0d
const lf = 0x0a
const space = 0x20
const colon = 0x3a
const zero = 0x30

const kinds = { passes: 0, unusual: 1, length: 2, date: 3, connection: 4, keepAlive: 5 } as const
type Kind = (typeof kinds)[keyof typeof kinds]

/**
 * Reads only responses that arrive whole and whose headers need no decision; for these, the full parser gives the same
 * result.
 */
export class UsualResponses implements UsualResponse {
  status = 0
  hasDate = false
  lineBytes = 0
  readonly #names = new HeaderNames<Kind>(usual, kindOf)
  #bytes: Buffer = noBytes
  #start = 0
  /** The offset of the empty line that ends the head. */
  #end = 0
  /** The length of the body; -1 if the head has no Content-Length. */
  #length = -1
  #keepAliveAt = 0
  #keepAliveEnd = 0
  /** Pairs of offsets: where each dropped line starts and ends. */
  readonly #gaps = new Uint32Array(2 * maxFields)
  #gapCount = 0
  #droppedBytes = 0

  /** Reads the response that starts at an offset; returns undefined if the full parser must read it. */
  read(bytes: Buffer, start: number): UsualResponse | undefined {
    const status = statusAt(bytes, start)
    if (status === 0) return undefined
    const fieldsAt = lineEnd(bytes, start + version.length + 4)
    const end = fieldsAt === 0 ? 0 : this.#readFields(bytes, fieldsAt)
    if (end === 0 || this.#length === -1 || this.#length > maxBodyBytes) return undefined
    if (end + 2 + this.#length !== bytes.length) return undefined
    this.status = status
    this.lineBytes = end - start - this.#droppedBytes
    this.#bytes = bytes
    this.#start = start
    this.#end = end
    return this
  }

  get bodyBytes(): number {
    return this.#length
  }

  get keepAlive(): string {
    return this.#bytes.toString('latin1', this.#keepAliveAt, this.#keepAliveEnd)
  }

  copyLines(to: Buffer, at: number): number {
    let from = this.#start
    let next = at
    for (let gap = 0; gap < this.#gapCount; gap++) {
      next += this.#bytes.copy(to, next, from, this.#gaps[2 * gap])
      from = this.#gaps[2 * gap + 1] ?? 0
    }
    return next + this.#bytes.copy(to, next, from, this.#end)
  }

  copyBody(to: Buffer, at: number): void {
    this.#bytes.copy(to, at, this.#end + 2)
  }

  /** Returns the offset of the empty line that ends the header lines; 0 if the full parser must read them. */
  #readFields(bytes: Buffer, start: number): number {
    this.#length = -1
    this.hasDate = false
    this.#keepAliveAt = this.#keepAliveEnd = start
    this.#gapCount = 0
    this.#droppedBytes = 0
    let at = start
    for (let count = 0; count < maxFields; count++) {
      if (bytes[at] === cr) return bytes[at + 1] === lf ? at : 0
      at = this.#readField(bytes, at)
      if (at === 0) return 0
    }
    return 0
  }

  /** Returns the offset of the next header line; 0 if the full parser must read this one. */
  #readField(bytes: Buffer, at: number): number {
    let nameEnd = at
    while (tokenCodes[bytes[nameEnd] ?? 0] === 1) nameEnd++
    if (nameEnd === at || bytes[nameEnd] !== colon || bytes[nameEnd + 1] !== space) return 0
    const from = nameEnd + 2
    const next = lineEnd(bytes, from)
    const to = next - 2
    // A line with extra spaces around its value, or without a value, cannot be passed on unchanged, so it is unusual.
    if (next === 0 || to === from || bytes[from] === space || bytes[to - 1] === space) return 0
    this.#names.find(bytes, at, nameEnd)
    switch (this.#names.kind) {
      case kinds.passes:
        return next
      case kinds.date:
        this.hasDate = true
        return next
      case kinds.length:
        if (this.#length !== -1) return 0
        this.#length = lengthAt(bytes, from, to)
        return this.#length === -1 ? 0 : next
      case kinds.connection:
        return isKeepAlive(bytes, from, to) ? this.#drop(at, next) : 0
      case kinds.keepAlive:
        if (this.#keepAliveEnd !== this.#keepAliveAt) return 0
        this.#keepAliveAt = from
        this.#keepAliveEnd = to
        return this.#drop(at, next)
      default:
        return 0
    }
  }

  #drop(at: number, next: number): number {
    this.#gaps[2 * this.#gapCount] = at
    this.#gaps[2 * this.#gapCount + 1] = next
    this.#gapCount++
    this.#droppedBytes += next - at
    return next
  }
}

/** Returns the status of a response with a body; 0 if the full parser must read the response. */
function statusAt(bytes: Buffer, at: number): number {
  for (let offset = 0; offset < version.length; offset++) {
    if (bytes[at + offset] !== version[offset]) return 0
  }
  const digits = at + version.length
  if (bytes[digits + 3] !== space) return 0
  let status = 0
  for (let offset = 0; offset < 3; offset++) {
    const digit = (bytes[digits + offset] ?? 0) - zero
    if (digit < 0 || digit > 9) return 0
    status = status * 10 + digit
  }
  return status >= 200 && status <= 599 && status !== 204 && status !== 304 ? status : 0
}

/** Returns the offset of the next line; 0 if this one has no CRLF or contains control characters. */
function lineEnd(bytes: Buffer, from: number): number {
  let at = from
  while (textCodes[bytes[at] ?? 0] === 1) at++
  return bytes[at] === cr && bytes[at + 1] === lf ? at + 2 : 0
}

/** Parses a decimal number without leading zeros; returns -1 for anything else, and for too many digits. */
function lengthAt(bytes: Buffer, from: number, to: number): number {
  if (to - from > maxLengthDigits || (bytes[from] === zero && to - from > 1)) return -1
  let length = 0
  for (let at = from; at < to; at++) {
    const digit = (bytes[at] ?? 0) - zero
    if (digit < 0 || digit > 9) return -1
    length = length * 10 + digit
  }
  return length
}

function isKeepAlive(bytes: Buffer, from: number, to: number): boolean {
  if (to - from !== keepAlive.length) return false
  for (let offset = 0; offset < keepAlive.length; offset++) {
    if (bytes[from + offset] !== keepAlive[offset]) return false
  }
  return true
}

const keepAlive = Buffer.from('keep-alive')

function kindOf(lower: string): Kind {
  if (lower === 'connection') return kinds.connection
  if (lower === 'keep-alive') return kinds.keepAlive
  if (responseHeaderFate(lower) !== 'pass') return kinds.unusual
  if (lower === 'content-length') return kinds.length
  return lower === 'date' ? kinds.date : kinds.passes
}

// Tables are made in this module, because V8 reads an imported constant anew for each byte.
const tokenCodes = codes(isTokenCode)
const textCodes = codes((code) => code >= 0x20 && code !== 0x7f)

const usual = [
  'Connection',
  'Content-Length',
  'Content-Type',
  'Date',
  'Keep-Alive',
  'Server',
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'server',
]
