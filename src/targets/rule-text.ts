import { Problem } from '../errors.ts'
import { createId } from '../ids.ts'
import type { RuleRecord } from '../store/index.ts'
import { pathAmbiguity } from './path.ts'
import { writtenPath } from './rule-path.ts'
import type { RuleText } from './rules.ts'

const methodNames = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const maxPathLength = 512
const maxStars = 8
const maxRules = 200

/** A rule in a request; with the id of an existing rule it keeps that id, otherwise it gets a new one. */
export type RuleInput = RuleText & { readonly id?: string | undefined }

/**
 * Parses a rule from one line: `[trial] allow|deny METHODS PATH`, such as `deny DELETE /admin/*`. METHODS is `*` or a
 * list separated by commas.
 */
export function parseRule(line: string): RuleText {
  return checkRule(wordsOf(line))
}

/** Returns the normal form of a rule's text, for comparisons. */
export function tidyRule(line: string): string {
  return renderRule(parseRule(line))
}

function wordsOf(line: string): RuleText {
  const words = line.trim().split(/\s+/)
  const trial = words[0]?.toLowerCase() === 'trial'
  const [effect = '', methods = '', path = '', ...more] = trial ? words.slice(1) : words
  if (more.length > 0 || path === '') throw wrong(line, 'has the form "deny DELETE /admin/*"')
  return {
    effect: effect.toLowerCase() as RuleText['effect'],
    methods: methods === '*' ? [] : methods.split(','),
    path,
    trial,
  }
}

/** Validates a rule and returns its normal form; throws `invalid_input`. */
function checkRule(rule: RuleText): RuleText {
  const { effect, path, trial } = rule
  const methods = rule.methods.map((method) => method.toUpperCase())
  if (effect !== 'allow' && effect !== 'deny') throw wrong(effect, 'begins with allow or deny')
  for (const method of methods) {
    if (!methodNames.has(method)) throw wrong(method, `knows ${[...methodNames].join(', ')} and *`)
  }
  if (path.length > maxPathLength || path.split('*').length - 1 > maxStars) {
    throw wrong(path, `has a path of up to ${maxPathLength} characters and ${maxStars} stars`)
  }
  if (path === '*') return { effect, methods, path: '/*', trial }
  const fault = pathAmbiguity(path, 'verbatim')
  if (fault !== undefined) {
    throw new Problem('invalid_input', `"${path.slice(0, 80)}" is no path of a rule: ${fault}.`)
  }
  if (path.includes('?') || path.includes(';')) {
    throw wrong(path, 'has a path without query and parameters')
  }
  return { effect, methods: [...new Set(methods)], path: writtenPath(path), trial }
}

/** Validates all rules of a target; new ones get an id. */
export function checkRules(
  inputs: readonly RuleInput[],
  present: readonly RuleRecord[],
): RuleRecord[] {
  if (inputs.length > maxRules) {
    throw new Problem('invalid_input', `A target has at most ${maxRules} rules.`)
  }
  const free = new Map(present.map((rule) => [rule.id as string, rule.id]))
  return inputs.map((input) => {
    const kept = input.id === undefined ? undefined : free.get(input.id)
    if (kept !== undefined) free.delete(kept)
    return { id: kept ?? createId('rul'), ...checkRule(input) }
  })
}

/** Formats a rule as one line, as it is typed: `trial deny DELETE /admin/*`. `parseRule` reads the same rule from it. */
export function renderRule(rule: RuleText): string {
  const methods = rule.methods.length === 0 ? '*' : rule.methods.join(',')
  return `${rule.trial ? 'trial ' : ''}${rule.effect} ${methods} ${writtenPath(rule.path)}`
}

function wrong(text: string, must: string): Problem {
  return new Problem('invalid_input', `"${text.slice(0, 80)}" is no rule: a rule ${must}.`)
}
