import { decode, withoutEndSlash, type PathReadings } from './path.ts'

/** A rule as written; the first one that matches method and path decides. */
export interface RuleText {
  readonly effect: 'allow' | 'deny'
  /** Upper-case methods; an empty list means all. */
  readonly methods: readonly string[]
  /** A path below the target; `*` matches anything within a segment, and at the end everything below. */
  readonly path: string
  /** Whether the rule refuses nothing and only counts the calls that it would refuse. */
  readonly trial: boolean
}

/** A rule ready to be matched against paths. */
export interface Rule extends RuleText {
  readonly id: string
  readonly matches: (path: string) => boolean
}

/** The action for a call that no rule decides: the last line of every list of rules. */
export type LastLine = 'allow' | 'refuse'

/** A target's rules in order with their last line; undefined if it was never set. */
export interface RuleList {
  readonly rules: readonly Rule[]
  readonly otherwise: LastLine | undefined
}

/** The rules' decision on a call. */
export interface Decision {
  readonly allowed: boolean
  /** The rule that decided; undefined if the last line did. */
  readonly ruleId: string | undefined
  /** A trial rule that would have refused the call. */
  readonly trialRuleId: string | undefined
}

/**
 * The effective last line. If it was never set, it is `refuse` as soon as an allow rule is active; trial rules don't
 * count.
 */
export function lastLineOf(list: {
  readonly rules: readonly RuleText[]
  readonly otherwise: LastLine | undefined
}): LastLine {
  if (list.otherwise !== undefined) return list.otherwise
  return list.rules.some((rule) => rule.effect === 'allow' && !rule.trial) ? 'refuse' : 'allow'
}

/**
 * Decides by ordered rules: the first match wins, otherwise the last line. A deny rule matches if any possible reading
 * of the path does, an allow rule only if all the usual ones do.
 */
export function decide(list: RuleList, method: string, readings: PathReadings): Decision {
  let trialRuleId: string | undefined
  for (const rule of list.rules) {
    if (!coversMethod(rule.methods, method) || !matchesReadings(rule, readings)) continue
    if (!rule.trial) return { allowed: rule.effect === 'allow', ruleId: rule.id, trialRuleId }
    if (rule.effect === 'deny') trialRuleId ??= rule.id
  }
  return { allowed: lastLineOf(list) === 'allow', ruleId: undefined, trialRuleId }
}

/**
 * Whether a list of methods includes one: an empty list includes all, and GET includes HEAD (RFC 9110, section 9.3.2).
 */
export function coversMethod(methods: readonly string[], method: string): boolean {
  return (
    methods.length === 0 ||
    methods.includes(method) ||
    (method === 'HEAD' && methods.includes('GET'))
  )
}

/** Compiles a rule; in a deny rule, slashes at the end of the path are ignored. */
export function compileRule(id: string, rule: RuleText): Rule {
  const path = rule.effect === 'deny' ? withoutEndSlash(rule.path) : rule.path
  return { ...rule, id, matches: compilePattern(path) }
}

function matchesReadings(rule: Rule, { usual, possible }: PathReadings): boolean {
  return rule.effect === 'deny' ? possible.some(rule.matches) : usual.every(rule.matches)
}

/** Compiles a pattern into a function whose time is linear in the path's length. */
function compilePattern(pattern: string): (path: string) => boolean {
  const text = decode(pattern)
  if (text === '*' || text === '/*') return () => true
  if (!text.includes('*')) return (path) => path === text
  const below = text.endsWith('/*') ? text.slice(0, -2) : undefined
  if (below !== undefined && !below.includes('*')) {
    return (path) => path === below || (path.startsWith(below) && path.charAt(below.length) === '/')
  }
  const start = text.slice(0, -1)
  if (text.endsWith('*') && !start.includes('*')) return (path) => path.startsWith(start)
  const segments = text.split('/')
  return (path) => matchesSegments(segments, path.split('/'))
}

function matchesSegments(pattern: readonly string[], path: readonly string[]): boolean {
  for (let at = 0; at < pattern.length; at++) {
    const wanted = pattern[at] ?? ''
    const isLast = at === pattern.length - 1
    if (isLast && wanted === '*') return path.length >= at
    const given = path[at]
    if (given === undefined) return false
    if (isLast && wanted.endsWith('*')) return matchesGlob(wanted, path.slice(at).join('/'))
    if (!matchesGlob(wanted, given)) return false
  }
  return pattern.length === path.length
}

/**
 * Matches a pattern whose `*` stands for any run of characters. Only the last star is tried again, so the time is at
 * most the product of both lengths.
 */
function matchesGlob(pattern: string, text: string): boolean {
  let at = 0
  let star = -1
  let resume = 0
  let p = 0
  while (at < text.length) {
    if (pattern.charAt(p) === '*') {
      star = p++
      resume = at
    } else if (p < pattern.length && pattern.charAt(p) === text.charAt(at)) {
      p++
      at++
    } else if (star !== -1) {
      p = star + 1
      at = ++resume
    } else {
      return false
    }
  }
  while (pattern.charAt(p) === '*') p++
  return p === pattern.length
}
