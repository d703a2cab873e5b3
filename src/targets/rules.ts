import { compilePattern } from './path-pattern.ts'
import { withoutEndSlash, type PathReadings } from './path.ts'
import { decodedAgainPath, writtenPath } from './rule-path.ts'

/** A rule as written. Of the rules that match method and path, the first that is not on trial decides. */
export interface RuleText {
  readonly effect: 'allow' | 'deny'
  /** Upper-case methods; an empty list means all. */
  readonly methods: readonly string[]
  /**
   * A path below the target; `*` matches anything within a segment, and at the end of the path everything below too.
   * Other characters are compared decoded; `%2A` is a star that matches itself. A deny rule also matches its path
   * decoded twice.
   * In a deny rule whose path ends with `*`, every star in the last segment also matches across slashes.
   */
  readonly path: string
  /** Whether the rule decides nothing and only counts the calls that it would refuse. */
  readonly trial: boolean
}

/** A rule ready to be matched against paths. */
export interface Rule extends RuleText {
  readonly id: string
  readonly matches: (path: string) => boolean
}

/** The action for a call that no rule decides: the last line of every list of rules. */
export type LastLine = 'allow' | 'refuse'

/** A target's rules in order, with their last line; `otherwise` is undefined if it is not set. */
export interface RuleList {
  readonly rules: readonly Rule[]
  readonly otherwise: LastLine | undefined
}

export interface Decision {
  readonly allowed: boolean
  /** The rule that decided; undefined if the last line did. */
  readonly ruleId: string | undefined
  /** The first trial rule that would have refused the call. */
  readonly trialRuleId: string | undefined
}

/**
 * Returns the effective last line. If it is not set, it is `refuse` as soon as an allow rule is active; trial rules
 * don't count.
 */
export function lastLineOf(list: {
  readonly rules: readonly RuleText[]
  readonly otherwise: LastLine | undefined
}): LastLine {
  if (list.otherwise !== undefined) return list.otherwise
  return list.rules.some((rule) => rule.effect === 'allow' && !rule.trial) ? 'refuse' : 'allow'
}

/**
 * The first matching rule that is not on trial decides, otherwise the last line. A deny rule matches if any possible
 * reading of the path does, an allow rule only if all the usual ones do.
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

/**
 * Compiles a rule. A deny rule ignores slashes at the end of its path, may match across slashes (`isWide`), and also
 * matches its path decoded twice, so that it holds for upstreams that decode twice however a call spells that path.
 */
export function compileRule(id: string, rule: RuleText): Rule {
  const written = writtenPath(rule.path)
  if (rule.effect === 'allow') return { ...rule, id, matches: compilePattern(written, false) }
  const once = withoutEndSlash(written)
  const again = withoutEndSlash(decodedAgainPath(written))
  const matchesOnce = compilePattern(once, true)
  if (again === once) return { ...rule, id, matches: matchesOnce }
  const matchesAgain = compilePattern(again, true)
  return { ...rule, id, matches: (path) => matchesOnce(path) || matchesAgain(path) }
}

function matchesReadings(rule: Rule, { usual, possible }: PathReadings): boolean {
  return rule.effect === 'deny' ? possible.some(rule.matches) : usual.every(rule.matches)
}
