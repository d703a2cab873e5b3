import type { Attribute } from '../schema/attributes.ts'
import { refuse } from '../protocol/errors.ts'
import type { Filter } from '../filter/filter-tree.ts'
import { isObject, type Json } from '../protocol/json.ts'
import type { PatchOperation } from './patch-request.ts'
import type { PatchPath } from '../filter/path.ts'
import { idOfAddress, readValue, type Values } from '../schema/values.ts'

/** A change to a group's members, described without knowing the current list. */
export type MemberStep =
  | { readonly kind: 'add' | 'remove' | 'replace'; readonly ids: readonly string[] }
  | { readonly kind: 'clear' }
  | { readonly kind: 'removeWhere'; readonly filter: Filter }

export function memberSteps(
  attribute: Attribute,
  path: PatchPath & { kind: 'attribute' },
  operation: PatchOperation,
): MemberStep[] {
  if (path.target.sub !== undefined) {
    throw refuse('mutability', 'A member can be added and removed, its parts cannot be changed.')
  }
  if (path.filter !== undefined) return selected(attribute, path.filter, operation)
  if (operation.op !== 'remove') {
    return [
      {
        kind: operation.op,
        ids: memberIds(attribute, operation.value ?? null),
      },
    ]
  }
  if (operation.value === undefined || operation.value === null) return [{ kind: 'clear' }]
  // Entra removes members by listing them.
  return [{ kind: 'remove', ids: memberIds(attribute, operation.value) }]
}

/** Returns the distinct ids in a body's list of members. */
export function memberIds(attribute: Attribute, json: Json): string[] {
  const items: readonly Json[] = Array.isArray(json) ? (json as readonly Json[]) : [json]
  const ids = new Set<string>()
  for (const item of items) {
    if (item === null) continue
    const id = typeof item === 'string' ? item : idOf(attribute, item)
    if (id === undefined || id === '') throw refuse('invalidValue', 'A member needs a value.')
    ids.add(id)
  }
  return [...ids]
}

function idOf(attribute: Attribute, item: Json): string | undefined {
  if (!isObject(item)) throw refuse('invalidValue', "'members' takes objects.")
  const list = readValue(attribute, [item])
  const [member] = Array.isArray(list) ? (list as readonly Values[]) : []
  if (member?.['type'] !== undefined && member['type'] !== 'User') {
    throw refuse('invalidValue', 'The members of a group are users.')
  }
  const [value, address] = [member?.['value'], member?.['$ref']]
  if (typeof value === 'string') return value
  return typeof address === 'string' ? idOfAddress(address) : undefined
}

function selected(attribute: Attribute, filter: Filter, operation: PatchOperation): MemberStep[] {
  const ids = namedIds(filter)
  const removal: MemberStep =
    ids === undefined ? { kind: 'removeWhere', filter } : { kind: 'remove', ids }
  if (operation.op === 'remove') return [removal]
  const added = memberIds(attribute, operation.value ?? null)
  return operation.op === 'add'
    ? [{ kind: 'add', ids: added }]
    : [removal, { kind: 'add', ids: added }]
}

// Returns the ids in a filter such as `value eq "a" or value eq "b"`; undefined for any other filter, which must be
// evaluated for each member.
function namedIds(filter: Filter): string[] | undefined {
  if (filter.kind === 'or') {
    const lists = filter.terms.map(namedIds)
    return lists.includes(undefined) ? undefined : lists.flatMap((list) => list ?? [])
  }
  if (filter.kind !== 'compare' || filter.operator !== 'eq') return undefined
  return filter.target.attribute.name === 'value' ? [String(filter.value)] : undefined
}
