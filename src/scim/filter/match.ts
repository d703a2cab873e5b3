import type { Filter, Operator } from './filter-tree.ts'
import { foldText, parseTime } from '../schema/fold.ts'
import type { Value, Values } from '../schema/values.ts'

/** Whether a complex value matches the filter between the brackets of a value path. */
export function matches(value: Values, filter: Filter): boolean {
  switch (filter.kind) {
    case 'and':
      return filter.terms.every((term) => matches(value, term))
    case 'or':
      return filter.terms.some((term) => matches(value, term))
    case 'not':
      return !matches(value, filter.term)
    case 'present':
      return value[filter.target.attribute.name] !== undefined
    case 'compare': {
      const { attribute } = filter.target
      const own = comparable(value[attribute.name], filter)
      return own === undefined
        ? filter.operator === 'ne'
        : compare(own, filter.operator, filter.value)
    }
    case 'some':
    case 'never':
      return false
    default:
      return filter satisfies never
  }
}

function comparable(
  value: Value | undefined,
  filter: Extract<Filter, { kind: 'compare' }>,
): string | number | undefined {
  const { attribute } = filter.target
  if (typeof value === 'boolean') return value ? 1 : 0
  if (typeof value !== 'string') return undefined
  return attribute.type === 'dateTime' ? parseTime(value) : foldText(attribute, value)
}

function compare(own: string | number, operator: Operator, wanted: string | number): boolean {
  switch (operator) {
    case 'eq':
      return own === wanted
    case 'ne':
      return own !== wanted
    case 'co':
      return String(own).includes(String(wanted))
    case 'sw':
      return String(own).startsWith(String(wanted))
    case 'ew':
      return String(own).endsWith(String(wanted))
    case 'gt':
      return own > wanted
    case 'ge':
      return own >= wanted
    case 'lt':
      return own < wanted
    case 'le':
      return own <= wanted
    default:
      return operator satisfies never
  }
}
