import { Problem } from '../../errors.ts'

/** The headers that show whether a request comes from our own pages. */
export interface OriginHeaders {
  readonly origin?: string | undefined
  readonly 'sec-fetch-site'?: string | string[] | undefined
  readonly 'content-type'?: string | undefined
}

/**
 * Requires a state-changing request to come from our own origin: Origin and Sec-Fetch-Site must both say so if both are
 * sent, and one of them must be sent. This is in addition to the SameSite=Strict cookie. Throws `cross_origin_refused`
 * (403).
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

/**
 * Requires a body to be declared as `application/json`, in upper or lower case and with any parameters. Throws
 * `unsupported_media_type` (415).
 */
export function checkContentType(headers: OriginHeaders, hasBody: boolean): void {
  if (!hasBody) return
  const [type = ''] = (headers['content-type'] ?? '').split(';')
  if (type.trim().toLowerCase() !== 'application/json') {
    throw new Problem('unsupported_media_type', 'Send the body as application/json.')
  }
}
