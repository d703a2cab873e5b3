/** What a forwarded request's head is made of. */
export interface RequestHeadParts {
  readonly method: string
  /** Path and query as they go upstream, byte for byte. */
  readonly path: string
  /** The upstream's authority. */
  readonly host: string
  readonly rawHeaders: readonly string[]
  /** Lower-case names listed in the caller's Connection header. */
  readonly connectionNames: readonly string[]
  /** Whether the caller is one of the operator's own proxies, whose forwarding headers count. */
  readonly trusted: boolean
  /** The lower-case name of the header that the target injects, if any. */
  readonly injectedName: string | undefined
  /** Whole header lines of our own, each with its CRLF. */
  readonly own: string
}

/**
 * The head of the request that goes upstream, without framing and without the empty line. The caller's credentials,
 * what is meant for one hop (RFC 9110, section 7.6.1) and what only we may say are left out first; ours follow.
 */
export function renderRequestHead(parts: RequestHeadParts): string {
  const { rawHeaders, connectionNames, injectedName, trusted } = parts
  let text = `${parts.method} ${parts.path} HTTP/1.1\r\nHost: ${parts.host}\r\n`
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    const fate = fateOf(name)
    if (fate === 'drop' || (fate === 'forwarding' && !trusted)) continue
    if (connectionNames.length > 0 && connectionNames.includes(name.toLowerCase())) continue
    if (injectedName !== undefined && isNamed(name, injectedName)) continue
    const value = rawHeaders[at + 1] ?? ''
    if (fate === 'cookie') {
      const cookies = withoutOurs(value)
      if (cookies !== '') text += `${name}: ${cookies}\r\n`
      continue
    }
    text += `${name}: ${value}\r\n`
  }
  return text + parts.own
}

/** Whether a caller's trailer may go on: some servers merge trailers into the head (RFC 9110, section 6.5.1). */
export function mayTrail(name: string, injectedName: string | undefined): boolean {
  return fateOf(name) === 'pass' && (injectedName === undefined || !isNamed(name, injectedName))
}

type Fate = 'pass' | 'drop' | 'forwarding' | 'cookie'

const dropped: readonly string[] = [
  // For one hop only.
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  // No header of HTTP: a CGI program takes it for HTTP_PROXY, where its own calls go (CVE-2016-5385).
  'proxy',
  // Framing and routing, written anew.
  'host',
  'content-length',
  'expect',
  // The caller's credentials.
  'authorization',
  'x-api-key',
  // Would let a caller name another method or path than the one that was decided on.
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  'x-original-method',
  'x-original-url',
  'x-original-uri',
  'x-rewrite-url',
  'x-forwarded-method',
  'x-forwarded-uri',
  'x-forwarded-path',
  'x-forwarded-prefix',
  // Written anew for every call.
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  'traceparent',
]

/** Who is calling, in other words than ours: only the operator's own proxies may say it. */
const forwarding: readonly string[] = [
  'forwarded',
  'x-real-ip',
  'x-forwarded',
  'x-original-forwarded-for',
  'client-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'true-client-ip',
  'cf-connecting-ip',
  'fastly-client-ip',
]

// Names in the spellings that were met, so that a usual name costs one look-up; bounded, since strangers choose them.
const fates = new Map<string, Fate>()
const fatesAtMost = 2000
const known = new Map<string, Fate>([
  ...dropped.map((name): [string, Fate] => [name, 'drop']),
  ...forwarding.map((name): [string, Fate] => [name, 'forwarding']),
  ['cookie', 'cookie'],
])

function fateOf(name: string): Fate {
  const fate = fates.get(name)
  if (fate !== undefined) return fate
  const found = judge(name)
  if (fates.size < fatesAtMost && name.length <= 64) fates.set(name, found)
  return found
}

function judge(name: string): Fate {
  // Many servers read "_" as "-": an alias of a name of ours is that name (GHSA-5m6w-wvh7-57vm).
  const plain = name.toLowerCase().replaceAll('_', '-')
  if (plain.startsWith('intercept-')) return 'drop'
  const fate = known.get(plain)
  if (fate !== undefined) return fate
  return plain.startsWith('x-forwarded-') ? 'forwarding' : 'pass'
}

function isNamed(name: string, lower: string): boolean {
  if (name.length !== lower.length) return false
  return name.toLowerCase().replaceAll('_', '-') === lower.replaceAll('_', '-')
}

/** The caller's cookies without those of our own origin, which all begin with `__Host-`. */
function withoutOurs(value: string): string {
  if (!value.includes('__Host-')) return value
  return value
    .split(';')
    .filter((crumb) => !crumb.trimStart().startsWith('__Host-'))
    .join(';')
    .trim()
}
