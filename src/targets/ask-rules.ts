import { Problem } from '../errors.ts'
import type { GuardedTarget } from './guarded-target.ts'
import {
  pathAmbiguity,
  plainReading,
  readingsOf,
  type PathMode,
  type PathReadings,
} from './path.ts'
import { decide, type Decision, type RuleList } from './rules.ts'
import type { TargetSettings } from './settings.ts'
import { ambiguous } from './find-target.ts'

/** Returns what the target's rules decide for a call; throws only 400 `path_ambiguous`, not the rules' own refusal. */
export function askRules(
  target: RuleList & { readonly settings: Pick<TargetSettings, 'paths'> },
  method: string,
  path: string,
): Decision {
  return decide(target, method, readPath(path, target.settings.paths))
}

/** Evaluates the rules for several methods: returns the first decision that refuses, otherwise the last decision. */
export function askRulesOfAll(
  target: GuardedTarget,
  methods: readonly string[],
  path: string,
): Decision {
  const readings = readPath(path, target.settings.paths)
  let decision: Decision | undefined
  for (const method of methods) {
    decision = decide(target, method, readings)
    if (!decision.allowed) return decision
  }
  return decision ?? refusal
}

function readPath(path: string, mode: PathMode): PathReadings {
  const plain = plainReading(path)
  if (plain !== undefined) return plain
  const fault = pathAmbiguity(path, mode)
  if (fault !== undefined) throw ambiguous(fault)
  return readingsOf(path)
}

/** Returns the refusal 403 `rule_denied` for a call that the rules do not allow; undefined for one that they do. */
export function refusalOf(decision: Decision, target: GuardedTarget): Problem | undefined {
  if (decision.allowed) return undefined
  const { ruleId } = decision
  let known = refusals.get(target)
  if (known === undefined) {
    known = new Map()
    refusals.set(target, known)
  }
  let problem = known.get(ruleId)
  if (problem === undefined) {
    problem = Object.freeze(deniedBy(ruleId, target))
    known.set(ruleId, problem)
  }
  return problem
}

// All calls that one rule refuses share a refusal, because making an error costs more than evaluating the rules. Targets
// are replaced, never changed, so a refusal stays true for as long as its target exists.
const refusals = new WeakMap<GuardedTarget, Map<string | undefined, Problem>>()

function deniedBy(ruleId: string | undefined, target: GuardedTarget): Problem {
  return new Problem(
    'rule_denied',
    ruleId === undefined
      ? 'No rule of the target matches this method and path, and its last line is “otherwise: refuse”.'
      : `Rule ${target.rules.findIndex((rule) => rule.id === ruleId) + 1} of the target refuses this method and path.`,
    { members: { rule_id: ruleId ?? null } },
  )
}

const refusal: Decision = { allowed: false, ruleId: undefined, trialRuleId: undefined }
