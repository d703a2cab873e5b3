import { foldHeaderName, responseHeaderFate } from '../message/header-rules.ts'
import type { UpstreamResponseHead } from './response-head.ts'

/** Selects the response headers that reach the caller. */
export interface AnswerFilter {
  /** Lower-case names of the headers that the target lets through although they affect Intercept's origin. */
  readonly allowed: ReadonlySet<string>
  /** Whether the upstream's CORS headers are passed through, because the target allows browsers. */
  readonly forPages: boolean
}

/** Returns the upstream's headers for the caller, without hop-by-hop and withheld ones, followed by `own`. */
export function filterAnswerHeaders(
  head: Pick<UpstreamResponseHead, 'status' | 'headers' | 'connectionNames'>,
  filter: AnswerFilter,
  own: readonly string[],
): string[] {
  const { status, headers, connectionNames } = head
  // 1xx and 204 responses must not have a Content-Length (RFC 9110, section 8.6).
  const hasNoLength = status === 204 || status < 200
  const kept: string[] = []
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = headers[at] ?? ''
    const value = headers[at + 1] ?? ''
    const fate = responseHeaderFate(name)
    if (fate === 'drop') continue
    if (fate === 'cors' && !filter.forPages) continue
    if (fate === 'origin' && !mayPass(name, value, filter)) continue
    if (connectionNames.length > 0 && connectionNames.includes(name.toLowerCase())) continue
    if (hasNoLength && name.toLowerCase() === 'content-length') continue
    kept.push(name, value)
  }
  for (const item of own) kept.push(item)
  return kept
}

function mayPass(name: string, value: string, filter: AnswerFilter): boolean {
  const folded = foldHeaderName(name)
  if (!filter.allowed.has(folded)) return false
  // Whatever the target allows, cookies with the prefix `__Host-` belong to Intercept. A browser sends a nameless
  // cookie as its bare value, so the prefix may also stand after the equals sign.
  return folded !== 'set-cookie' || !/^\s*(?:=\s*)?__Host-/i.test(value)
}
