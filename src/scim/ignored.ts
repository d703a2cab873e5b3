import {
  findAttribute,
  findBare,
  findCore,
  findExtension,
  resolveTarget,
} from './schema/attributes.ts'
import type { Attribute, ResourceType } from './schema/attributes.ts'
import { ScimError } from './protocol/errors.ts'
import { isObject, memberOf, type Json, type JsonObject } from './protocol/json.ts'
import { parsePath, type PatchPath } from './filter/path.ts'
import { groupType, userType } from './schema/schema-group.ts'

const maxNames = 20
const maxLength = 200
// Bounds the time spent on parsing paths; a bulk request may contain a megabyte of them.
const maxPathCharacters = 200_000

/** Collects, for the request log, the names in an accepted request that were ignored because no schema defines them. */
export function ignoredNames(request: {
  readonly method: string
  /** The path below `/scim/v2`, split at slashes. */
  readonly path: readonly string[]
  readonly body: Json | undefined
}): string[] {
  const names = new Names()
  collect(names, request)
  return names.list
}

class Names {
  readonly #names = new Set<string>()
  #left = maxPathCharacters

  get list(): string[] {
    return [...this.#names]
  }

  /** Whether a limit has been reached, so that no more names are collected. */
  get isFull(): boolean {
    return this.#names.size >= maxNames || this.#left < 0
  }

  /** Counts the characters of a path that is about to be parsed. */
  spend(path: string): void {
    this.#left -= path.length
  }

  add(name: string): void {
    if (!this.isFull) this.#names.add(name.slice(0, maxLength))
  }
}

function collect(names: Names, { method, path, body }: Parameters<typeof ignoredNames>[0]): void {
  if (!isObject(body)) return
  const [first = '', second = ''] = path
  const name = first.toLowerCase()
  if (second.startsWith('.')) return
  if (name === 'bulk') return collectBulk(names, body)
  const type = name === 'users' ? userType : name === 'groups' ? groupType : undefined
  if (type === undefined) return
  if (method === 'PATCH') collectPatch(names, type, body)
  else if (method === 'PUT' || method === 'POST') {
    // Only a PATCH resolves a name such as `name.familyName` as a path; in a POST or PUT, such a name is unknown.
    const isKnownForm = (each: string): boolean => !each.includes('.') || isQualified(type, each)
    collectResource(names, { type, isKnownForm }, body)
  }
}

function collectBulk(names: Names, body: JsonObject): void {
  for (const operation of itemsOf(memberOf(body, 'Operations'))) {
    if (names.isFull) return
    const [path, method] = [memberOf(operation, 'path'), memberOf(operation, 'method')]
    if (typeof path !== 'string' || typeof method !== 'string') continue
    const segments = path.split('/').filter((part) => part !== '')
    const data = memberOf(operation, 'data')
    if (!/^bulk$/i.test(segments[0] ?? '')) {
      collect(names, { method: method.toUpperCase(), path: segments, body: data })
    }
  }
}

function collectPatch(names: Names, type: ResourceType, body: JsonObject): void {
  for (const operation of itemsOf(memberOf(body, 'Operations'))) {
    if (names.isFull) return
    const [path, value] = [memberOf(operation, 'path'), memberOf(operation, 'value')]
    if (typeof path !== 'string' || path === '') {
      if (isObject(value)) collectResource(names, { type, isKnownForm: () => true }, value)
      continue
    }
    names.spend(path)
    const target = pathOf(type, path)
    if (target === undefined) names.add(path)
    else if (target.kind === 'extension')
      collectParts(names, { name: path, parts: target.extension.attributes }, value)
    else if (target.target.sub === undefined) collectValue(names, target.target.attribute, value)
  }
}

function collectResource(
  names: Names,
  form: { readonly type: ResourceType; readonly isKnownForm: (name: string) => boolean },
  object: JsonObject,
): void {
  const { type, isKnownForm } = form
  for (const [name, value] of Object.entries(object)) {
    if (isEmpty(value)) continue
    const extension = findExtension(type, name)
    const plain = findCore(type, name) ?? findBare(type, name)
    if (extension !== undefined) collectParts(names, { name, parts: extension.attributes }, value)
    else if (plain !== undefined) collectValue(names, plain, value)
    else if (name.toLowerCase() === type.schema.id.toLowerCase() && isObject(value)) {
      collectResource(names, form, value)
    } else if (!isKnownForm(name) || pathOf(type, name) === undefined) names.add(name)
  }
}

function collectValue(names: Names, attribute: Attribute, value: Json | undefined): void {
  if (attribute.mutability === 'readOnly' || attribute.subAttributes === undefined) return
  const owner = { name: attribute.name, parts: attribute.subAttributes }
  for (const item of Array.isArray(value) ? (value as readonly Json[]) : [value]) {
    if (names.isFull) return
    collectParts(names, owner, item)
  }
}

function collectParts(
  names: Names,
  owner: { readonly name: string; readonly parts: readonly Attribute[] },
  value: Json | undefined,
): void {
  if (!isObject(value)) return
  for (const [name, json] of Object.entries(value)) {
    if (isEmpty(json)) continue
    const part = findAttribute(owner.parts, name)
    if (part === undefined && !isDisplayOfMember(owner.name, name)) {
      names.add(`${owner.name}.${name}`)
    }
    if (part !== undefined) collectValue(names, part, json)
  }
}

// Whether a name is a member's `display`, which is left out because directories usually send it along with the id.
function isDisplayOfMember(owner: string, name: string): boolean {
  return owner === 'members' && name.toLowerCase() === 'display'
}

function isQualified(type: ResourceType, name: string): boolean {
  const target = resolveTarget(type, name)
  return target !== undefined && target.sub === undefined
}

function pathOf(type: ResourceType, path: string): PatchPath | undefined {
  try {
    return parsePath(type, path)
  } catch (error) {
    // The request was accepted and is only inspected here, so a path that cannot be parsed must not cause a refusal.
    if (error instanceof ScimError) return undefined
    throw error
  }
}

function itemsOf(list: Json | undefined): JsonObject[] {
  return Array.isArray(list) ? (list as readonly Json[]).filter((item) => isObject(item)) : []
}

function isEmpty(value: Json): boolean {
  if (value === null || value === '') return true
  if (Array.isArray(value)) return value.length === 0
  return isObject(value) && Object.keys(value).length === 0
}
