import type { Rule } from '../../api/shapes.ts'

/** A rule being edited; new ones have no id yet. */
export type DraftRule = Pick<Rule, 'effect' | 'methods' | 'path' | 'trial'> & {
  readonly id?: string
  readonly calls?: number
}

/** The fields of a rule that are saved, without its counts. */
export function savedRule(rule: DraftRule): Omit<DraftRule, 'calls'> {
  const { id, effect, methods, path, trial } = rule
  return { effect, methods, path, trial, ...(id === undefined ? {} : { id }) }
}
