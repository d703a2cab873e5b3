import { Problem } from '../errors.ts'
import { askedOf, type Asked } from '../targets/index.ts'

/** A proxy's question about a request that it will forward itself. */
export interface AskedByProxy {
  /** Undefined if the proxy asks only about the key. */
  readonly asked: Asked | undefined
  /** The methods to check: that of the original request, or all methods if the proxy names none. */
  readonly methods: readonly string[]
}

const uriNames: readonly string[] = ['x-original-uri', 'x-original-url', 'x-forwarded-uri']
const methodNames: readonly string[] = ['x-original-method', 'x-forwarded-method']
const shortestName = Math.min(...[...uriNames, ...methodNames].map(({ length }) => length))
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
  const [path = '', query = ''] = rest.split('?', 2)
  const uri = only(rawHeaders, uriNames)
  const named = only(rawHeaders, methodNames)
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
        ? askedAbout(new URLSearchParams(query).get('target'), uri, prefix)
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
  return askedOf(path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path)
}

/**
 * Returns the path of an origin-form or absolute URI, without the query and otherwise unmodified; `/` if it is empty.
 */
function pathOf(uri: string): string {
  const path = uri.replace(/^https?:\/\/[^/?#]*/i, '')
  const [bare = ''] = path.split('?', 1)
  return bare === '' ? '/' : bare
}

function only(rawHeaders: readonly string[], names: readonly string[]): string | undefined {
  let found: string | undefined
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (name.length < shortestName || !names.includes(name.toLowerCase())) continue
    const value = rawHeaders[at + 1] ?? ''
    if (found !== undefined && found !== value) throw twoAnswers()
    found = value
  }
  return found
}

function twoAnswers(): Problem {
  return new Problem(
    'path_ambiguous',
    'The original method or URI was given twice, and differently.',
  )
}
