// Which headers may cross Intercept in each direction: the one place both lanes, target settings and webhook settings ask.

/**
 * A header name as the loosest reader behind us may see it: CGI and its heirs turn every other character into the same
 * one, so `X.Forwarded_Host` is X-Forwarded-Host to them (GHSA-5m6w-wvh7-57vm).
 */
export function foldHeaderName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '-')
}

/** What becomes of a caller's header: `cookie` passes without the cookies of our own origin. */
export type RequestHeaderFate = 'pass' | 'drop' | 'cookie'

/** What becomes of an upstream's header: `origin` and `cors` pass only where the target allows it. */
export type ResponseHeaderFate = 'pass' | 'drop' | 'origin' | 'cors'

/** Judges a caller's header by its folded name. */
export const requestHeaderFate = remembered<RequestHeaderFate>((folded) => {
  if (folded === 'cookie') return 'cookie'
  if (folded.startsWith('intercept-') || namesCaller.test(folded)) return 'drop'
  return droppedFromRequests.has(folded) ? 'drop' : 'pass'
})

/** Judges an upstream's header by its folded name. */
export const responseHeaderFate = remembered<ResponseHeaderFate>((folded) => {
  // Only we say Intercept-…: an upstream can't pass its response off as our refusal.
  if (hopByHop.has(folded) || folded.startsWith('intercept-')) return 'drop'
  if (folded.startsWith('access-control-')) return 'cors'
  return originHeaders.has(folded) ? 'origin' : 'pass'
})

/** Whether a trailer of a caller may go on: some servers merge trailers into the head (RFC 9110, section 6.5.1). */
export function mayTrailRequest(name: string): boolean {
  return mayTrail(name) && requestHeaderFate(name) === 'pass'
}

/** Whether a trailer of an upstream may go on. */
export function mayTrailResponse(name: string): boolean {
  return mayTrail(name) && responseHeaderFate(name) === 'pass'
}

/** Whether two names are one to a reader that folds them. */
export function isSameHeader(name: string, folded: string): boolean {
  return name.length === folded.length && foldHeaderName(name) === folded
}

/** Headers that speak for a whole origin, which is ours and not the upstream's. */
export const originHeaders: ReadonlySet<string> = new Set([
  'set-cookie',
  'clear-site-data',
  'alt-svc',
  'strict-transport-security',
  'service-worker-allowed',
  'nel',
  'report-to',
  'reporting-endpoints',
  'set-login',
  'accept-ch',
  'critical-ch',
  'origin-agent-cluster',
])

/** Headers that frame a message or belong to one hop (RFC 9110, section 7.6.1), and those that only we write. */
export function isReservedHeader(name: string): boolean {
  const folded = foldHeaderName(name)
  return reserved.has(folded) || hopByHop.has(folded) || folded.startsWith('intercept-')
}

// Content-Length is not among them: it is end to end.
const hopByHop: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authentication-info',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

const reserved: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'expect',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  'traceparent',
])

/**
 * Names by which proxies and networks say who called, where and how: every vendor has one of its own, so they are known
 * by their shape.
 */
const namesCaller =
  /(?:^|-)(?:forwarded(?:-|$)|(?:client|connecting|connection|originating|real|remote|socket|src|user)-?(?:ip|addr)$|client-?cert|ssl-client-)/

/** Folded names that no caller may say, beside `Intercept-…` and `X-Forwarded-…`. */
export const droppedFromRequests: ReadonlySet<string> = new Set([
  ...hopByHop,
  ...reserved,
  'proxy-authorization',
  'http2-settings',
  // No header of HTTP: a CGI program takes it for HTTP_PROXY, where its own calls go (CVE-2016-5385).
  'proxy',
  // The caller's credentials.
  'authorization',
  'x-api-key',
  // Another method or URL than the one that was decided on.
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  'x-original-method',
  'x-original-url',
  'x-original-uri',
  'x-original-path',
  'x-rewrite-url',
  'x-rewrite-uri',
  'x-override-url',
  'x-ms-original-url',
  'x-waws-unencoded-url',
  'x-request-uri',
  'request-uri',
  'x-envoy-original-path',
  'x-envoy-original-method',
  // Another host than the one that was called.
  'x-original-host',
  'x-host',
  'x-http-host-override',
  'x-envoy-original-host',
  // Another protocol than the one that was spoken.
  'front-end-https',
  'x-original-proto',
  'x-scheme',
  'x-url-scheme',
  // Another client than the one that called.
  'forwarded',
  'x-forwarded',
  'forwarded-for',
  'x-original-forwarded-for',
  'x-original-for',
  'x-real-ip',
  'real-ip',
  'client-ip',
  'x-client-ip',
  'x-clientip',
  'x-cluster-client-ip',
  'x-originating-ip',
  'x-remote-addr',
  'x-remote-ip',
  'remote-addr',
  'true-client-ip',
  'cf-connecting-ip',
  'cf-connecting-ipv6',
  'cf-pseudo-ipv4',
  'fastly-client-ip',
  'fly-client-ip',
  'x-appengine-user-ip',
  'x-azure-clientip',
  'x-azure-socketip',
  'x-envoy-external-address',
  'x-proxyuser-ip',
  'proxy-client-ip',
  'wl-proxy-client-ip',
  // A TLS client certificate that nobody saw (RFC 9440, section 4).
  'client-cert',
  'client-cert-chain',
])

/** Trailers that would speak about framing, routing, identity or the body that has already passed (RFC 9110, section 6.5.1). */
function mayTrail(name: string): boolean {
  return !neverTrailing.has(foldHeaderName(name))
}

const neverTrailing: ReadonlySet<string> = new Set([
  ...hopByHop,
  ...reserved,
  'authorization',
  'content-encoding',
  'content-range',
  'content-type',
  'cookie',
  'location',
  'set-cookie',
  'www-authenticate',
])

const maxRemembered = 2000

/** Remembers verdicts by the spelling that was met, so that a usual name costs one look-up; bounded, since strangers choose names. */
function remembered<Fate>(judge: (folded: string) => Fate): (name: string) => Fate {
  const fates = new Map<string, Fate>()
  return (name) => {
    const known = fates.get(name)
    if (known !== undefined) return known
    const fate = judge(foldHeaderName(name))
    if (fates.size < maxRemembered && name.length <= 64) fates.set(name, fate)
    return fate
  }
}
