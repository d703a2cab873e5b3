import { nodeHttp } from '../../message/node-http.ts'
import type { ResponseHead } from '../lane/carrier.ts'

/** What a response's head says about the connection, and the clock for its Date. */
export interface ResponseEnding {
  /** The header lines about the connection. */
  readonly lines: string
  /** The bytes of these lines and of the empty line that ends the head. */
  readonly bytes: Buffer
  /** Returns the current time as an HTTP date; called only for a response without a Date of its own. */
  readonly date: () => string
}

/** The two endings of a response: the connection is kept, or it ends with this response. */
export interface ResponseEndings {
  readonly kept: ResponseEnding
  readonly closed: ResponseEnding
}

/** Renders both endings once, because each response has one of them. */
export function createResponseEndings(
  keepAliveSeconds: number,
  date: () => string,
): ResponseEndings {
  const endingOf = (lines: string): ResponseEnding => {
    return { lines, bytes: Buffer.from(`${lines}\r\n`, 'latin1'), date }
  }
  return {
    kept: endingOf(`Connection: keep-alive\r\nKeep-Alive: timeout=${keepAliveSeconds}\r\n`),
    closed: endingOf('Connection: close\r\n'),
  }
}

/** A rendered head, and whether its body must be sent in chunks. */
export interface RenderedHead {
  readonly text: string
  readonly isChunked: boolean
}

/**
 * Renders a response's head exactly as node:http would, so that callers cannot distinguish the lanes. Throws if a
 * header that no parser has checked would split the head (RFC 9112, section 11.1).
 */
export function renderResponseHead(head: ResponseHead, ending: ResponseEnding): RenderedHead {
  const { status, headers } = head
  const reason = head.reason ?? nodeHttp.STATUS_CODES[status] ?? 'unknown'
  let text = `HTTP/1.1 ${status} ${reason}\r\n`
  let hasLength = false
  let hasDate = false
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = headers[at] ?? ''
    const value = headers[at + 1] ?? ''
    if (name.length === 14 && !hasLength) hasLength = name.toLowerCase() === 'content-length'
    else if (name.length === 4 && !hasDate) hasDate = name.toLowerCase() === 'date'
    text += `${name}: ${value}\r\n`
  }
  if (!head.isChecked && !isFieldLines(text, headers.length / 2 + 1))
    throw new Error('a header would split the head')
  text += dateLine(ending, hasDate) + ending.lines
  const isChunked = head.hasBody && !hasLength
  return {
    text: isChunked ? `${text}Transfer-Encoding: chunked\r\n\r\n` : `${text}\r\n`,
    isChunked,
  }
}

/** Renders what precedes the ending's lines in a relayed response: our own headers (flat list), and a Date if needed. */
export function renderOwnLines(
  hasDate: boolean,
  own: readonly string[],
  ending: ResponseEnding,
): string {
  let text = ''
  for (let at = 0; at + 1 < own.length; at += 2) text += `${own[at]}: ${own[at + 1]}\r\n`
  return text + dateLine(ending, hasDate)
}

function dateLine(ending: ResponseEnding, hasDate: boolean): string {
  return hasDate ? '' : `Date: ${ending.date()}\r\n`
}

/**
 * Whether a text consists of this many lines that end with CRLF, and contains only one-byte characters and no control
 * characters except tabs.
 */
function isFieldLines(text: string, lines: number): boolean {
  let count = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code >= 0x20 && code !== 0x7f && code <= 0xff) continue
    if (code === 0x0d && text.charCodeAt(at + 1) === 0x0a) {
      count++
      at++
    } else if (code !== 0x09) {
      return false
    }
  }
  return count === lines
}
