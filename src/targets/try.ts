import type { KeyPrincipal } from '../access/index.ts'
import { Problem, type ProblemCode } from '../errors.ts'
import { admit, decisionOf, type Refused, type Verdict } from './admission.ts'
import { askedOf, checks, type Check } from './asked.ts'
import type { Limits } from './limits.ts'
import type { LastLine } from './rules.ts'
import type { TargetsBySlug } from './target-cache.ts'

/** A call that is not made: only the decision about it is wanted. */
export interface Trial {
  /** The key's principal, or why the key would be refused before any other check. */
  readonly principal: KeyPrincipal | Problem
  readonly slug: string
  readonly method: string
  /** The path below the target, without the query. */
  readonly path: string
  readonly address: string
  readonly fromPage?: boolean | undefined
}

export interface TrialCheck {
  readonly check: Check
  readonly outcome: 'passed' | 'refused' | 'not_reached'
  readonly detail: string | undefined
}

/** How the real call would be decided. */
export interface TrialResult {
  readonly allowed: boolean
  readonly code: ProblemCode | undefined
  readonly status: number | undefined
  readonly stoppedAt: Check | undefined
  readonly ruleId: string | undefined
  readonly trialRuleId: string | undefined
  /** The target's last line, if it decided. */
  readonly otherwise: LastLine | undefined
  readonly checks: readonly TrialCheck[]
}

/** Runs the checks of a real call without forwarding, counting or recording anything. */
export async function tryCall(
  trial: Trial,
  deps: { targets: TargetsBySlug; limits: Limits },
): Promise<TrialResult> {
  const verdict = await judge(trial, deps)
  const known = verdict.isAdmitted ? verdict : verdict.known
  const decision = decisionOf(known)
  const problem = verdict.isAdmitted ? undefined : problemOf(verdict)
  const stoppedAt = verdict.isAdmitted ? undefined : verdict.stoppedAt
  return {
    allowed: verdict.isAdmitted,
    code: problem?.code,
    status: problem?.status,
    stoppedAt,
    ruleId: decision?.ruleId,
    trialRuleId: decision?.trialRuleId,
    otherwise:
      decision !== undefined && decision.ruleId === undefined ? known?.target.otherwise : undefined,
    checks: checkList(stoppedAt, problem?.message),
  }
}

async function judge(
  trial: Trial,
  { targets, limits }: { targets: TargetsBySlug; limits: Limits },
): Promise<Verdict> {
  const { principal, address, method } = trial
  if (principal instanceof Problem) {
    const stoppedAt = shapeCodes.has(principal.code) ? 'shape' : 'key'
    return { isAdmitted: false, stoppedAt, error: principal, known: undefined }
  }
  const asked = askedOf(`/${trial.slug}${trial.path}`)
  return await admit({
    ...{ principal, address, method, methods: [method], limits, spend: false },
    ...{ asked, named: targets.get(asked.slug) },
    signs: {
      secFetchSite: trial.fromPage === true ? 'cross-site' : undefined,
      accessControlRequestMethod: undefined,
    },
  })
}

/**
 * Returns the refusal to show. Throws any other error, a bug of ours or a database outage, so that the person sees that
 * the trial itself failed.
 */
function problemOf({ error }: Refused): Problem {
  if (error instanceof Problem) return error
  throw error
}

const shapeCodes: ReadonlySet<ProblemCode> = new Set([
  'credential_missing',
  'credential_wrong_header',
  'credential_ambiguous',
])

function checkList(stoppedAt: Check | undefined, detail: string | undefined): TrialCheck[] {
  const stop = stoppedAt === undefined ? checks.length : checks.indexOf(stoppedAt)
  return checks.map((check, at) => ({
    check,
    outcome: at < stop ? 'passed' : at === stop ? 'refused' : 'not_reached',
    detail: at === stop ? detail : undefined,
  }))
}
