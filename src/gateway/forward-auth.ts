import { Problem } from '../errors.ts'
import { askedOf, type Asked } from '../targets/index.ts'

/** A proxy's question about a request that it will forward itself. */
export interface AskedByProxy {
  /** Undefined if the proxy asks only about the key. */
  readonly asked: Asked | undefined
  /** The methods to check: that of the original request, or all methods if the proxy names none. */
  readonly methods: readonly string[]
}

type OriginalPart = 'uri' | 'method'

/** The original request's URI and method, as far as the proxy's headers name them. */
type Original = Record<OriginalPart, string | undefined>

const partsByHeader = new Map<string, OriginalPart>([
  ['x-original-uri', 'uri'],
  ['x-original-url', 'uri'],
  ['x-forwarded-uri', 'uri'],
  ['x-original-method', 'method'],
  ['x-forwarded-method', 'method'],
])
const shortestName = Math.min(...[...partsByHeader.keys()].map(({ length }) => length))
const lowerX = 0x78
const allMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/**
 * Reads the original method and URI from a proxy's question: nginx sends X-Original-…, Traefik and Caddy send
 * X-Forwarded-…, Envoy appends the path to the URL. A proxy may pass on its caller's own headers. A question is
 * therefore refused if two of its headers disagree, or if a header names the URI although the path is appended
 * (CVE-2026-40575).
 */
export function readQuestion(question: {
  rawHeaders: readonly string[]
  method: string
  /** The rest of the URL after `/-/check`, including the query. */
  rest: string
  prefix: string
}): AskedByProxy {
  const { rawHeaders, rest, prefix } = question
  const queryAt = rest.indexOf('?')
  const path = queryAt === -1 ? rest : rest.slice(0, queryAt)
  const { uri, method: named } = originalOf(rawHeaders)
  const appended = path === '' || path === '/' ? undefined : path
  if (uri !== undefined && appended !== undefined) throw twoAnswers()
  // If the path is appended, the question has the method of the caller's own request, so a header must not name
  // another.
  if (appended !== undefined && named !== undefined && named !== question.method) throw twoAnswers()
  const method = named ?? (appended === undefined ? undefined : question.method)
  if (method !== undefined && !allMethods.includes(method)) {
    throw new Problem('method_not_allowed', 'The original method is not one that passes here.')
  }
  return {
    asked:
      appended === undefined
        ? askedAbout(targetIn(rest.slice(path.length + 1)), uri, prefix)
        : askedAbout(null, appended, prefix),
    methods: method === undefined ? allMethods : [method],
  }
}

function askedAbout(
  target: string | null,
  uri: string | undefined,
  prefix: string,
): Asked | undefined {
  const path = uri === undefined ? undefined : pathOf(uri)
  if (target !== null) {
    // A proxy that forgot to send the URI would otherwise get the decision for "/", whatever its caller requested.
    if (path === undefined) {
      throw new Problem(
        'bad_request',
        'The target is named, the path is not: send it as X-Original-URI or X-Forwarded-Uri.',
      )
    }
    return { slug: target, path }
  }
  if (path === undefined) return undefined
  return askedOf(path, path.startsWith(`${prefix}/`) ? prefix.length : 0)
}

/**
 * Returns the target that a query names; null if it names none. A query that consists of a target's name needs no
 * decoding, and `URLSearchParams` would cost a third of deciding the question. A second `?` ends the query.
 */
function targetIn(query: string): string | null {
  return /^target=[a-z0-9-]*$/.test(query)
    ? query.slice('target='.length)
    : new URLSearchParams(query.split('?', 1)[0]).get('target')
}

/**
 * Returns the path of an origin-form or absolute URI, without the query and otherwise unmodified; `/` if it is empty.
 */
function pathOf(uri: string): string {
  const path = uri.startsWith('/') ? uri : uri.replace(/^https?:\/\/[^/?#]*/i, '')
  const queryAt = path.indexOf('?')
  const bare = queryAt === -1 ? path : path.slice(0, queryAt)
  return bare === '' ? '/' : bare
}

/** Returns what the headers say of the original request; throws `path_ambiguous` if two of them disagree. */
function originalOf(rawHeaders: readonly string[]): Original {
  const found: Original = { uri: undefined, method: undefined }
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const part = partIn(rawHeaders[at] ?? '')
    if (part === undefined) continue
    const value = rawHeaders[at + 1] ?? ''
    if (found[part] !== undefined && found[part] !== value) throw twoAnswers()
    found[part] = value
  }
  return found
}

function partIn(name: string): OriginalPart | undefined {
  // Most names are recognized as others by their length or first letter, and need no lower-casing.
  if (name.length < shortestName || (name.charCodeAt(0) | 0x20) !== lowerX) return undefined
  return partsByHeader.get(name.toLowerCase())
}

function twoAnswers(): Problem {
  return new Problem(
    'path_ambiguous',
    'The original method or URI was given twice, and differently.',
  )
}
