import type { AppRequest } from '../http/index.ts'
import { ScimError } from './protocol/errors.ts'
import type { ScimLimits } from './exchange.ts'
import { readJson, type Json } from './protocol/json.ts'

const mediaTypes = ['application/scim+json', 'application/json']

/** The path below `/scim/v2` and the query of a request. */
export interface Address {
  /** The path, split at slashes. */
  readonly path: readonly string[]
  readonly query: URLSearchParams
}

/** Parses a request's URL; `base` is the URL of `/scim/v2`, `prefix` its path. */
export function readAddress(request: AppRequest, base: string, prefix: string): Address {
  const [below, search] = splitOnce(request.url.slice(prefix.length), '?')
  // Some clients append a complete `$ref` or location to the base URL they were given.
  const path = below.startsWith(`/${base}/`) ? below.slice(base.length + 1) : below
  const segments = path.split('/').slice(1)
  // A trailing slash is accepted, because people enter the base URL with and without one.
  if (segments.at(-1) === '') segments.pop()
  return { path: segments.map(decode), query: new URLSearchParams(search) }
}

/** Parses a request's body as JSON; undefined for GET, DELETE and no body. */
export function readBody(
  request: AppRequest,
  path: readonly string[],
  limits: ScimLimits,
): Json | undefined {
  const bytes = request.body as Buffer | undefined
  if (bytes === undefined || bytes.length === 0) return undefined
  if (request.headers['content-encoding'] !== undefined) {
    throw new ScimError(415, 'A body with Content-Encoding is not taken.')
  }
  if (request.method === 'GET' || request.method === 'DELETE') return undefined
  const type = (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase()
  if (type === undefined || !mediaTypes.includes(type)) {
    throw new ScimError(415, `The content type must be ${mediaTypes.join(' or ')}.`)
  }
  const most = path[0]?.toLowerCase() === 'bulk' ? limits.bulkBodyBytes : limits.bodyBytes
  if (bytes.length > most) {
    throw new ScimError(413, `The body has more than ${most} bytes.`, { scimType: 'tooMany' })
  }
  return readJson(bytes)
}

function splitOnce(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark)
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}

function decode(segment: string): string {
  let text: string | undefined
  try {
    text = decodeURIComponent(segment)
  } catch {}
  // PostgreSQL cannot store U+0000, so no id contains it.
  if (text === undefined || text.includes('\0')) {
    throw new ScimError(404, 'There is nothing here.')
  }
  return text
}
