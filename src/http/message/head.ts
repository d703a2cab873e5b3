import type { DigestBytes } from '../../credential-formats.ts'

/**
 * The parts of a request head that Intercept itself uses. They are read once from the raw header lines, because Node's
 * parsed headers hide duplicates.
 */
export interface RequestHead {
  /** The size of all header lines including line ends; Node counts only names and values. */
  bytes: number
  host: string | undefined
  hostCount: number
  apiKey: string | undefined
  apiKeyCount: number
  authorization: string | undefined
  authorizationCount: number
  /** The lower-case names listed in Connection; empty if its value is only `keep-alive` or `close`. */
  connectionNames: readonly string[]
  transferEncoding: string | undefined
  transferEncodingCount: number
  contentLength: string | undefined
  contentLengthCount: number
  expect: string | undefined
  upgrade: string | undefined
  secFetchSite: string | undefined
  origin: string | undefined
  accessControlRequestMethod: string | undefined
  userAgent: string | undefined
  forwardedFor: string | undefined
  forwardedProto: string | undefined
  forwardedHost: string | undefined
  traceparent: string | undefined
  /** The digest of the request's key, once the gateway has computed it. */
  keyDigest: DigestBytes | undefined
  /** The request's header lines for an upstream, once rendered. */
  forwardedLines: ForwardedLines | undefined
  /** The lines that tell an upstream where the request came from, once rendered for this connection. */
  forwardingLines: string | undefined
}

/** The caller's header lines as they are forwarded to a target that injects the header `injectedName`. */
export interface ForwardedLines {
  readonly injectedName: string | undefined
  text: string
  /** Whether the text has been made flat (`flatText`), because it was used again. */
  isFlat: boolean
}

const none: readonly string[] = []

/** Reads the head from Node's flat list of names and values. */
export function readRequestHead(rawHeaders: readonly string[]): RequestHead {
  const head = emptyHead()
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    head.bytes += name.length + (rawHeaders[at + 1]?.length ?? 0) + 4
    const reader = readers.get(name) ?? readers.get(name.toLowerCase())
    if (reader !== undefined) reader(head, rawHeaders[at + 1] ?? '')
  }
  return head
}

/**
 * Returns the names listed in a Connection header, in lower case (RFC 9110, section 7.6.1), after the names in
 * `before`.
 */
export function connectionNames(value: string, before: readonly string[] = none): string[] {
  const names = [...before]
  for (const part of value.split(',')) {
    const name = part.trim().toLowerCase()
    if (name !== '') names.push(name)
  }
  return names
}

function emptyHead(): RequestHead {
  return {
    bytes: 0,
    host: undefined,
    hostCount: 0,
    apiKey: undefined,
    apiKeyCount: 0,
    authorization: undefined,
    authorizationCount: 0,
    connectionNames: none,
    transferEncoding: undefined,
    transferEncodingCount: 0,
    contentLength: undefined,
    contentLengthCount: 0,
    expect: undefined,
    upgrade: undefined,
    secFetchSite: undefined,
    origin: undefined,
    accessControlRequestMethod: undefined,
    userAgent: undefined,
    forwardedFor: undefined,
    forwardedProto: undefined,
    forwardedHost: undefined,
    traceparent: undefined,
    keyDigest: undefined,
    forwardedLines: undefined,
    forwardingLines: undefined,
  }
}

const readers = new Map<string, (head: RequestHead, value: string) => void>([
  [
    'host',
    (head, value) => {
      head.host = value
      head.hostCount++
    },
  ],
  [
    'x-api-key',
    (head, value) => {
      head.apiKey = value
      head.apiKeyCount++
    },
  ],
  [
    'authorization',
    (head, value) => {
      head.authorization = value
      head.authorizationCount++
    },
  ],
  [
    'connection',
    (head, value) => {
      // Neither of the two usual values names a header that is forwarded; skipping the split keeps ordinary requests
      // cheap.
      if (value === 'keep-alive' || value === 'close') return
      head.connectionNames = connectionNames(value, head.connectionNames)
    },
  ],
  [
    'transfer-encoding',
    (head, value) => {
      head.transferEncoding = value
      head.transferEncodingCount++
    },
  ],
  [
    'content-length',
    (head, value) => {
      head.contentLength = value
      head.contentLengthCount++
    },
  ],
  [
    'expect',
    (head, value) => {
      head.expect = head.expect === undefined ? value : `${head.expect}, ${value}`
    },
  ],
  [
    'upgrade',
    (head, value) => {
      head.upgrade = head.upgrade === undefined ? value : `${head.upgrade}, ${value}`
    },
  ],
  [
    'sec-fetch-site',
    (head, value) => {
      // Browsers send one value. Of several, the first other than `none` counts, so that a forged `none` before it
      // can't hide that a page sent the request.
      if (head.secFetchSite === undefined || head.secFetchSite === 'none') head.secFetchSite = value
    },
  ],
  [
    'origin',
    (head, value) => {
      head.origin ??= value
    },
  ],
  [
    'access-control-request-method',
    (head, value) => {
      head.accessControlRequestMethod ??= value
    },
  ],
  [
    'user-agent',
    (head, value) => {
      head.userAgent ??= value
    },
  ],
  [
    'x-forwarded-for',
    (head, value) => {
      // Several lines form one list (RFC 9110, section 5.3); the nearest proxy's entry stays rightmost.
      head.forwardedFor = head.forwardedFor === undefined ? value : `${head.forwardedFor}, ${value}`
    },
  ],
  [
    'x-forwarded-proto',
    (head, value) => {
      // The last of several lines comes from the nearest proxy.
      head.forwardedProto = value
    },
  ],
  [
    'x-forwarded-host',
    (head, value) => {
      head.forwardedHost = value
    },
  ],
  [
    'traceparent',
    (head, value) => {
      // Several traceparents contradict each other, so all of them are ignored: the empty value is invalid.
      head.traceparent = head.traceparent === undefined ? value : ''
    },
  ],
])
// Also registers each name as most programs capitalize it, so that ordinary names need no lower-casing.
for (const [name, reader] of readers.entries().toArray()) {
  readers.set(
    name.replaceAll(/(?:^|-)[a-z]/g, (letter) => letter.toUpperCase()),
    reader,
  )
}
