import type { KeyPrincipal } from '../access/index.ts'
import { Problem, type ProblemCode } from '../errors.ts'
import {
  askRules,
  askedOf,
  checkAddress,
  checkBrowser,
  checks,
  enforce,
  findTarget,
} from './admission.ts'
import type { Check } from './admission.ts'
import type { GuardedTarget } from './guarded-target.ts'
import type { Limits } from './limits.ts'
import type { LastLine } from './rules.ts'
import type { TargetsBySlug } from './target-cache.ts'

/** A call to be judged without being made. */
export interface Trial {
  /** Whose key, or why the key would be refused before anything else is looked at. */
  readonly principal: KeyPrincipal | Problem
  readonly slug: string
  readonly method: string
  /** Path below the target, without query. */
  readonly path: string
  readonly address: string
  readonly fromPage?: boolean | undefined
}

export interface TrialCheck {
  readonly check: Check
  readonly outcome: 'passed' | 'refused' | 'not_reached'
  readonly detail: string | undefined
}

/** What the real call would meet: the same functions in the same order, nothing spent, nothing recorded. */
export interface TrialResult {
  readonly allowed: boolean
  readonly code: ProblemCode | undefined
  readonly status: number | undefined
  readonly stoppedAt: Check | undefined
  readonly ruleId: string | undefined
  readonly trialRuleId: string | undefined
  /** The target's last line, where no rule decided. */
  readonly otherwise: LastLine | undefined
  readonly checks: readonly TrialCheck[]
}

/** Judges a call. */
export async function tryCall(
  trial: Trial,
  deps: { targets: TargetsBySlug; limits: Limits },
): Promise<TrialResult> {
  const { principal } = trial
  let at: Check = 'shape'
  let ruleId: string | undefined
  let trialRuleId: string | undefined
  let otherwise: LastLine | undefined
  try {
    if (principal instanceof Problem) {
      at = shapeCodes.has(principal.code) ? 'shape' : 'key'
      throw principal
    }
    at = 'address'
    checkAddress(principal, trial.address)
    at = 'browser'
    const asked = askedOf(`/${trial.slug}${trial.path}`)
    checkBrowser(signsOf(trial), deps.targets.get(asked.slug))
    at = 'target'
    const target: GuardedTarget = findTarget(deps.targets, principal, asked, trial.method)
    at = 'rules'
    const decision = askRules(target, trial.method, asked.path)
    ruleId = decision.ruleId
    trialRuleId = decision.trialRuleId
    if (ruleId === undefined) otherwise = target.otherwise
    enforce(decision, target)
    at = 'limits'
    await deps.limits.ask(principal, target, false)
    at = 'forward'
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return {
      allowed: false,
      code: error.code,
      status: error.status,
      stoppedAt: at,
      ruleId,
      trialRuleId,
      otherwise,
      checks: checkList(at, error.message),
    }
  }
  return {
    allowed: true,
    code: undefined,
    status: undefined,
    stoppedAt: undefined,
    ruleId,
    trialRuleId,
    otherwise,
    checks: checkList(undefined, undefined),
  }
}

const shapeCodes: ReadonlySet<ProblemCode> = new Set([
  'credential_missing',
  'credential_wrong_header',
  'credential_ambiguous',
])

function signsOf(trial: Trial) {
  return {
    method: trial.method,
    secFetchSite: trial.fromPage === true ? 'cross-site' : undefined,
    accessControlRequestMethod: undefined,
  }
}

function checkList(stoppedAt: Check | undefined, detail: string | undefined): TrialCheck[] {
  const stop = stoppedAt === undefined ? checks.length : checks.indexOf(stoppedAt)
  return checks.map((check, at) => ({
    check,
    outcome: at < stop ? 'passed' : at === stop ? 'refused' : 'not_reached',
    detail: at === stop ? detail : undefined,
  }))
}
