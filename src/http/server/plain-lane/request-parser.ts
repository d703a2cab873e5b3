import { codes, isTokenCode } from '../../message/codes.ts'
import type { RequestHead } from '../../message/head.ts'
import { nameKind, requestNames, type NameKind } from './header-names.ts'

/**
 * The header lines of an ordinary request. Later requests on the same connection with the same lines may share this
 * object.
 */
export interface PlainFields {
  /** Names and values in a flat list, as in node:http. */
  readonly rawHeaders: readonly string[]
  /** -1 if there is no Content-Length. */
  readonly contentLength: number
  /** Whether the caller sent `Connection: close`. */
  readonly closes: boolean
  /** The lines and the empty line after them; undefined unless they are kept to be compared with further requests. */
  bytes: Buffer | undefined
  /** The head that was read from the lines; undefined until it is needed. */
  head: RequestHead | undefined
}

/** What a connection keeps of its earlier requests, to recognize it in later ones. */
export interface KeptParts {
  /** Header lines of a request whose method usually has no body; undefined if none are kept. */
  readonly withoutBody: PlainFields | undefined
  /** Header lines of a request whose method usually has a body (`hasBody`); undefined if none are kept. */
  readonly withBody: PlainFields | undefined
  /** The latest request's URL, which passed all checks; '' if it is not kept. */
  readonly url: string
}

/** The head of an ordinary request. */
export interface PlainRequest {
  readonly method: string
  readonly url: string
  readonly fields: PlainFields
  readonly fieldsAt: number
  readonly bodyAt: number
}

/**
 * The result of parsing some bytes: the complete head of an ordinary request, the start of one, or anything else, which
 * is left to the standard lane.
 */
export type ParseOutcome = PlainRequest | 'partial' | 'unusual'

const maxHeaders = 64
const maxHeadBytes = 8 * 1024
const maxLengthDigits = 15
const versionLine = Buffer.from('HTTP/1.1\r\n')

const cr = 0x0d
const lf = 0x0a
const space = 0x20
const colon = 0x3a

/**
 * Parses the heads of ordinary requests (RFC 9112, sections 3 and 5) and nothing else: one of seven methods,
 * origin-form at or below the gateway's prefix, HTTP/1.1, complete lines with CRLF, printable ASCII in values, at most
 * one Content-Length. It never repairs anything: a single doubtful byte makes the request unusual.
 */
export class RequestParser {
  readonly #prefix: Buffer
  readonly #urlBytes: number
  readonly #headBytes: number
  readonly #names = requestNames()
  readonly #valueStarts = new Uint32Array(maxHeaders)
  readonly #valueEnds = new Uint32Array(maxHeaders)
  readonly #isKept = new Uint8Array(maxHeaders)
  #rawHeaders: string[] = []
  #count = 0
  #contentLength = -1
  #connection = 0

  constructor(limits: { prefix: string; urlBytes: number; headBytes: number }) {
    this.#prefix = Buffer.from(limits.prefix, 'latin1')
    this.#urlBytes = limits.urlBytes
    this.#headBytes = Math.min(limits.headBytes, maxHeadBytes)
  }

  /**
   * Parses the head that starts at an offset. A URL or header lines that equal the kept ones, which come from earlier
   * requests on the connection, are not parsed again.
   */
  parse(bytes: Buffer, start: number, kept: KeptParts = nothingKept): ParseOutcome {
    const end = Math.min(bytes.length, start + this.#headBytes)
    // If there are enough bytes for the largest head but they do not contain its end, waiting for more would be
    // pointless.
    const short = end === bytes.length ? 'partial' : 'unusual'

    const method = methodAt(bytes, start)
    if (method === undefined) return 'unusual'
    const urlAt = matchEnd(bytes, { at: start, end, wanted: method.start })
    if (urlAt < 0) return urlAt === ranOut ? short : 'unusual'

    const keptEnd = endOfKeptUrl(bytes, urlAt, kept.url)
    const isSameUrl = keptEnd > 0 && keptEnd < end
    const urlEnd = isSameUrl ? keptEnd : this.#urlEnd(bytes, urlAt, end)
    if (urlEnd < 0) return urlEnd === ranOut ? short : 'unusual'
    const fieldsAt = matchEnd(bytes, { at: urlEnd + 1, end, wanted: versionLine })
    if (fieldsAt < 0) return fieldsAt === ranOut ? short : 'unusual'

    const keptFields = hasBody(method.name) ? kept.withBody : kept.withoutBody
    const bodyAt = endOfKept(bytes, fieldsAt, keptFields)
    if (keptFields !== undefined && bodyAt > 0 && bodyAt <= end) {
      const url = isSameUrl ? kept.url : bytes.toString('latin1', urlAt, urlEnd)
      return { method: method.name, url, fields: keptFields, fieldsAt, bodyAt }
    }
    const fieldsEnd = this.#readFields(bytes, fieldsAt, end)
    if (fieldsEnd < 0) return fieldsEnd === ranOut ? short : 'unusual'
    this.#fillValues(bytes, fieldsAt, fieldsEnd)
    const fields = {
      rawHeaders: this.#rawHeaders,
      contentLength: this.#contentLength,
      closes: this.#connection === closeOption,
      bytes: undefined,
      head: undefined,
    }
    const url = isSameUrl ? kept.url : bytes.toString('latin1', urlAt, urlEnd)
    return { method: method.name, url, fields, fieldsAt, bodyAt: fieldsEnd + 2 }
  }

  /** Parses all header lines; returns the offset of the empty line that ends them, or `ranOut` or `mismatch`. */
  #readFields(bytes: Buffer, start: number, end: number): number {
    this.#rawHeaders = []
    this.#count = 0
    this.#contentLength = -1
    this.#connection = 0
    let at = start
    while (at < end && bytes[at] !== cr) {
      at = this.#field(bytes, at, end)
      if (at < 0) return at
    }
    if (at + 1 >= end) return ranOut
    return bytes[at + 1] === lf ? at : mismatch
  }

  /** Returns the offset of the space after the URL, or `ranOut` or `mismatch`. */
  #urlEnd(bytes: Buffer, urlAt: number, end: number): number {
    const rest = matchEnd(bytes, { at: urlAt, end, wanted: this.#prefix })
    if (rest < 0) return rest
    if (rest < end && !isPrefixEnd(bytes[rest] ?? 0)) return mismatch
    let at = rest
    while (at < end && urlCodes[bytes[at] ?? 0] === 1) at++
    if (at - urlAt > this.#urlBytes) return mismatch
    if (at === end) return ranOut
    return bytes[at] === space ? at : mismatch
  }

  /** Parses one header line with its CRLF; returns the offset of the next line, or `ranOut` or `mismatch`. */
  #field(bytes: Buffer, at: number, end: number): number {
    const nameEnd = tokenEnd(bytes, at, end)
    if (nameEnd === end) return ranOut
    if (nameEnd === at || bytes[nameEnd] !== colon || this.#count === maxHeaders) return mismatch
    const name = this.#names.find(bytes, at, nameEnd)
    const { kind } = this.#names
    if (kind === nameKind.unusual || this.#isSecond(kind)) return mismatch

    let from = nameEnd + 1
    while (from < end && bytes[from] === space) from++
    let lineEnd = from
    while (lineEnd < end && valueCodes[bytes[lineEnd] ?? 0] === 1) lineEnd++
    if (lineEnd < end && bytes[lineEnd] !== cr) return mismatch
    if (lineEnd + 1 >= end) return this.#isDoubtful(bytes, from, lineEnd) ? mismatch : ranOut
    if (bytes[lineEnd + 1] !== lf) return mismatch
    let to = lineEnd
    while (to > from && bytes[to - 1] === space) to--

    if (kind !== nameKind.ordinary && !this.#noteFraming(bytes, from, to)) return mismatch
    this.#rawHeaders.push(name, '')
    this.#valueStarts[this.#count] = from
    this.#valueEnds[this.#count] = to
    this.#isKept[this.#count] = kind === nameKind.kept ? 1 : 0
    this.#count++
    return lineEnd + 2
  }

  #isSecond(kind: NameKind): boolean {
    return (
      (kind === nameKind.contentLength && this.#contentLength !== -1) ||
      (kind === nameKind.connection && this.#connection !== 0)
    )
  }

  /**
   * Whether the start of a Content-Length is unusual already, so that waiting for its end would be pointless. False for
   * any other header.
   */
  #isDoubtful(bytes: Buffer, from: number, to: number): boolean {
    return (
      this.#names.kind === nameKind.contentLength && to > from && lengthAt(bytes, from, to) === -1
    )
  }

  /** Records what a header says about the body or the connection; returns false if the value is unusual. */
  #noteFraming(bytes: Buffer, from: number, to: number): boolean {
    const { kind } = this.#names
    if (kind === nameKind.contentLength) {
      this.#contentLength = lengthAt(bytes, from, to)
      return this.#contentLength !== -1
    }
    if (kind === nameKind.connection) {
      this.#connection = connectionAt(bytes, from, to)
      return this.#connection !== 0
    }
    return true
  }

  #fillValues(bytes: Buffer, start: number, end: number): void {
    const text = bytes.toString('latin1', start, end)
    for (let count = 0; count < this.#count; count++) {
      const from = this.#valueStarts[count] ?? 0
      const to = this.#valueEnds[count] ?? 0
      // A slice keeps the whole string in memory, so a value that is kept longer is copied.
      this.#rawHeaders[count * 2 + 1] =
        this.#isKept[count] === 1
          ? bytes.toString('latin1', from, to)
          : text.slice(from - start, to - start)
    }
  }
}

const nothingKept: KeptParts = { withoutBody: undefined, withBody: undefined, url: '' }

const ranOut = -1
const mismatch = -2

/** Matches bytes at an offset; returns the offset after them, `ranOut` if the bytes end first, or `mismatch`. */
function matchEnd(bytes: Buffer, given: { at: number; end: number; wanted: Buffer }): number {
  const { at, end, wanted } = given
  for (let offset = 0; offset < wanted.length; offset++) {
    if (at + offset >= end) return ranOut
    if (bytes[at + offset] !== wanted[offset]) return mismatch
  }
  return at + wanted.length
}

/** Returns the offset after the kept URL; 0 if the bytes at this offset are not this URL and a space. */
function endOfKeptUrl(bytes: Buffer, at: number, url: string): number {
  const end = at + url.length
  if (url === '' || bytes[end] !== space) return 0
  // URLs of one program mostly differ at their ends.
  for (let offset = url.length - 1; offset >= 0; offset--) {
    if (bytes[at + offset] !== url.charCodeAt(offset)) return 0
  }
  return end
}

/** Returns the offset after the kept header lines; 0 if the bytes at this offset differ from them. */
function endOfKept(bytes: Buffer, at: number, fields: PlainFields | undefined): number {
  const lines = fields?.bytes
  if (lines === undefined) return 0
  const end = at + lines.length
  const isSame = end <= bytes.length && bytes.compare(lines, 0, lines.length, at, end) === 0
  return isSame ? end : 0
}

interface Method {
  readonly name: string
  /** How a request with this method starts: the name and a space. */
  readonly start: Buffer
}

const methods = {
  get: methodOf('GET'),
  head: methodOf('HEAD'),
  delete: methodOf('DELETE'),
  options: methodOf('OPTIONS'),
  put: methodOf('PUT'),
  patch: methodOf('PATCH'),
  post: methodOf('POST'),
}

function methodOf(name: string): Method {
  return { name, start: Buffer.from(`${name} `, 'latin1') }
}

/**
 * Returns the only method that can start with the letters at this offset; undefined if none can. `parse` compares all
 * of the method's letters.
 */
function methodAt(bytes: Buffer, at: number): Method | undefined {
  switch (bytes[at]) {
    case 0x47:
      return methods.get
    case 0x48:
      return methods.head
    case 0x44:
      return methods.delete
    case 0x4f:
      return methods.options
    case 0x50:
      return bytes[at + 1] === 0x55
        ? methods.put
        : bytes[at + 1] === 0x41
          ? methods.patch
          : methods.post
    default:
      return undefined
  }
}

/** Whether requests with this method usually have a body. */
export function hasBody(method: string): boolean {
  return method === 'POST' || method === 'PUT' || method === 'PATCH'
}

function isPrefixEnd(code: number): boolean {
  return code === 0x2f || code === 0x3f || code === space
}

function tokenEnd(bytes: Buffer, start: number, end: number): number {
  let at = start
  while (at < end && tokenCodes[bytes[at] ?? 0] === 1) at++
  return at
}

/** Parses a decimal number without leading zeros; returns -1 for anything else, and for too many digits. */
function lengthAt(bytes: Buffer, from: number, to: number): number {
  const digits = to - from
  if (digits === 0 || digits > maxLengthDigits) return -1
  if (bytes[from] === 0x30 && digits > 1) return -1
  let length = 0
  for (let at = from; at < to; at++) {
    const digit = (bytes[at] ?? 0) - 0x30
    if (digit < 0 || digit > 9) return -1
    length = length * 10 + digit
  }
  return length
}

const keepAliveOption = 1
const closeOption = 2

/**
 * Recognizes a lone `keep-alive` or `close`, which nearly all programs send; returns 0 for any other Connection value.
 */
function connectionAt(bytes: Buffer, from: number, to: number): number {
  if (to - from !== 5 && to - from !== 10) return 0
  const value = bytes.toString('latin1', from, to).toLowerCase()
  return value === 'keep-alive' ? keepAliveOption : value === 'close' ? closeOption : 0
}

// Visible ASCII without "#", which is not part of a request target (RFC 9112, section 3.2.1).
const urlCodes = codes((code) => code > 0x20 && code < 0x7f && code !== 0x23)
const tokenCodes = codes(isTokenCode)
const valueCodes = codes((code) => code >= 0x20 && code < 0x7f)
