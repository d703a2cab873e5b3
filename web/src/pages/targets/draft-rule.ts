import type { Rule } from '../../api/shapes.ts'

/** A new rule has no id yet. */
export type DraftRule = Pick<Rule, 'effect' | 'methods' | 'path' | 'trial'> & {
  readonly id?: string
  readonly calls?: number
}

export function savedRule(rule: DraftRule): Omit<DraftRule, 'calls'> {
  const { id, effect, methods, path, trial } = rule
  return { effect, methods, path, trial, ...(id === undefined ? {} : { id }) }
}
