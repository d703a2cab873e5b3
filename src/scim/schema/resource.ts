import { findBare, findCore, findExtension, resolveTarget } from './attributes.ts'
import type { ResourceType } from './attributes.ts'
import { refuse } from '../protocol/errors.ts'
import { isObject, memberOf, type Json, type JsonObject } from '../protocol/json.ts'
import { readParts, readValue, type Value, type Values } from './values.ts'

/** The writable part of a resource: core attributes, and the extension's attributes under its URN. */
export type Resource = Values

/** Reads the body of a POST or PUT against the schema; attributes that only the service may set are ignored. */
export function readResource(type: ResourceType, body: Json): Resource {
  if (!isObject(body)) throw refuse('invalidSyntax', 'The body must be a JSON object.')
  checkSchemas(body, type.schema.id)
  const resource: Resource = {}
  const seen = new Set<string>()
  for (const [name, json] of Object.entries(body)) {
    const key = name.toLowerCase()
    if (seen.has(key)) throw refuse('invalidSyntax', `'${name}' is there twice.`)
    seen.add(key)
    readMember({ type, resource }, name, json)
  }
  checkRequired(type, resource)
  return resource
}

/** Refuses a body whose `schemas` does not list the given URN (RFC 7643 section 3); unknown URNs are ignored. */
export function checkSchemas(body: JsonObject, urn: string): void {
  const schemas = memberOf(body, 'schemas')
  const named = Array.isArray(schemas) ? (schemas as readonly Json[]) : []
  if (!named.some((each) => typeof each === 'string' && each.toLowerCase() === urn.toLowerCase())) {
    throw refuse('invalidSyntax', `'schemas' must contain ${urn}.`)
  }
}

/**
 * Refuses a resource in which a required attribute is missing or blank, except for an attribute that is kept
 * (`isKept`).
 */
export function checkRequired(type: ResourceType, resource: Resource): void {
  for (const attribute of type.schema.attributes) {
    if (!attribute.required || attribute.isKept === true) continue
    const value = resource[attribute.name]
    if (typeof value !== 'string' || value.trim() === '') {
      throw refuse('invalidValue', `'${attribute.name}' is required.`)
    }
  }
}

/** Returns the URNs of a resource: the core's, and the extension's if it has one (RFC 7643 section 3). */
export function schemasOf(type: ResourceType, resource: Resource): string[] {
  const { extension } = type
  return extension !== undefined && resource[extension.id] !== undefined
    ? [type.schema.id, extension.id]
    : [type.schema.id]
}

interface Draft {
  readonly type: ResourceType
  readonly resource: Resource
}

function readMember(draft: Draft, name: string, json: Json): void {
  const { type, resource } = draft
  const extension = findExtension(type, name)
  if (extension !== undefined) {
    if (json === null) return
    if (!isObject(json)) throw refuse('invalidValue', `'${name}' takes an object.`)
    const values = readParts(extension.attributes, json, name)
    if (values !== undefined)
      resource[extension.id] = { ...partsAt(resource, extension.id), ...values }
    return
  }
  if (name.toLowerCase() === type.schema.id.toLowerCase() && isObject(json)) {
    return readQualifiedAll(draft, json)
  }
  if (name.toLowerCase().startsWith('urn:')) return readQualified(draft, name, json)
  const bare = findBare(type, name)
  if (type.extension !== undefined && bare !== undefined) {
    const value = readValue(bare, json)
    const urn = type.extension.id
    // Entra sends extension attributes next to the core's; values inside the extension object take precedence.
    if (value !== undefined) resource[urn] = { [bare.name]: value, ...partsAt(resource, urn) }
    return
  }
  const attribute = findCore(type, name)
  if (attribute === undefined || attribute.mutability === 'readOnly') return
  if (attribute.name === 'schemas') return
  const value = readValue(attribute, json)
  if (value !== undefined) resource[attribute.name] = value
}

// Reads core attributes that a client put under the core schema's URN.
function readQualifiedAll(draft: Draft, members: JsonObject): void {
  const { type } = draft
  for (const [name, json] of Object.entries(members)) {
    const qualified = `${type.schema.id}:${name}`
    if (resolveTarget(type, qualified) !== undefined) readQualified(draft, qualified, json)
  }
}

// Reads a member named by a whole path such as `urn:…:User:department`. A path is ignored if it names no known
// attribute, or only a part of one.
function readQualified({ type, resource }: Draft, name: string, json: Json): void {
  const target = resolveTarget(type, name)
  if (target === undefined || target.sub !== undefined) return
  if (target.attribute.mutability === 'readOnly' || target.attribute.name === 'schemas') return
  const value = readValue(target.attribute, json)
  if (value === undefined) return
  if (target.extension === undefined) resource[target.attribute.name] = value
  else {
    const parts = partsAt(resource, target.extension.id)
    resource[target.extension.id] = { ...parts, [target.attribute.name]: value }
  }
}

/** Returns the complex value that a resource has under a name; an empty object if there is none. */
export function partsAt(resource: Resource, name: string): Values {
  const value: Value | undefined = resource[name]
  return typeof value === 'object' && !Array.isArray(value) ? (value as Values) : {}
}

/** Returns the list that a resource has under a name; an empty list if there is none. */
export function listAt(resource: Values, name: string): readonly (string | Values)[] {
  const value: Value | undefined = resource[name]
  return Array.isArray(value) ? (value as readonly (string | Values)[]) : []
}

/** Returns a part of a complex value, such as `type`, if it is a string. */
export function textPart(value: Values, name: string): string | undefined {
  const part = value[name]
  return typeof part === 'string' ? part : undefined
}
