import type { Rate } from '../rate.ts'
import type { Clock } from '../clock.ts'
import type { Directories, DirectoryPrincipal } from '../directory/index.ts'
import type { Actor } from '../store/index.ts'
import { ScimError } from './protocol/errors.ts'
import type { Json } from './protocol/json.ts'
import type { Projection } from './schema/projection.ts'

export interface ScimDeps {
  readonly directories: Directories
  readonly clock: Clock
  readonly baseUrl: string
  readonly limits: ScimLimits
}

export interface ScimLimits {
  readonly bodyBytes: number
  readonly bulkBodyBytes: number
  readonly bulkOperations: number
  readonly filterCharacters: number
  readonly filterDepth: number
  /** The rate of requests per token, or per source for requests without a token; undefined means no limit. */
  readonly requests: Rate | undefined
}

/** One request, or one operation of a bulk request. */
export interface ScimRequest {
  readonly method: string
  /** The path below `/scim/v2`, split at slashes. */
  readonly path: readonly string[]
  readonly query: URLSearchParams
  readonly body: Json | undefined
  readonly ifMatch: string | undefined
  readonly ifNoneMatch: string | undefined
  readonly principal: DirectoryPrincipal
  readonly actor: Actor
  /** The URL of `/scim/v2`. */
  readonly base: string
}

/** The parts of a request that a discovery document depends on. */
export type DiscoveryRequest = Pick<ScimRequest, 'query' | 'base'>

/** Produces a body as text, in pieces. */
export type Pieces = () => AsyncGenerator<string>

/** A response; its body is a SCIM message, complete or in pieces, or empty. */
export interface ScimAnswer {
  readonly status: number
  readonly body?: Record<string, unknown> | undefined
  readonly pieces?: Pieces | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** Builds a response with one resource, its location and its version. */
export function showResource(
  status: number,
  document: Record<string, unknown>,
  projection: Projection,
): ScimAnswer {
  const { location, version } = document['meta'] as { location: string; version: string }
  return {
    status,
    body: projection.apply(document),
    // RFC 7643 section 3.1: `meta.location` is also the Content-Location.
    headers: { Location: location, 'Content-Location': location, ETag: version },
  }
}

/** Refuses a request whose If-Match does not name the current version (RFC 7644 section 3.14). */
export function checkVersion(request: ScimRequest, etag: string): void {
  const { ifMatch } = request
  if (ifMatch === undefined || ifMatch.trim() === '*') return
  if (!listsTag(ifMatch, etag)) {
    throw new ScimError(412, `The resource is at version ${etag}, not at ${ifMatch}.`)
  }
}

/** Whether If-None-Match shows that the caller already has the current version. */
export function isUnchanged(request: ScimRequest, etag: string): boolean {
  const { ifNoneMatch } = request
  return ifNoneMatch !== undefined && (ifNoneMatch.trim() === '*' || listsTag(ifNoneMatch, etag))
}

// Whether a list contains this entity tag, by weak comparison, which ignores `W/` (RFC 9110 section 8.8.3.2).
function listsTag(list: string, etag: string): boolean {
  const opaque = (tag: string): string => tag.trim().replace(/^W\//, '')
  return list.split(',').some((tag) => opaque(tag) === opaque(etag))
}
