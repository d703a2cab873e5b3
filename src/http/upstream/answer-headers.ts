/** What of an answer's headers reaches the caller. */
export interface AnswerFilter {
  /** Lower-case names of the headers that the target lets through although they act on our origin. */
  readonly allowed: ReadonlySet<string>
  /** Whether the target is meant for pages: only then its word on which pages may read it counts. */
  readonly forPages: boolean
}

/** Headers that speak for a whole origin, which is ours and not the upstream's (P13). */
export const originHeaders: ReadonlySet<string> = new Set([
  'set-cookie',
  'clear-site-data',
  'alt-svc',
  'strict-transport-security',
  'service-worker-allowed',
])

/** The upstream's headers as the caller gets them: without hop-by-hop ones and those kept back, plus `own`. */
export function filterAnswerHeaders(
  headers: readonly string[],
  connectionNames: readonly string[],
  filter: AnswerFilter,
  own: readonly string[],
): string[] {
  const kept: string[] = []
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = headers[at] ?? ''
    const value = headers[at + 1] ?? ''
    const fate = fateOf(name)
    if (fate === 'drop') continue
    if (fate === 'cors' && !filter.forPages) continue
    if (fate === 'origin' && !mayPass(name, value, filter)) continue
    if (connectionNames.length > 0 && connectionNames.includes(name.toLowerCase())) continue
    kept.push(name, value)
  }
  for (const item of own) kept.push(item)
  return kept
}

type Fate = 'pass' | 'drop' | 'origin' | 'cors'

// Content-Length stays: it is end to end, and the body that follows was counted.
const hopByHop: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authentication-info',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

const fates = new Map<string, Fate>()
const fatesAtMost = 2000

function fateOf(name: string): Fate {
  const fate = fates.get(name)
  if (fate !== undefined) return fate
  // Some readers take "_" for "-": an alias of a name of ours is that name.
  const found = judge(name.toLowerCase().replaceAll('_', '-'))
  if (fates.size < fatesAtMost && name.length <= 64) fates.set(name, found)
  return found
}

function judge(lower: string): Fate {
  // Only we say Intercept-…: an upstream can't pass its answer off as our refusal.
  if (hopByHop.has(lower) || lower.startsWith('intercept-')) return 'drop'
  if (lower.startsWith('access-control-')) return 'cors'
  return originHeaders.has(lower) ? 'origin' : 'pass'
}

function mayPass(name: string, value: string, filter: AnswerFilter): boolean {
  const lower = name.toLowerCase().replaceAll('_', '-')
  if (!filter.allowed.has(lower)) return false
  // Cookies of that kind are ours, whatever the target may do.
  return lower !== 'set-cookie' || !value.trimStart().startsWith('__Host-')
}
