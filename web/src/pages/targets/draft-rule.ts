import type { Rule } from '../../api/shapes.ts'

/** A rule while it is edited: new ones have no id yet. */
export type DraftRule = Pick<Rule, 'effect' | 'methods' | 'path' | 'trial'> & {
  readonly id?: string
  readonly calls?: number
}

/** What is saved of a rule: not its counts. */
export function savedRule(rule: DraftRule): Omit<DraftRule, 'calls'> {
  const { id, effect, methods, path, trial } = rule
  return { effect, methods, path, trial, ...(id === undefined ? {} : { id }) }
}
