import type { IncomingMessage } from 'node:http'
import { Problem } from '../../errors.ts'
import { isMethod, methods } from '../../methods.ts'
import type { RequestHead } from '../message/head.ts'

/** The parts of a request line. */
export interface RequestLine {
  readonly method: string
  readonly url: string
  readonly httpVersion: string
}

/** The limits for a request's URL and its whole head. */
export interface SizeLimits {
  readonly urlBytes: number
  readonly headBytes: number
}

/**
 * Checks a request's line, size, Host, framing and Expect more strictly than Node's parser; returns the refusal, or
 * undefined.
 */
export function checkFraming(
  line: RequestLine,
  head: RequestHead,
  limits: SizeLimits,
): Problem | undefined {
  return checkLine(line, head, limits) ?? checkFields(line, head)
}

/** The part of `checkFraming` that concerns the request line and the size of the head. */
export function checkLine(
  line: RequestLine,
  head: RequestHead,
  { urlBytes, headBytes }: SizeLimits,
): Problem | undefined {
  const { httpVersion } = line
  if (httpVersion !== '1.1' && httpVersion !== '1.0') {
    return new Problem('version_not_supported', 'Speak HTTP/1.1 or HTTP/1.0.')
  }
  if (!isMethod(line.method)) {
    return new Problem('method_not_allowed', `The method ${line.method} is not answered here.`, {
      headers: { Allow: methods.join(', ') },
    })
  }
  if (line.url.length > urlBytes) {
    return new Problem('uri_too_long', `The URL may have up to ${urlBytes} bytes.`)
  }
  // The 14 bytes are the space after the method, ` HTTP/1.1`, the CR LF of the request line and that of the empty line.
  if (line.method.length + line.url.length + 14 + head.bytes > headBytes) {
    return new Problem('head_too_large', `The request head may have up to ${headBytes} bytes.`)
  }
  return undefined
}

/**
 * The part of `checkFraming` whose outcome depends only on the header lines and the version, so that it holds for later
 * requests with the same lines.
 */
export function checkFields(
  { httpVersion }: Pick<RequestLine, 'httpVersion'>,
  head: RequestHead,
): Problem | undefined {
  return checkHost(head, httpVersion) ?? checkBodyFraming(head, httpVersion) ?? checkExpect(head)
}

// Requires exactly one well-formed Host, which only HTTP/1.0 may leave out: two readers of a duplicate or malformed
// Host could see different requests (RFC 9112, section 3.2).
function checkHost(head: RequestHead, httpVersion: string): Problem | undefined {
  if (head.hostCount > 1) return new Problem('host_invalid', 'Send exactly one Host header.')
  if (head.host === undefined) {
    return httpVersion === '1.0'
      ? undefined
      : new Problem('host_invalid', 'Send a Host header: HTTP/1.1 demands it.')
  }
  return isAuthority(head.host)
    ? undefined
    : new Problem('host_invalid', 'The Host header is not a host name with an optional port.')
}

/** Whether a text is a host (name, IPv4, or IPv6 in brackets) with an optional port. */
export function isAuthority(text: string): boolean {
  if (text.length > 255) return false
  return /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/.test(text)
}

// Requires at most one header that frames the body, in a form that all readers interpret alike (RFC 9112, section 6).
function checkBodyFraming(head: RequestHead, httpVersion: string): Problem | undefined {
  if (head.transferEncoding !== undefined) {
    if (head.contentLengthCount > 0) {
      return new Problem('framing_invalid', 'Send Content-Length or Transfer-Encoding, not both.')
    }
    if (httpVersion === '1.0') {
      return new Problem('framing_invalid', 'HTTP/1.0 has no Transfer-Encoding.')
    }
    if (head.transferEncodingCount > 1 || head.transferEncoding.toLowerCase() !== 'chunked') {
      return new Problem('transfer_encoding_unsupported', 'The only transfer coding is chunked.')
    }
  }
  if (head.contentLength !== undefined) {
    if (head.contentLengthCount > 1 || !/^\d{1,16}$/.test(head.contentLength)) {
      return new Problem('framing_invalid', 'Content-Length must be one decimal number.')
    }
    if (!Number.isSafeInteger(Number(head.contentLength))) {
      return new Problem('body_too_large', 'The Content-Length is beyond every limit.')
    }
  }
  return undefined
}

function checkExpect(head: RequestHead): Problem | undefined {
  if (head.expect === undefined || head.expect.toLowerCase() === '100-continue') return undefined
  return new Problem('expectation_failed', 'The only expectation met here is 100-continue.')
}

/**
 * Converts a request target to its origin-form, or returns the refusal. Absolute-form is accepted only for our own
 * authority (RFC 9112, section 3.2.2), so that Intercept is never an open proxy.
 */
export function originForm(
  line: RequestLine,
  head: RequestHead,
  authorities: readonly string[],
): string | Problem {
  const { url } = line
  if (url.startsWith('/')) return url
  const absolute = /^https?:\/\/([^/?#]*)(.*)$/i.exec(url)
  if (absolute === null) {
    return new Problem('bad_request', 'The request target must be a path that begins with "/".')
  }
  const authority = (absolute[1] ?? '').toLowerCase()
  const rest = absolute[2] ?? ''
  if (head.host?.toLowerCase() !== authority || !authorities.includes(authority)) {
    return new Problem('host_invalid', 'This server answers for its own host only.')
  }
  return rest.startsWith('/') ? rest : `/${rest}`
}

/**
 * Whether a request may switch protocols: only to a WebSocket. A request to upgrade to h2c or anything else is handled
 * like an ordinary one.
 */
export function isWebSocket(request: IncomingMessage): boolean {
  const { headers } = request
  return (
    request.method === 'GET' &&
    headers.upgrade?.toLowerCase() === 'websocket' &&
    headers['transfer-encoding'] === undefined &&
    (headers['content-length'] ?? '0') === '0'
  )
}
