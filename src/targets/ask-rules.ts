import { Problem } from '../errors.ts'
import type { GuardedTarget } from './guarded-target.ts'
import { pathAmbiguity, readingsOf } from './path.ts'
import { decide, type Decision, type RuleList } from './rules.ts'
import type { TargetSettings } from './settings.ts'
import { ambiguous } from './find-target.ts'

/** Returns what the target's rules decide for a call; throws only 400 `path_ambiguous`, not the rules' own refusal. */
export function askRules(
  target: RuleList & { readonly settings: Pick<TargetSettings, 'paths'> },
  method: string,
  path: string,
): Decision {
  const fault = pathAmbiguity(path, target.settings.paths)
  if (fault !== undefined) throw ambiguous(fault)
  return decide(target, method, readingsOf(path))
}

/** Evaluates the rules for several methods: returns the first decision that refuses, otherwise the last decision. */
export function askRulesOfAll(
  target: GuardedTarget,
  methods: readonly string[],
  path: string,
): Decision {
  let decision: Decision | undefined
  for (const method of methods) {
    decision = askRules(target, method, path)
    if (!decision.allowed) return decision
  }
  return decision ?? refusal
}

/** Returns the refusal 403 `rule_denied` for a call that the rules do not allow; undefined for one that they do. */
export function refusalOf(decision: Decision, target: GuardedTarget): Problem | undefined {
  if (decision.allowed) return undefined
  const { ruleId } = decision
  return new Problem(
    'rule_denied',
    ruleId === undefined
      ? 'No rule of the target matches this method and path, and its last line is “otherwise: refuse”.'
      : `Rule ${target.rules.findIndex((rule) => rule.id === ruleId) + 1} of the target refuses this method and path.`,
    { members: { rule_id: ruleId ?? null } },
  )
}

const refusal: Decision = { allowed: false, ruleId: undefined, trialRuleId: undefined }
