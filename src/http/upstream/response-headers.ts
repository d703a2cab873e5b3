import { foldHeaderName, responseHeaderFate } from '../message/header-rules.ts'

/** What of an answer's headers reaches the caller. */
export interface AnswerFilter {
  /** Lower-case names of the headers that the target lets through although they act on our origin. */
  readonly allowed: ReadonlySet<string>
  /** Whether the target is meant for pages: only then its word on which pages may read it counts. */
  readonly forPages: boolean
}

/** The upstream's headers as the caller gets them: without hop-by-hop ones and those kept back, plus `own`. */
export function filterAnswerHeaders(
  head: { readonly headers: readonly string[]; readonly connectionNames: readonly string[] },
  filter: AnswerFilter,
  own: readonly string[],
): string[] {
  const { headers, connectionNames } = head
  const kept: string[] = []
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = headers[at] ?? ''
    const value = headers[at + 1] ?? ''
    const fate = responseHeaderFate(name)
    if (fate === 'drop') continue
    if (fate === 'cors' && !filter.forPages) continue
    if (fate === 'origin' && !mayPass(name, value, filter)) continue
    if (connectionNames.length > 0 && connectionNames.includes(name.toLowerCase())) continue
    kept.push(name, value)
  }
  for (const item of own) kept.push(item)
  return kept
}

function mayPass(name: string, value: string, filter: AnswerFilter): boolean {
  const folded = foldHeaderName(name)
  if (!filter.allowed.has(folded)) return false
  // Cookies of that kind are ours, whatever the target may do.
  return folded !== 'set-cookie' || !value.trimStart().startsWith('__Host-')
}
