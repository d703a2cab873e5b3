import type { DirectoryCondition, DirectoryField } from '../../store/index.ts'
import type { Attribute, ResourceType, Target } from '../schema/attributes.ts'
import { refuse } from '../protocol/errors.ts'
import type { Filter } from './filter-tree.ts'
import { matches } from './match.ts'
import { foldText } from '../schema/fold.ts'
import { groupSchema } from '../schema/schema-group.ts'

type Comparison = Extract<Filter, { kind: 'compare' }>

/** The name under which the folded attributes contain the sort values of multi-valued attributes. */
export const leadingName = '~leading'

/** Converts a filter into a condition that the store can compile for both engines; `base` is the URL of `/scim/v2`. */
export function toCondition(type: ResourceType, filter: Filter, base: string): DirectoryCondition {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return { kind: filter.kind, terms: filter.terms.map((term) => toCondition(type, term, base)) }
    case 'not':
      return { kind: 'not', term: toCondition(type, filter.term, base) }
    case 'never':
      return constant(false)
    case 'present':
      return present(type, filter.target)
    case 'compare':
      return compare(type, filter, base)
    case 'some':
      return some(type, filter.target, filter.where)
    default:
      return filter satisfies never
  }
}

/** Returns the field to sort by for an attribute; undefined if resources can't be sorted by the attribute. */
export function sortField(
  type: ResourceType,
  target: Target,
): { field: DirectoryField; type: 'text' | 'number' } | undefined {
  const part = target.sub ?? target.attribute
  if (target.attribute.multiValued) return leadingField(type, target)
  if (part.type === 'complex') return undefined
  const column = columnOf(type, target)
  const kind = kindOf(part)
  if (column !== undefined) return { field: { column }, type: kind }
  if (target.attribute.name === 'meta' || target.attribute.name === 'schemas') return undefined
  return { field: { path: pathOf(target), type: kind }, type: kind }
}

function present(type: ResourceType, target: Target): DirectoryCondition {
  const { attribute, sub } = target
  const column = columnOf(type, target)
  if (column !== undefined) return { kind: 'present', field: { column } }
  if (attribute.name === 'meta' || attribute.name === 'schemas') return constant(true)
  if (isRelated(type, attribute)) return { kind: 'related', where: undefined }
  if (!attribute.multiValued) {
    return { kind: 'present', field: { path: pathOf(target), type: 'text' } }
  }
  const where: DirectoryCondition | undefined = sub && {
    kind: 'present',
    field: { part: sub.name, type: kindOf(sub) },
  }
  return { kind: 'some', path: pathOf({ ...target, sub: undefined }), where }
}

function leadingField(
  type: ResourceType,
  { attribute, sub }: Target,
): ReturnType<typeof sortField> {
  const hasValue = attribute.subAttributes?.some(({ name }) => name === 'value') === true
  if (!hasValue || isRelated(type, attribute)) return undefined
  if (sub !== undefined && sub.name !== 'value') return undefined
  return { field: { path: [leadingName, attribute.name], type: 'text' }, type: 'text' }
}

function compare(type: ResourceType, filter: Comparison, base: string): DirectoryCondition {
  const { target, operator, value } = filter
  const { attribute, sub } = target
  const column = columnOf(type, target)
  if (column !== undefined) return { kind: 'compare', field: { column }, operator, value }
  if (attribute.name === 'meta') return compareMeta(type, filter, base)
  if (attribute.name === 'schemas') return compareSchemas(type, filter)
  if (isRelated(type, attribute)) {
    return orNone(filter, related(type, partComparison(filter)), {
      kind: 'related',
      where: undefined,
    })
  }
  if (!attribute.multiValued) {
    const field: DirectoryField = { path: pathOf(target), type: kindOf(sub ?? attribute) }
    return { kind: 'compare', field, operator, value }
  }
  if (isEmail(target) && operator === 'eq') return { kind: 'email', value: String(value) }
  const part = sub ?? attribute
  const path = pathOf({ ...target, sub: undefined })
  const field: DirectoryField = { part: sub?.name ?? '', type: kindOf(part) }
  const fitting: DirectoryCondition = {
    kind: 'some',
    path,
    where: { kind: 'compare', field, operator, value },
  }
  return orNone(filter, fitting, { kind: 'some', path, where: undefined })
}

// Extends an `ne` comparison to resources in which the attribute has no value. The condition `any` matches resources in
// which the attribute has a value.
function orNone(
  { operator }: Comparison,
  fitting: DirectoryCondition,
  any: DirectoryCondition,
): DirectoryCondition {
  if (operator !== 'ne') return fitting
  return { kind: 'or', terms: [fitting, { kind: 'not', term: any }] }
}

/** Converts a value filter such as `emails[type eq "work" and value co "@x"]`, which a single element must satisfy. */
function some(type: ResourceType, target: Target, where: Filter): DirectoryCondition {
  const { attribute } = target
  if (isRelated(type, attribute)) return related(type, where)
  if (!attribute.multiValued) return single(target, where)
  const whole: DirectoryCondition = {
    kind: 'some',
    path: pathOf({ ...target, sub: undefined }),
    where: inValue(where),
  }
  // For an address compared with `eq`, the index of addresses narrows the search first.
  const address = attribute.name === 'emails' ? wantedAddress(where) : undefined
  if (address === undefined) return whole
  return { kind: 'and', terms: [{ kind: 'email', value: address }, whole] }
}

function inValue(filter: Filter): DirectoryCondition {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return { kind: filter.kind, terms: filter.terms.map(inValue) }
    case 'not':
      return { kind: 'not', term: inValue(filter.term) }
    case 'present':
      return { kind: 'present', field: partField(filter.target.attribute) }
    case 'compare':
      return {
        kind: 'compare',
        field: partField(filter.target.attribute),
        operator: filter.operator,
        value: filter.value,
      }
    case 'some':
    case 'never':
      return constant(false)
    default:
      return filter satisfies never
  }
}

/** Converts a value filter on a complex attribute that is not multi-valued, such as `name[familyName eq "x"]`. */
function single(owner: Target, filter: Filter): DirectoryCondition {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return { kind: filter.kind, terms: filter.terms.map((term) => single(owner, term)) }
    case 'not':
      return { kind: 'not', term: single(owner, filter.term) }
    case 'present':
    case 'compare': {
      const part = filter.target.attribute
      const field: DirectoryField = { path: pathOf({ ...owner, sub: part }), type: kindOf(part) }
      return filter.kind === 'present'
        ? { kind: 'present', field }
        : { kind: 'compare', field, operator: filter.operator, value: filter.value }
    }
    case 'some':
    case 'never':
      return constant(false)
    default:
      return filter satisfies never
  }
}

/** Converts a filter on a user's groups (value, display, type) or on a group's members (value, type). */
function related(type: ResourceType, filter: Filter): DirectoryCondition {
  return { kind: 'related', where: relatedTerm(type, filter) }
}

function relatedTerm(type: ResourceType, filter: Filter): DirectoryCondition {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return { kind: filter.kind, terms: filter.terms.map((term) => relatedTerm(type, term)) }
    case 'not':
      return { kind: 'not', term: relatedTerm(type, filter.term) }
    case 'present':
      return constant(true)
    case 'compare': {
      const { operator, value } = filter
      const { name } = filter.target.attribute
      if (name === 'value') return { kind: 'compare', field: { column: 'id' }, operator, value }
      if (name === 'display' && type.name === 'User') {
        return { kind: 'compare', field: { column: 'display_name_key' }, operator, value }
      }
      if (name === 'type') {
        const own = type.name === 'User' ? 'direct' : 'User'
        return constant(matches({ type: own }, filter))
      }
      throw refuse('invalidFilter', `'${name}' cannot be filtered by here.`)
    }
    case 'some':
    case 'never':
      return constant(false)
    default:
      return filter satisfies never
  }
}

function partComparison(filter: Comparison): Filter {
  const { sub } = filter.target
  if (sub === undefined) return filter
  return { ...filter, target: { extension: undefined, attribute: sub, sub: undefined } }
}

function compareMeta(type: ResourceType, filter: Comparison, base: string): DirectoryCondition {
  const name = filter.target.sub?.name
  if (name === 'resourceType') return constant(textHolds(type.name, filter))
  if (name === 'location') return compareLocation(`${base}${type.endpoint}/`, filter)
  throw refuse('invalidFilter', `'meta.${name ?? ''}' cannot be filtered by.`)
}

/** `meta.location` is a fixed prefix followed by the id. */
function compareLocation(prefix: string, filter: Comparison): DirectoryCondition {
  const { operator } = filter
  const value = String(filter.value)
  const id = (own: Comparison['operator'], text: string): DirectoryCondition => ({
    kind: 'compare',
    field: { column: 'id' },
    operator: own,
    value: text,
  })
  if (operator === 'co' || operator === 'ew') {
    if (operator === 'co' && prefix.includes(value)) return constant(true)
    // The searched text may start inside the prefix and continue into the id.
    const rests = Array.from({ length: value.length }, (_, at) => at + 1)
      .filter((at) => prefix.endsWith(value.slice(0, at)))
      .map((at) => id(operator === 'co' ? 'sw' : 'eq', value.slice(at)))
    return { kind: 'or', terms: [id(operator, value), ...rests] }
  }
  if (value.startsWith(prefix)) return id(operator, value.slice(prefix.length))
  if (operator === 'sw') return constant(prefix.startsWith(value))
  return constant(textHolds(prefix, filter))
}

function compareSchemas(type: ResourceType, filter: Comparison): DirectoryCondition {
  if (textHolds(type.schema.id, filter)) return constant(true)
  const { extension } = type
  if (extension === undefined || !textHolds(extension.id, filter)) return constant(false)
  return { kind: 'present', field: { path: [extension.id], type: 'text' } }
}

function textHolds(text: string, filter: Comparison): boolean {
  const attribute = filter.target.sub ?? filter.target.attribute
  const target = { extension: undefined, attribute, sub: undefined }
  return matches({ [attribute.name]: foldText(attribute, text) }, { ...filter, target })
}

function columnOf(type: ResourceType, target: Target) {
  if (target.extension !== undefined) return undefined
  const name = target.sub ? `${target.attribute.name}.${target.sub.name}` : target.attribute.name
  switch (name) {
    case 'id':
      return 'id'
    case 'externalId':
      return 'external_id'
    case 'meta.created':
      return 'created_at'
    case 'meta.lastModified':
      return 'modified_at'
    case 'meta.version':
      return 'version'
    case 'userName':
      return 'user_name_key'
    case 'active':
      return type.name === 'User' ? 'active' : undefined
    case 'displayName':
      return type.schema === groupSchema ? 'display_name_key' : undefined
    default:
      return undefined
  }
}

function isRelated(type: ResourceType, attribute: Attribute): boolean {
  return attribute.name === (type.name === 'User' ? 'groups' : 'members')
}

function isEmail({ attribute, sub }: Target): boolean {
  return attribute.name === 'emails' && sub?.name === 'value'
}

function wantedAddress(filter: Filter): string | undefined {
  if (filter.kind === 'and') {
    return filter.terms.map(wantedAddress).find((address) => address !== undefined)
  }
  const isAddress =
    filter.kind === 'compare' &&
    filter.operator === 'eq' &&
    filter.target.attribute.name === 'value'
  return isAddress ? String(filter.value) : undefined
}

function pathOf({ extension, attribute, sub }: Target): string[] {
  return [extension?.id, attribute.name, sub?.name].filter((name) => name !== undefined)
}

function partField(part: Attribute): DirectoryField {
  return { part: part.name, type: kindOf(part) }
}

function kindOf(attribute: Attribute): 'text' | 'number' {
  return attribute.type === 'boolean' || attribute.type === 'dateTime' ? 'number' : 'text'
}

function constant(holds: boolean): DirectoryCondition {
  return { kind: 'constant', holds }
}
