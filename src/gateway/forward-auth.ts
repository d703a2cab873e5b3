import { Problem } from '../errors.ts'
import { askedOf, type Asked } from '../targets/index.ts'

/** What a proxy asks about, before it passes a request on by itself. */
export interface AskedByProxy {
  /** Undefined when the proxy asks about the key alone. */
  readonly asked: Asked | undefined
  /** The methods to be judged: the caller's, or all of them when the proxy does not say. */
  readonly methods: readonly string[]
}

const allMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/**
 * Reads the original method and URI out of a proxy's question: nginx sends X-Original-…, Traefik and Caddy
 * X-Forwarded-…, Envoy appends the path to the address. A proxy passes on what its caller sent, so two different
 * answers to the same question are refused (CVE-2026-40575).
 */
export function readQuestion(question: {
  rawHeaders: readonly string[]
  method: string
  /** What follows `/-/check`, with the query. */
  rest: string
  prefix: string
}): AskedByProxy {
  const { rawHeaders, rest, prefix } = question
  const [path = '', query = ''] = rest.split('?', 2)
  const uri = only(rawHeaders, ['x-original-uri', 'x-original-url', 'x-forwarded-uri'])
  const named = only(rawHeaders, ['x-original-method', 'x-forwarded-method'])
  const appended = path === '' || path === '/' ? undefined : path
  if (uri !== undefined && appended !== undefined) throw twoAnswers()
  // An appended path is the caller's own request, query and method included: headers may not name another URI or method.
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
    // A proxy that forgot to say so would otherwise get the decision on "/" for whatever its caller asked.
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

/** The path of an origin-form or absolute URI, as it was written. */
function pathOf(uri: string): string {
  const path = uri.replace(/^https?:\/\/[^/?#]*/i, '')
  const [bare = ''] = path.split('?', 1)
  return bare === '' ? '/' : bare
}

function only(rawHeaders: readonly string[], names: readonly string[]): string | undefined {
  let found: string | undefined
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (!names.includes(name.toLowerCase())) continue
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
