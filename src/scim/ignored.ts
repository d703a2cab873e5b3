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

/**
 * What of a request that was carried out the schemas have no place for, so that it was passed over: names of
 * attributes, of their parts and of extensions, for the request log. Read-only attributes are not among them: every
 * client sends those back.
 */
export function ignoredNames(request: {
  readonly method: string
  /** The path below `/scim/v2`, split at its slashes. */
  readonly path: readonly string[]
  readonly body: Json | undefined
}): string[] {
  const names = new Names()
  collect(names, request)
  return names.list
}

class Names {
  readonly #names = new Set<string>()

  get list(): string[] {
    return [...this.#names]
  }

  get isFull(): boolean {
    return this.#names.size >= maxNames
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
    // In a resource a dotted name is no path.
    collectResource(names, type, body, (each) => !each.includes('.') || isQualified(type, each))
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
      if (isObject(value)) collectResource(names, type, value, () => true)
      continue
    }
    const target = pathOf(type, path)
    if (target === undefined) names.add(path)
    else if (target.kind === 'extension')
      collectParts(names, target.extension.attributes, value, path)
    else if (target.target.sub === undefined) collectValue(names, target.target.attribute, value)
  }
}

function collectResource(
  names: Names,
  type: ResourceType,
  object: JsonObject,
  isKnownForm: (name: string) => boolean,
): void {
  for (const [name, value] of Object.entries(object)) {
    if (isEmpty(value)) continue
    const extension = findExtension(type, name)
    const plain = findCore(type, name) ?? findBare(type, name)
    if (extension !== undefined) collectParts(names, extension.attributes, value, name)
    else if (plain !== undefined) collectValue(names, plain, value)
    else if (name.toLowerCase() === type.schema.id.toLowerCase() && isObject(value)) {
      collectResource(names, type, value, isKnownForm)
    } else if (!isKnownForm(name) || pathOf(type, name) === undefined) names.add(name)
  }
}

function collectValue(names: Names, attribute: Attribute, value: Json | undefined): void {
  if (attribute.mutability === 'readOnly' || attribute.subAttributes === undefined) return
  for (const item of Array.isArray(value) ? (value as readonly Json[]) : [value]) {
    if (names.isFull) return
    collectParts(names, attribute.subAttributes, item, attribute.name)
  }
}

function collectParts(
  names: Names,
  parts: readonly Attribute[],
  value: Json | undefined,
  owner: string,
): void {
  if (!isObject(value)) return
  for (const [name, json] of Object.entries(value)) {
    if (isEmpty(json)) continue
    const part = findAttribute(parts, name)
    if (part === undefined && !isDisplayOfMember(owner, name)) names.add(`${owner}.${name}`)
    else if (part !== undefined) collectValue(names, part, json)
  }
}

// Every directory names members beside their ids.
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
    // Such a request is refused; here it is only looked at.
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
