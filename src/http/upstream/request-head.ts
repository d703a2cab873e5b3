import { flatText } from '../message/flat-text.ts'
import type { RequestHead } from '../message/head.ts'
import { isSameHeader, requestHeaderFate } from '../message/header-rules.ts'

/** The parts of a forwarded request's head. */
export interface RequestHeadParts {
  readonly method: string
  /** Path and query as sent upstream, byte for byte. */
  readonly path: string
  /** The upstream's authority, for Host. */
  readonly host: string
  readonly rawHeaders: readonly string[]
  /** The head read from `rawHeaders`; it keeps the rendered lines for later requests that share this object. */
  readonly head: Pick<RequestHead, 'connectionNames' | 'forwardedLines'>
  /** The normalized name of the header that the target injects, if any. */
  readonly injectedName: string | undefined
  /** Our own header lines, each with CRLF. */
  readonly own: string
}

/**
 * Renders the head of the upstream request, without framing and the empty line. The caller's credentials, hop-by-hop
 * headers (RFC 9110, section 7.6.1) and headers that only Intercept may set are removed; the lines of `own` come last.
 */
export function renderRequestHead(parts: RequestHeadParts): string {
  const { head, injectedName } = parts
  let { forwardedLines: forwarded } = head
  if (forwarded === undefined || forwarded.injectedName !== injectedName) {
    forwarded = { injectedName, text: renderForwardedLines(parts), isFlat: false }
    head.forwardedLines = forwarded
  } else if (!forwarded.isFlat) {
    // Lines that come a second time will probably come more often.
    forwarded.text = flatText(forwarded.text)
    forwarded.isFlat = true
  }
  return `${parts.method} ${parts.path} HTTP/1.1\r\nHost: ${parts.host}\r\n${forwarded.text}${parts.own}`
}

function renderForwardedLines({ rawHeaders, head, injectedName }: RequestHeadParts): string {
  const { connectionNames } = head
  let text = ''
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    const fate = requestHeaderFate(name)
    if (fate === 'drop') continue
    if (connectionNames.length > 0 && connectionNames.includes(name.toLowerCase())) continue
    if (injectedName !== undefined && isSameHeader(name, injectedName)) continue
    const value = rawHeaders[at + 1] ?? ''
    if (fate === 'cookie') {
      const cookies = withoutOurs(value)
      if (cookies !== '') text += `${name}: ${cookies}\r\n`
      continue
    }
    text += `${name}: ${value}\r\n`
  }
  return text
}

/** Returns the caller's cookies without those of our own origin, whose names all begin with `__Host-`. */
function withoutOurs(value: string): string {
  if (!value.includes('__Host-')) return value
  return value
    .split(';')
    .filter((crumb) => !crumb.trimStart().startsWith('__Host-'))
    .join(';')
    .trim()
}
