import { foldHeaderName, responseHeaderFate } from '../message/header-rules.ts'
import type { UpstreamResponseHead } from './response-head.ts'

/** Selects the response headers that reach the caller. */
export interface AnswerFilter {
  /** Lower-case names of headers that the target lets through although they affect our origin. */
  readonly allowed: ReadonlySet<string>
  /** Pass the upstream's CORS headers through, because the target allows browsers. */
  readonly forPages: boolean
}

/** The upstream's headers for the caller: without hop-by-hop and withheld ones, plus `own`. */
export function filterAnswerHeaders(
  head: Pick<UpstreamResponseHead, 'status' | 'headers' | 'connectionNames'>,
  filter: AnswerFilter,
  own: readonly string[],
): string[] {
  const { status, headers, connectionNames } = head
  // RFC 9110, section 8.6: such a response has no body to announce.
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
  // Cookies with this prefix are ours, whatever the target allows; browsers may send one without a name as its value.
  return folded !== 'set-cookie' || !/^\s*(?:=\s*)?__Host-/i.test(value)
}
