import { codes, isTokenCode } from '../message/codes.ts'
import { connectionNames } from '../message/head.ts'

/** How the end of a response's body is found (RFC 9112, section 6.3). */
export type ResponseFraming = 'none' | 'length' | 'chunked' | 'close'

/** The head of an upstream's response; header names and values have one character per byte. */
export interface UpstreamResponseHead {
  readonly status: number
  readonly reason: string
  readonly headers: string[]
  readonly framing: ResponseFraming
  readonly contentLength: number
  /** Lower-case names listed in the upstream's Connection header; empty if its value is only `keep-alive`. */
  readonly connectionNames: readonly string[]
  readonly keepAlive: boolean
  /** How many milliseconds the upstream promises to keep an idle connection; undefined if it does not say. */
  readonly keepAliveMs: number | undefined
}

/** Thrown for a malformed response, and for malformed trailers in either direction. */
export class MalformedResponse extends Error {}

/**
 * Parses a response's head strictly, and refuses anything ambiguous (RFC 9112, sections 4–6).
 * `text` is the head from the status line up to, but not including, the empty line.
 */
export function parseUpstreamHead(text: string, method: string): UpstreamResponseHead {
  const minor = text.charCodeAt(7)
  if (!text.startsWith('HTTP/1.') || (minor !== one && minor !== zero)) broken('status line')
  const status = statusOf(text)
  const lineEnd = text.indexOf('\r\n')
  const reason = lineEnd === -1 ? text.slice(13) : text.slice(13, lineEnd)
  if (!isFieldText(reason)) broken('reason')
  const fields = new Fields()
  readFields(text, lineEnd === -1 ? text.length : lineEnd + 2, fields)
  return finish({ status, reason, isHttp10: minor === zero, method }, fields)
}

/** Parses trailers (RFC 9112, section 7.1.2) and keeps those that `mayTrail` allows. */
export function parseTrailers(text: string, mayTrail: (name: string) => boolean): string[] {
  const fields = new Fields()
  readFields(text, 0, fields)
  const kept: string[] = []
  for (let at = 0; at < fields.list.length; at += 2) {
    const name = fields.list[at] ?? ''
    if (mayTrail(name)) kept.push(name, fields.list[at + 1] ?? '')
  }
  return kept
}

/** Returns the milliseconds that a Keep-Alive header promises; undefined if it promises none. */
export function readKeepAlive(value: string): number | undefined {
  if (value === '') return undefined
  const seconds = /timeout=(\d{1,6})/.exec(value)?.[1]
  return seconds === undefined ? undefined : Number(seconds) * 1000
}

const zero = 0x30
const one = 0x31
const nine = 0x39
const space = 0x20
const cr = 0x0d
const maxHeaders = 256
const maxLengthDigits = 15
const tokenCodes = codes(isTokenCode)

class Fields {
  readonly list: string[] = []
  contentLength = -1
  chunked = false
  close = false
  keepAlive = false
  keepAliveMs: number | undefined
  connectionNames: readonly string[] = []
}

function broken(what: string): never {
  throw new MalformedResponse(`the upstream's response is malformed: ${what}`)
}

function statusOf(text: string): number {
  const status =
    (text.charCodeAt(9) - zero) * 100 +
    (text.charCodeAt(10) - zero) * 10 +
    text.charCodeAt(11) -
    zero
  const next = text.charCodeAt(12)
  const spaced =
    text.charCodeAt(8) === space && (text.length === 12 || next === space || next === cr)
  if (!spaced || !isDigits(text, 9, 12) || status < 100 || status > 599) broken('status line')
  return status
}

function readFields(text: string, start: number, fields: Fields): void {
  let at = start
  while (at < text.length) {
    let colon = at
    while (colon < text.length && tokenCodes[text.charCodeAt(colon)] === 1) colon++
    if (colon === at || text.charCodeAt(colon) !== 0x3a) broken('field name')
    let end = text.indexOf('\r\n', colon)
    if (end === -1) end = text.length
    let from = colon + 1
    let to = end
    while (from < to && isBlank(text.charCodeAt(from))) from++
    while (to > from && isBlank(text.charCodeAt(to - 1))) to--
    for (let c = from; c < to; c++) if (!isFieldCode(text.charCodeAt(c))) broken('field value')
    addField(fields, text.slice(at, colon), text.slice(from, to))
    at = end + 2
  }
}

function addField(fields: Fields, name: string, value: string): void {
  fields.list.push(name, value)
  if (fields.list.length > maxHeaders * 2) broken('too many fields')
  // A name of any other length is none of those below, so it need not be lower-cased.
  if (name.length === 10 || name.length === 14 || name.length === 17) {
    switch (name.toLowerCase()) {
      case 'connection':
        addConnection(fields, value)
        return
      case 'keep-alive':
        fields.keepAliveMs = readKeepAlive(value) ?? fields.keepAliveMs
        return
      case 'content-length':
        if (fields.contentLength !== -1 || !isLength(value)) broken('Content-Length')
        fields.contentLength = Number(value)
        return
      case 'transfer-encoding':
        if (fields.chunked || value.toLowerCase() !== 'chunked') broken('Transfer-Encoding')
        fields.chunked = true
        return
      default:
    }
  }
}

function addConnection(fields: Fields, value: string): void {
  // Fast path for the usual value: the header that it names is never forwarded anyway.
  if (value === 'keep-alive') {
    fields.keepAlive = true
    return
  }
  const names = connectionNames(value)
  fields.connectionNames = [...fields.connectionNames, ...names]
  if (names.includes('close')) fields.close = true
  if (names.includes('keep-alive')) fields.keepAlive = true
}

function finish(
  line: { status: number; reason: string; isHttp10: boolean; method: string },
  fields: Fields,
): UpstreamResponseHead {
  if (fields.chunked && (fields.contentLength !== -1 || line.isHttp10)) {
    broken('two ways to find the end of the body')
  }
  const { status } = line
  const bodiless = line.method === 'HEAD' || status < 200 || status === 204 || status === 304
  const framing: ResponseFraming = bodiless
    ? 'none'
    : fields.chunked
      ? 'chunked'
      : fields.contentLength === -1
        ? 'close'
        : 'length'
  return {
    status,
    reason: line.reason,
    headers: fields.list,
    framing,
    contentLength: fields.contentLength,
    connectionNames: fields.connectionNames,
    keepAlive:
      framing !== 'close' &&
      !fields.close &&
      !(status === 204 && announcesBody(fields)) &&
      (!line.isHttp10 || fields.keepAlive),
    keepAliveMs: fields.keepAliveMs,
  }
}

// Whether the headers announce a body. With a 204, which has none, the upstream may send one nevertheless, so the
// connection must not be reused.
function announcesBody(fields: Fields): boolean {
  return fields.chunked || fields.contentLength > 0
}

function isLength(value: string): boolean {
  const digits = value.length
  return digits > 0 && digits <= maxLengthDigits && isDigits(value, 0, digits)
}

function isDigits(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at)
    if (!(code >= zero && code <= nine)) return false
  }
  return true
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}

function isFieldCode(code: number): boolean {
  return (code >= 0x20 && code !== 0x7f) || code === 0x09
}

function isFieldText(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (!isFieldCode(text.charCodeAt(at))) return false
  return true
}
