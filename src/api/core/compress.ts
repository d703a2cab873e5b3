import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { AppReply, AppRequest } from '../../http/index.ts'
import { Answered } from './route.ts'

const compress = promisify(gzip)
/** Compressing less than this gains little. */
const minBytes = 2048
const level = 5

/**
 * Wraps a response that contains text written by callers or receivers, such as a captured body. Neither we nor a proxy
 * may compress the response: its compressed length would help the author of one part to guess another part (the BREACH
 * attack).
 */
export function uncompressed<Body>(body: Body): Answered<Body> {
  return new Answered(body, { 'Cache-Control': 'no-store, no-transform' })
}

/**
 * Compresses a long response on Node's thread pool if the caller accepts gzip. A response with an ETag is not
 * compressed, because one tag must not name two representations (RFC 9110, section 8.8.3.3).
 */
export async function compressAnswer(
  request: AppRequest,
  reply: AppReply,
  payload: unknown,
): Promise<unknown> {
  if (typeof payload !== 'string' || payload.length < minBytes) return payload
  if (reply.hasHeader('etag') || reply.hasHeader('content-encoding')) return payload
  if (String(reply.getHeader('cache-control')).includes('no-transform')) return payload
  reply.header('Vary', 'Accept-Encoding')
  if (!offersGzip(request.headers['accept-encoding'])) return payload
  const bytes = await compress(payload, { level })
  reply.header('Content-Encoding', 'gzip').header('Content-Length', bytes.length)
  return bytes
}

/** Whether the header names gzip; a weight of 0 refuses it (RFC 9110, section 12.4.2). */
function offersGzip(header: string | string[] | undefined): boolean {
  return String(header ?? '')
    .split(',')
    .some((offer) => /^\s*gzip\s*(?:;\s*q=(?!0(?:\.0{0,3})?\s*$).*)?$/i.test(offer))
}
