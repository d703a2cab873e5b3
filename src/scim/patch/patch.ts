import { isForeign, resolveTarget, type ResourceType } from '../schema/attributes.ts'
import { refuse, ScimError } from '../protocol/errors.ts'
import type { Filter } from '../filter/filter-tree.ts'
import { isObject, type Json, type JsonObject } from '../protocol/json.ts'
import type { PatchOperation } from './patch-request.ts'
import { memberSteps, type MemberStep } from './patch-members.ts'
import { mergeParts, setPart } from './patch-complex.ts'
import { changeList } from './patch-lists.ts'
import { parsePath, type PatchPath } from '../filter/path.ts'
import { checkRequired, partsAt, type Resource } from '../schema/resource.ts'
import { readValue, type Value, type Values } from '../schema/values.ts'

const maxLooked = 300_000
const maxMemberFilters = 10
const maxMemberTerms = 64

/** The result of a PATCH; changes to a group's members are steps for the store, so the members need not be loaded. */
export interface Patched {
  readonly resource: Resource
  readonly members: readonly MemberStep[]
}

/** Applies all operations to a copy. If one fails, throws and leaves the original unchanged. */
export function applyPatch(
  type: ResourceType,
  current: Resource,
  operations: readonly PatchOperation[],
): Patched {
  const state: State = { type, resource: structuredClone(current), members: [], looked: 0 }
  for (const operation of operations) applyOne(state, operation)
  checkMembers(state.members)
  checkRequired(type, state.resource)
  return { resource: state.resource, members: state.members }
}

interface State {
  readonly type: ResourceType
  readonly resource: Resource
  readonly members: MemberStep[]
  /** The number of comparisons so far, each between a value of a list and a filter term or a given value. */
  looked: number
}

// Each operation on a list scans the whole list, so a thousand operations on five hundred values would block the
// process for seconds.
function look(
  state: State,
  at: PatchPath & { kind: 'attribute' },
  operation: PatchOperation,
): void {
  const before = holderOf(state, at.target.extension?.id)[at.target.attribute.name]
  const values = Array.isArray(before) ? before.length : 1
  const given = Array.isArray(operation.value) ? operation.value.length : 1
  state.looked += values * (given + termsOf(at.filter))
  if (state.looked > maxLooked) throw tooMuch()
}

// A filter on members is evaluated for every member while the group is locked.
function checkMembers(steps: readonly MemberStep[]): void {
  const filters = steps.flatMap((step) => (step.kind === 'removeWhere' ? [step.filter] : []))
  const terms = filters.reduce((sum, filter) => sum + termsOf(filter), 0)
  if (filters.length > maxMemberFilters || terms > maxMemberTerms) throw tooMuch()
}

function termsOf(filter: Filter | undefined): number {
  switch (filter?.kind) {
    case undefined:
      return 0
    case 'and':
    case 'or':
      return filter.terms.reduce((sum, term) => sum + termsOf(term), 0)
    case 'not':
      return termsOf(filter.term)
    case 'some':
      return termsOf(filter.where)
    default:
      return 1
  }
}

function tooMuch(): ScimError {
  return new ScimError(413, 'These operations are too much at once: send them in parts.', {
    scimType: 'tooMany',
  })
}

function applyOne(state: State, operation: PatchOperation): void {
  if (operation.path === undefined) return applyWithoutPath(state, operation)
  const path = parsePath(state.type, operation.path)
  if (path === undefined) {
    // An attribute of an unknown extension is ignored, so that the rest of the request still succeeds.
    if (isForeign(state.type, operation.path)) return
    throw refuse('invalidPath', `There is no attribute '${operation.path.slice(0, 200)}'.`)
  }
  applyAt(state, path, operation)
}

// Applies an operation without a path, whose value is an object of attributes; Entra uses whole paths as their names.
function applyWithoutPath(state: State, operation: PatchOperation): void {
  if (operation.op === 'remove') throw refuse('noTarget', "'remove' needs a path.")
  if (!isObject(operation.value)) {
    throw refuse('invalidValue', 'Without a path the value must be an object.')
  }
  for (const [name, value] of Object.entries(operation.value)) {
    if (name.toLowerCase() === state.type.schema.id.toLowerCase() && isObject(value)) {
      applyQualified(state, operation.op, value)
      continue
    }
    const path = namedPath(state, name, value)
    if (path === undefined) continue
    applyAt(state, path, { op: operation.op, path: name, value })
  }
}

// Applies core attributes that a client put under the core schema's URN.
function applyQualified(state: State, op: PatchOperation['op'], members: JsonObject): void {
  const qualified = Object.entries(members)
    .map(([name, value]) => [`${state.type.schema.id}:${name}`, value] as const)
    .filter(([name]) => resolveTarget(state.type, name) !== undefined)
  applyWithoutPath(state, { op, path: undefined, value: Object.fromEntries(qualified) })
}

function namedPath(state: State, name: string, value: Json): PatchPath | undefined {
  const path = parsePath(state.type, name)
  // An unknown name is ignored, and appears only in the request log.
  if (path === undefined) return undefined
  if (path.kind === 'extension') return path
  const { attribute } = path.target
  if (attribute.name === 'schemas') return undefined
  if (attribute.mutability !== 'readOnly') return path
  // Okta repeats the id when it renames a group; any other id is an attempt to change it.
  if (attribute.name === 'id' && value !== state.resource['id']) throw readOnly('id')
  return undefined
}

function applyAt(state: State, path: PatchPath, operation: PatchOperation): void {
  if (path.kind === 'extension') return applyToExtension(state, path.extension.id, operation)
  const { attribute, sub, extension } = path.target
  if (attribute.mutability === 'readOnly' || sub?.mutability === 'readOnly') {
    throw readOnly(operation.path ?? attribute.name)
  }
  if (attribute.name === 'schemas') {
    if (operation.op === 'remove') throw readOnly('schemas')
    return
  }
  if (state.type.name === 'Group' && attribute.name === 'members') {
    state.members.push(...memberSteps(attribute, path, operation))
    return
  }
  const holder = holderOf(state, extension?.id)
  const before = holder[attribute.name]
  if (attribute.multiValued) look(state, path, operation)
  const after = attribute.multiValued
    ? changeList(path, before, operation)
    : changeSingle(path, before, operation)
  if (after === undefined && attribute.required && attribute.isKept !== true) {
    throw refuse('mutability', `'${attribute.name}' is required and cannot be removed.`)
  }
  put(state, { urn: extension?.id, name: attribute.name }, after)
}

function applyToExtension(state: State, urn: string, operation: PatchOperation): void {
  if (operation.op === 'remove') {
    delete state.resource[urn]
    return
  }
  if (!isObject(operation.value)) throw refuse('invalidValue', `'${urn}' takes an object.`)
  for (const [name, value] of Object.entries(operation.value)) {
    const target = resolveTarget(state.type, `${urn}:${name}`)
    if (target === undefined || target.attribute.mutability === 'readOnly') continue
    applyAt(state, { kind: 'attribute', target, filter: undefined }, { ...operation, value })
  }
}

function changeSingle(
  path: PatchPath & { kind: 'attribute' },
  before: Value | undefined,
  operation: PatchOperation,
): Value | undefined {
  const { attribute, sub } = path.target
  const json = operation.op === 'remove' ? null : (operation.value ?? null)
  const complex = before as Values | undefined
  if (sub !== undefined) {
    return setPart(attribute, complex, { name: sub.name, value: readValue(sub, json) })
  }
  return attribute.type === 'complex'
    ? mergeParts(attribute, complex, json)
    : readValue(attribute, json)
}

function holderOf(state: State, urn: string | undefined): Values {
  return urn === undefined ? state.resource : partsAt(state.resource, urn)
}

function put(
  state: State,
  { urn, name }: { readonly urn: string | undefined; readonly name: string },
  value: Value | undefined,
): void {
  const holder: Values = urn === undefined ? state.resource : { ...partsAt(state.resource, urn) }
  if (value === undefined) delete holder[name]
  else holder[name] = value
  if (urn === undefined) return
  if (Object.keys(holder).length === 0) delete state.resource[urn]
  else state.resource[urn] = holder
}

function readOnly(name: string): ScimError {
  return refuse('mutability', `'${name}' cannot be changed.`)
}
