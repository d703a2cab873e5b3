/** Targets, rules, limits and quotas: manages targets and decides calls. */
export {
  admit,
  checkAgain,
  checkCaller,
  decisionOf,
  type Admitted,
  type Decided,
  type Located,
  type Refused,
  type Verdict,
} from './admission.ts'
export { askedOf, checks, gatewayPrefix, type Asked, type Check } from './asked.ts'
export { reachable } from './find-target.ts'
export { openCredential, type GuardedTarget } from './guarded-target.ts'
export { createLimits, type Limits } from './limits.ts'
export { createQuotas, quotaStanding, type Quotas } from './quotas.ts'
export { createTargetCache, type TargetCache, type TargetsBySlug } from './target-cache.ts'
export { previewJson, type RulePreview } from './rule-preview.ts'
export { parseRule, renderRule, tidyRule } from './rule-text.ts'
export type { LastLine } from './rules.ts'

export { defaultSettings, type CaptureSettings, type TargetSettings } from './settings.ts'
export { createTargets, type Target, type Targets, type TargetInput } from './targets.ts'
export { tryCall } from './try.ts'
