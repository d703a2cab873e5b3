import { Problem } from '../../errors.ts'
import { isMethod, methods } from '../../methods.ts'
import type { RequestHead } from '../message/head.ts'

/** The part of a request that determines its framing. */
export interface RequestLine {
  readonly method: string
  readonly url: string
  readonly httpVersion: string
}

/** Refuses framing that Node's parser accepts and we don't; returns the refusal, or undefined. */
export function checkFraming(
  line: RequestLine,
  head: RequestHead,
  { urlBytes, headBytes }: { readonly urlBytes: number; readonly headBytes: number },
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
  // The request line ends with ` HTTP/1.1`, each line with CR LF, the head with an empty line.
  if (line.method.length + line.url.length + 14 + head.bytes > headBytes) {
    return new Problem('head_too_large', `The request head may have up to ${headBytes} bytes.`)
  }
  return checkHost(head, httpVersion) ?? checkBodyFraming(head, httpVersion) ?? checkExpect(head)
}

// Nothing is derived from Host, but a duplicate or malformed one could make two readers see two requests (RFC 9112,
// section 3.2).
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

// RFC 9112, section 6: a single framing header, which all readers interpret alike.
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
 * The origin-form of a request target, or the refusal. Absolute-form is accepted only for our own authority (RFC 9112,
 * section 3.2.2), so that we are never an open proxy.
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
