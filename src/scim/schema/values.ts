import { findAttribute, type Attribute } from './attributes.ts'
import { refuse } from '../protocol/errors.ts'
import { foldCase, foldText, parseTime } from './fold.ts'
import { isObject, memberOf, type Json, type JsonObject } from '../protocol/json.ts'

/** A value that fits the schema. Names have the schema's case; nulls, empty lists and empty objects do not occur. */
export type Value = string | boolean | Values | readonly (string | Values)[]

/** A complex value: its sub-attributes by name. */
export type Values = { [name: string]: Value }

const maxText = 16 * 1024
// PostgreSQL refuses an index entry of more than 2,704 bytes, and an entry may contain two ids besides the value.
const maxIndexedBytes = 1024
const maxValues = 500
const identifiers = new Set(['value', '$ref', 'externalId'])
const bareNames = new Set(['manager', 'roles', 'entitlements'])

/**
 * Reads an attribute's value; undefined when it is unassigned, as by null or `[]` (RFC 7643 section 2.5). Accepts
 * variants that Entra sends, such as `"False"`.
 */
export function readValue(attribute: Attribute, json: Json): Value | undefined {
  if (json === null) return undefined
  if (attribute.multiValued) return readList(attribute, json)
  if (Array.isArray(json)) return readWrapped(attribute, json as readonly Json[])
  return readSingle(attribute, json)
}

/** Reads one element of a multi-valued attribute, or the value of a single-valued one. */
export function readSingle(
  attribute: Attribute,
  json: Json,
): string | boolean | Values | undefined {
  if (json === null) return undefined
  switch (attribute.type) {
    case 'complex':
      return readComplex(attribute, json)
    case 'boolean':
      return readBoolean(attribute, json)
    case 'dateTime':
    case 'string':
    case 'reference':
    case 'binary':
    case 'integer':
      return readText(attribute, json)
    default:
      return attribute.type satisfies never
  }
}

/** Reads an object's parts by a schema's names; unknown names are ignored, duplicates refused. */
export function readParts(
  list: readonly Attribute[],
  object: JsonObject,
  owner: string,
): Values | undefined {
  const values: Values = {}
  const seen = new Set<string>()
  for (const [name, json] of Object.entries(object)) {
    const attribute = findAttribute(list, name)
    if (attribute === undefined || attribute.mutability === 'readOnly') continue
    if (seen.has(attribute.name)) throw refuse('invalidSyntax', `'${owner}' has '${name}' twice.`)
    seen.add(attribute.name)
    const value = readValue(attribute, json)
    if (value !== undefined) values[attribute.name] = value
  }
  return Object.keys(values).length === 0 ? undefined : values
}

/** Whether a complex value has no parts other than `type` and `primary`, and so carries no information. */
export function isBlank(value: Values): boolean {
  return Object.keys(value).every((name) => name === 'type' || name === 'primary')
}

/**
 * Merges values with the same `type` and `value` (RFC 7643 section 2.4): parts of a later value override parts of the
 * first value, which keeps its position.
 */
export function distinct(
  attribute: Attribute,
  list: readonly (string | Values)[],
): readonly (string | Values)[] {
  const parts = ['type', 'value'].map((name) => findAttribute(attribute.subAttributes ?? [], name))
  const kept: (string | Values)[] = []
  const places = new Map<string, number>()
  for (const each of list) {
    const pair = typeof each === 'object' ? pairOf(parts, each) : undefined
    const at = pair === undefined ? undefined : places.get(pair)
    if (at !== undefined) kept[at] = { ...(kept[at] as Values), ...(each as Values) }
    else if (pair !== undefined) places.set(pair, kept.length)
    if (at === undefined) kept.push(each)
  }
  return kept
}

function pairOf(parts: readonly (Attribute | undefined)[], item: Values): string | undefined {
  const [type, value] = parts.map((part) => {
    const text = part === undefined ? undefined : item[part.name]
    if (part === undefined || typeof text !== 'string') return undefined
    return part.caseExact ? text : foldCase(text)
  })
  // No string contains U+0000, so it is a safe separator; JSON.stringify would be much slower here.
  return value === undefined ? undefined : `${type ?? ''}\0${value}`
}

/** Refuses a list with more than one primary value (RFC 7643 section 2.4). */
export function checkPrimary(attribute: Attribute, list: readonly (string | Values)[]): void {
  const primary = list.filter((each) => typeof each === 'object' && each['primary'] === true)
  if (primary.length > 1) {
    throw refuse('invalidValue', `'${attribute.name}' has more than one primary value.`)
  }
}

function readList(attribute: Attribute, json: Json): Value | undefined {
  const items: readonly Json[] = Array.isArray(json) ? (json as readonly Json[]) : [json]
  if (items.length > maxValues && attribute.name !== 'members') {
    throw refuse('invalidValue', `'${attribute.name}' has more than ${maxValues} values.`)
  }
  const list: (string | Values)[] = []
  for (const item of items) {
    const value = readSingle(attribute, item)
    if (typeof value === 'string' || (typeof value === 'object' && !isBlank(value)))
      list.push(value)
  }
  const values = distinct(attribute, list)
  checkPrimary(attribute, values)
  return values.length === 0 ? undefined : values
}

function readWrapped(attribute: Attribute, items: readonly Json[]): Value | undefined {
  const [only, ...more] = items
  if (only === undefined) return undefined
  if (more.length > 0) throw refuse('invalidValue', `'${attribute.name}' takes a single value.`)
  if (attribute.type === 'complex') return readSingle(attribute, only)
  // Entra without its compliance flag sends `active` as `[{"value": "True"}]`.
  const wrapped =
    attribute.type === 'boolean' && isObject(only) ? memberOf(only, 'value') : undefined
  if (wrapped !== undefined) return readSingle(attribute, wrapped)
  throw refuse('invalidValue', `'${attribute.name}' takes a single value, not a list.`)
}

function readComplex(attribute: Attribute, json: Json): Values | undefined {
  const parts = attribute.subAttributes ?? []
  if (isObject(json)) {
    const values = readParts(parts, json, attribute.name)
    if (!isManager(attribute) || values === undefined) return values
    const manager = withManagerId(values)
    // An empty manager counts as none (Entra sends `{"value": ""}`).
    return manager['value'] === undefined ? undefined : manager
  }
  // Entra and others send the manager as a bare id, or `""` for none; Okta's mappings send roles as plain strings.
  if (bareNames.has(attribute.name) && typeof json === 'string') {
    return json === '' ? undefined : { value: checkText(attribute, json) }
  }
  throw refuse('invalidValue', `'${attribute.name}' takes an object.`)
}

/** Whether this is the manager of the enterprise extension (RFC 7643 section 4.3). */
export function isManager(attribute: Attribute): boolean {
  return attribute.name === 'manager'
}

/** Fills in the missing id of a manager from the end of its `$ref`. */
export function withManagerId(manager: Values): Values {
  const address = manager['$ref']
  if (manager['value'] !== undefined || typeof address !== 'string') return manager
  const id = idOfAddress(address)
  return id === undefined ? manager : { value: id, ...manager }
}

/** Returns the id at the end of a resource's address; undefined if there is none. */
export function idOfAddress(address: string): string | undefined {
  const path = address.split(/[?#]/, 1)[0] ?? ''
  return path.split('/').findLast((segment) => segment !== '')
}

function readBoolean(attribute: Attribute, json: Json): boolean {
  if (typeof json === 'boolean') return json
  if (typeof json === 'string') {
    const folded = json.toLowerCase()
    if (folded === 'true') return true
    if (folded === 'false') return false
  }
  throw refuse('invalidValue', `'${attribute.name}' takes true or false.`)
}

function readText(attribute: Attribute, json: Json): string | undefined {
  if (typeof json !== 'string') throw refuse('invalidValue', `'${attribute.name}' takes a text.`)
  // An empty identifier or address means none; elsewhere the empty string is an ordinary value.
  if (json === '' && identifiers.has(attribute.name)) return undefined
  if (attribute.type === 'dateTime' && parseTime(json) === undefined) {
    throw refuse('invalidValue', `'${attribute.name}' takes a time.`)
  }
  if (attribute.type === 'binary' && !isBase64(json)) {
    throw refuse('invalidValue', `'${attribute.name}' takes Base64.`)
  }
  return checkText(attribute, json)
}

function checkText(attribute: Attribute, text: string): string {
  if (text.length > maxText) {
    throw refuse('invalidValue', `'${attribute.name}' is longer than ${maxText} characters.`)
  }
  if (attribute.isIndexed === true && bytesOf(attribute, text) > maxIndexedBytes) {
    throw refuse('invalidValue', `'${attribute.name}' is longer than ${maxIndexedBytes} bytes.`)
  }
  const allowed =
    attribute.name === 'formatted' || attribute.name === 'streetAddress' ? '\t\n\r' : ''
  for (const char of text) {
    const code = char.charCodeAt(0)
    if ((code < 0x20 || code === 0x7f) && !allowed.includes(char)) {
      throw refuse('invalidValue', `'${attribute.name}' contains a control character.`)
    }
  }
  return text
}

function bytesOf(attribute: Attribute, text: string): number {
  return Math.max(Buffer.byteLength(text), Buffer.byteLength(foldText(attribute, text)))
}

function isBase64(text: string): boolean {
  return /^[A-Za-z0-9+/_-]*={0,2}$/.test(text.replaceAll(/[\r\n]/g, ''))
}

/** Whether two values of an attribute are equal under the schema's comparison rules. */
export function sameValue(attribute: Attribute, a: Value, b: Value): boolean {
  if (typeof a === 'string' && typeof b === 'string') {
    return attribute.caseExact ? a === b : foldCase(a) === foldCase(b)
  }
  if (Array.isArray(a) || Array.isArray(b)) return JSON.stringify(a) === JSON.stringify(b)
  if (typeof a === 'object' && typeof b === 'object') {
    const left = a as Values
    const right = b as Values
    return (attribute.subAttributes ?? []).every((part) => {
      const [x, y] = [left[part.name], right[part.name]]
      return x === undefined || y === undefined ? x === y : sameValue(part, x, y)
    })
  }
  return a === b
}
