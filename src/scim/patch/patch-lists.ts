import type { Attribute } from '../schema/attributes.ts'
import { refuse } from '../protocol/errors.ts'
import type { Filter } from '../filter/filter-tree.ts'
import type { Json } from '../protocol/json.ts'
import { matches } from '../filter/match.ts'
import type { PatchOperation } from './patch-request.ts'
import type { PatchPath } from '../filter/path.ts'
import {
  distinct,
  isBlank,
  readValue,
  sameValue,
  type Value,
  type Values,
} from '../schema/values.ts'

type Item = string | Values
type Path = PatchPath & { kind: 'attribute' }

// If a value filter asks for one of these types and matches nothing, `add` and `replace` create the value, because
// Entra expects that.
const commonTypes = new Set(['work', 'home', 'other', 'mobile', 'fax', 'pager'])
const maxValues = 500

/** Applies an operation to a multi-valued attribute; returns undefined when no value is left. */
export function changeList(
  path: Path,
  before: Value | undefined,
  operation: PatchOperation,
): Value | undefined {
  const list: readonly Item[] = Array.isArray(before) ? (before as readonly Item[]) : []
  const after = distinct(path.target.attribute, changed(path, list, operation))
  if (after.length > maxValues) {
    throw refuse('invalidValue', `'${path.target.attribute.name}' has too many values.`)
  }
  return after.length === 0 ? undefined : after
}

function changed(path: Path, list: readonly Item[], operation: PatchOperation): readonly Item[] {
  const { attribute, sub } = path.target
  if (path.filter !== undefined) {
    return changeSelected({ ...path, filter: path.filter }, list, operation)
  }
  if (sub !== undefined) return changePart(path, list, operation)
  if (operation.op === 'remove') return removed(attribute, list, operation.value)
  const given = itemsOf(attribute, operation.value)
  if (operation.op === 'replace') return given
  const added = given.filter((item) => !list.some((own) => sameValue(attribute, own, item)))
  return withOnePrimary([...list, ...added], added)
}

// Entra lists the values to remove instead of using a filter.
function removed(
  attribute: Attribute,
  list: readonly Item[],
  value: Json | undefined,
): readonly Item[] {
  if (value === undefined || value === null) return []
  const given = itemsOf(attribute, value)
  if (given.length === 0) return []
  return list.filter((own) => !given.some((item) => covers(attribute, item, own)))
}

function covers(attribute: Attribute, wanted: Item, own: Item): boolean {
  if (typeof wanted === 'string' || typeof own === 'string') {
    return sameValue(attribute, wanted, own)
  }
  return (attribute.subAttributes ?? []).every((part) => {
    const [x, y] = [wanted[part.name], own[part.name]]
    return x === undefined || (y !== undefined && sameValue(part, x, y))
  })
}

// Changes one part, such as `emails.value`, of every value in the list; `add` and `replace` create a first value in an
// empty list.
function changePart(path: Path, list: readonly Item[], operation: PatchOperation): readonly Item[] {
  if (list.length === 0 && operation.op === 'remove') return []
  const all = list.length === 0 ? [{}] : list
  return all
    .map((item) => withPart(path, item as Values, operation))
    .filter((item) => !isBlank(item))
}

function changeSelected(
  path: Path & { readonly filter: Filter },
  list: readonly Item[],
  operation: PatchOperation,
): readonly Item[] {
  const { attribute, sub } = path.target
  const { filter } = path
  const isSelected = (item: Item): boolean => typeof item === 'object' && matches(item, filter)
  if (!list.some(isSelected)) {
    const seed = operation.op === 'remove' ? undefined : seedOf(filter)
    if (seed === undefined) throw refuse('noTarget', 'No value fits the filter of the path.')
    const made =
      sub === undefined ? merged(attribute, seed, operation) : withPart(path, seed, operation)
    return isBlank(made) ? list : withOnePrimary([...list, made], [made])
  }
  if (operation.op === 'remove' && sub === undefined)
    return list.filter((item) => !isSelected(item))
  const touched: Values[] = []
  const after = list.map((item) => {
    if (typeof item !== 'object' || !isSelected(item)) return item
    const next =
      sub === undefined ? merged(attribute, item, operation) : withPart(path, item, operation)
    touched.push(next)
    return next
  })
  const kept = after.filter((item) => typeof item === 'string' || !isBlank(item))
  return withOnePrimary(kept, touched)
}

function merged(attribute: Attribute, item: Values, operation: PatchOperation): Values {
  const [given] = itemsOf(attribute, operation.value)
  if (typeof given !== 'object') {
    throw refuse('invalidValue', `'${attribute.name}' takes objects.`)
  }
  // RFC 7644 section 3.5.2.3: replace sets a new value, but keeps the `type` that the filter may have selected.
  const type = item['type']
  const base = operation.op === 'add' ? item : type === undefined ? {} : { type }
  return { ...base, ...given }
}

function withPart(path: Path, item: Values, operation: PatchOperation): Values {
  const { sub } = path.target
  if (sub === undefined) return item
  const next = { ...item }
  const value = operation.op === 'remove' ? undefined : readValue(sub, operation.value ?? null)
  if (value === undefined) delete next[sub.name]
  else next[sub.name] = value
  return next
}

// Creates the value that a filter describes. Returns undefined unless the filter names only well-known types or the
// primary value.
function seedOf(filter: Filter): Values | undefined {
  if (filter.kind === 'and') {
    const seeds = filter.terms.map((term) => seedOf(term))
    return seeds.some((seed) => seed === undefined) ? undefined : Object.assign({}, ...seeds)
  }
  if (filter.kind !== 'compare' || filter.operator !== 'eq') return undefined
  const part = filter.target.attribute
  if (part.name === 'primary' && filter.value === 1) return { primary: true }
  if (part.name !== 'type' || typeof filter.value !== 'string') return undefined
  const known = commonTypes.has(filter.value) || part.canonicalValues?.includes(filter.value)
  return known === true ? { type: filter.value } : undefined
}

// Unsets the former primary value if a new one was given (RFC 7644 section 3.5.2).
function withOnePrimary(list: readonly Item[], given: readonly Item[]): readonly Item[] {
  const chosen = given.findLast((item) => typeof item === 'object' && item['primary'] === true)
  if (chosen === undefined) return list
  return list.map((item) =>
    typeof item === 'object' && item !== chosen && item['primary'] === true
      ? { ...item, primary: false }
      : item,
  )
}

function itemsOf(attribute: Attribute, value: Json | undefined): readonly Item[] {
  const read = readValue(attribute, value ?? null)
  return Array.isArray(read) ? (read as readonly Item[]) : []
}
