// Decides which headers may pass through Intercept in each direction, for both lanes. The checks of target and webhook
// settings use the same rules.

/**
 * Normalizes a header name as the most lenient reader behind us may: CGI and its successors map every character other
 * than a letter or digit to the same one, so `X.Forwarded_Host` becomes X-Forwarded-Host (GHSA-5m6w-wvh7-57vm).
 */
export function foldHeaderName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '-')
}

/** How a caller's header is treated; `cookie` means forwarded without the cookies of Intercept's own origin. */
export type RequestHeaderFate = 'pass' | 'drop' | 'cookie'

/** How an upstream's header is treated; `origin` and `cors` mean forwarded only if the target allows it. */
export type ResponseHeaderFate = 'pass' | 'drop' | 'origin' | 'cors'

/** Decides how a caller's header is treated. */
export const requestHeaderFate = remembered<RequestHeaderFate>((folded) => {
  if (folded === 'cookie') return 'cookie'
  if (folded.startsWith('intercept-') || namesCaller.test(folded)) return 'drop'
  return droppedFromRequests.has(folded) ? 'drop' : 'pass'
})

/** Decides how an upstream's header is treated. */
export const responseHeaderFate = remembered<ResponseHeaderFate>((folded) => {
  // Only Intercept may send Intercept-…, so that an upstream can't pass its response off as our refusal.
  if (hopByHop.has(folded) || folded.startsWith('intercept-')) return 'drop'
  if (folded.startsWith('access-control-')) return 'cors'
  return originHeaders.has(folded) ? 'origin' : 'pass'
})

/** Whether a caller's trailer may be forwarded; some servers merge trailers into the head (RFC 9110, section 6.5.1). */
export function mayTrailRequest(name: string): boolean {
  return mayTrail(name) && requestHeaderFate(name) === 'pass'
}

/** Whether an upstream's trailer may be forwarded. */
export function mayTrailResponse(name: string): boolean {
  return mayTrail(name) && responseHeaderFate(name) === 'pass'
}

/** Whether a name, once normalized, equals `folded`, which is normalized already. */
export function isSameHeader(name: string, folded: string): boolean {
  return name.length === folded.length && foldHeaderName(name) === folded
}

/** Response headers that affect a whole origin: browsers would apply an upstream's to the origin of Intercept. */
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

/**
 * Whether only Intercept may set a header: one that frames a message, belongs to one hop (RFC 9110, section 7.6.1),
 * describes the call to the upstream or begins with `Intercept-`.
 */
export function isReservedHeader(name: string): boolean {
  const folded = foldHeaderName(name)
  return reserved.has(folded) || hopByHop.has(folded) || folded.startsWith('intercept-')
}

// Content-Length is not included, because it is end-to-end.
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
 * Matches the names of headers with which proxies and networks report who called, from where, and how. Every vendor
 * uses names of its own, so they are recognized by their form.
 */
const namesCaller =
  /(?:^|-)(?:forwarded(?:-|$)|(?:client|connecting|connection|originating|real|remote|socket|src|user)-?(?:ip|addr)$|client-?cert|ssl-client-)/

/**
 * Normalized names that are removed from every request, in addition to `Intercept-…` and the names that `namesCaller`
 * matches.
 */
export const droppedFromRequests: ReadonlySet<string> = new Set([
  ...hopByHop,
  ...reserved,
  'proxy-authorization',
  'http2-settings',
  // Not an HTTP header: a CGI program would read it as the variable HTTP_PROXY, which redirects the program's own
  // requests (CVE-2016-5385).
  'proxy',
  // The caller's credentials.
  'authorization',
  'x-api-key',
  // These can name a method or URL other than the one that was checked.
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
  // These can name a host other than the one that was called.
  'x-original-host',
  'x-host',
  'x-http-host-override',
  'x-envoy-original-host',
  // These can name a protocol other than the one that was used.
  'front-end-https',
  'x-original-proto',
  'x-scheme',
  'x-url-scheme',
  // These can name a client other than the one that called.
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
  // A TLS client certificate that nobody verified (RFC 9440, section 4).
  'client-cert',
  'client-cert-chain',
])

/**
 * Whether a name may be a trailer: headers about framing, routing, identity or the format of the body must precede the
 * body (RFC 9110, section 6.5.1).
 */
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

/** Caches decisions by spelling, so that a common name costs one look-up; bounded, because callers choose the names. */
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
