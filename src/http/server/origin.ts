import { Problem } from '../../errors.ts'

/** The headers that tell whether a request comes from our own pages. */
export interface OriginHeaders {
  readonly origin?: string | undefined
  readonly 'sec-fetch-site'?: string | string[] | undefined
  readonly 'content-type'?: string | undefined
}

/**
 * Holds a request that changes something to our own origin, although the cookie is Strict: its
 * Origin is ours or, where a browser sends none, its Sec-Fetch-Site is same-origin. `cross_origin_refused` (403).
 */
export function checkSameOrigin(headers: OriginHeaders, baseUrl: string): void {
  const site = headers['sec-fetch-site']
  const foreign = site !== undefined && site !== 'same-origin'
  const proven = headers.origin === undefined ? site === 'same-origin' : headers.origin === baseUrl
  if (foreign || !proven) {
    throw new Problem(
      'cross_origin_refused',
      `Requests that change something come from pages of ${baseUrl}: send its Origin.`,
    )
  }
}

/** A body is JSON and says so, in whatever spelling of the type: `unsupported_media_type` (415). */
export function checkContentType(headers: OriginHeaders, hasBody: boolean): void {
  if (!hasBody) return
  const [type = ''] = (headers['content-type'] ?? '').split(';')
  if (type.trim().toLowerCase() !== 'application/json') {
    throw new Problem('unsupported_media_type', 'Send the body as application/json.')
  }
}
