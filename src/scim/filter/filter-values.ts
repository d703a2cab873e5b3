import { findAttribute, type Attribute, type Target } from '../schema/attributes.ts'
import { refuse } from '../protocol/errors.ts'
import type { Token } from './filter-tokens.ts'
import type { Filter, Operator } from './filter-tree.ts'
import { foldText, parseTime } from '../schema/fold.ts'

const operators = new Set<string>(['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le', 'pr'])
const words = new Set<string>(['and', 'or', 'not', 'true', 'false', 'null'])
const textOnly = new Set<Operator>(['co', 'sw', 'ew'])
const ordering = new Set<Operator>(['gt', 'ge', 'lt', 'le'])

/** Returns the operator that a word names, in upper or lower case; undefined if it names none. */
export function operatorOf(word: string): Operator | 'pr' | undefined {
  const folded = word.toLowerCase()
  return operators.has(folded) ? (folded as Operator | 'pr') : undefined
}

/**
 * Builds a comparison and converts its value to the form in which its attribute is compared (RFC 7644 section 3.4.2.2).
 */
export function compareValue(named: Target, operator: Operator, literal: Token): Filter {
  if (literal.kind === 'word' && literal.text.toLowerCase() === 'null') {
    return compareWithNull(named, operator)
  }
  const target = withDefaultPart(named)
  const compared = target.sub ?? target.attribute
  const value = valueOf(compared, operator, literal)
  // Every string contains, starts with and ends with the empty string.
  if (value === '' && textOnly.has(operator)) return { kind: 'present', target }
  return { kind: 'compare', target, operator, value }
}

// Adds the part `value` to a complex attribute that is compared as a whole, as in `emails co "@x"` (RFC 7644 section
// 3.4.2.2).
function withDefaultPart(target: Target): Target {
  if (target.sub !== undefined || target.attribute.type !== 'complex') return target
  const part = findAttribute(target.attribute.subAttributes ?? [], 'value')
  if (part === undefined) {
    throw refuse('invalidFilter', `'${target.attribute.name}' can only be asked for with 'pr'.`)
  }
  return { ...target, sub: part }
}

function compareWithNull(target: Target, operator: Operator): Filter {
  const present: Filter = { kind: 'present', target }
  if (operator === 'ne') return present
  if (operator === 'eq') return { kind: 'not', term: present }
  throw refuse('invalidFilter', `'${operator}' cannot compare with null.`)
}

function valueOf(compared: Attribute, operator: Operator, literal: Token): string | number {
  switch (compared.type) {
    case 'boolean':
      return truth(compared, operator, literal)
    case 'dateTime':
      return time(compared, operator, literal)
    case 'binary':
      if (operator !== 'eq' && operator !== 'ne') throw notComparable(compared, operator)
      return text(compared, literal)
    case 'string':
    case 'reference':
    case 'integer':
    case 'complex':
      return foldText(compared, text(compared, literal))
    default:
      return compared.type satisfies never
  }
}

function truth(compared: Attribute, operator: Operator, literal: Token): number {
  if (operator !== 'eq' && operator !== 'ne') throw notComparable(compared, operator)
  const word = literal.kind === 'text' ? literal.value : literal.kind === 'word' ? literal.text : ''
  // Entra sends `active eq "True"`.
  if (word.toLowerCase() === 'true') return 1
  if (word.toLowerCase() === 'false') return 0
  throw refuse('invalidFilter', `'${compared.name}' is compared with true or false.`)
}

function time(compared: Attribute, operator: Operator, literal: Token): number {
  if (textOnly.has(operator)) throw notComparable(compared, operator)
  const parsed = parseTime(bareText(literal) ?? '')
  if (parsed === undefined) {
    throw refuse('invalidFilter', `'${compared.name}' is compared with a time in quotes.`)
  }
  return parsed
}

function text(compared: Attribute, literal: Token): string {
  const read = bareText(literal)
  if (read === undefined) {
    throw refuse('invalidFilter', `'${compared.name}' is compared with a text in quotes.`)
  }
  return read
}

// The grammar requires quotes, but Microsoft's and WSO2's test suites omit them around a single word.
function bareText(literal: Token): string | undefined {
  if (literal.kind === 'text') return literal.value
  if (literal.kind !== 'word') return undefined
  const folded = literal.text.toLowerCase()
  const meant = operators.has(folded) || words.has(folded) || !Number.isNaN(Number(folded))
  return meant ? undefined : literal.text
}

function notComparable(compared: Attribute, operator: Operator): Error {
  const kind = ordering.has(operator) ? 'has no order' : 'is no text'
  return refuse('invalidFilter', `'${compared.name}' ${kind}: '${operator}' cannot be used.`)
}
