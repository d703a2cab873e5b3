import { findAttribute, type Attribute } from '../schema/attributes.ts'
import { isObject, type Json, type JsonObject } from '../protocol/json.ts'
import { isManager, readValue, withManagerId, type Values } from '../schema/values.ts'

/**
 * Applies `add` or `replace` to a complex value: parts that the object does not name stay (RFC 7644 sections 3.5.2.1
 * and 3.5.2.3). Returns undefined when nothing is left.
 */
export function mergeParts(
  attribute: Attribute,
  before: Values | undefined,
  json: Json,
): Values | undefined {
  const given = readValue(attribute, json) as Values | undefined
  const object = single(json)
  // Null, an empty array and, for a manager, an empty string unassign the whole value.
  if (!isObject(object) && given === undefined) return undefined
  const next: Values = { ...before }
  if (isObject(object)) for (const name of unassigned(attribute, object)) delete next[name]
  // The stored `$ref` points to the former manager, so a new id makes it wrong.
  if (isManager(attribute) && given?.['value'] !== undefined) delete next['$ref']
  return whole(attribute, { ...next, ...given })
}

/**
 * Sets one part of a complex value, or removes it if `part.value` is undefined; returns undefined when nothing is left.
 */
export function setPart(
  owner: Attribute,
  before: Values | undefined,
  part: { readonly name: string; readonly value: Values[string] | undefined },
): Values | undefined {
  const next: Values = { ...before }
  if (part.value === undefined) delete next[part.name]
  else next[part.name] = part.value
  if (!isManager(owner)) return whole(owner, next)
  if (part.name === 'value') delete next['$ref']
  if (part.name === '$ref' && part.value !== undefined) delete next['value']
  return whole(owner, withManagerId(next))
}

// A manager without an id counts as nothing.
function whole(attribute: Attribute, values: Values): Values | undefined {
  if (isManager(attribute) && values['value'] === undefined) return undefined
  return Object.keys(values).length === 0 ? undefined : values
}

function unassigned(attribute: Attribute, object: JsonObject): string[] {
  return Object.entries(object).flatMap(([name, json]) => {
    const part = findAttribute(attribute.subAttributes ?? [], name)
    if (part === undefined || part.mutability === 'readOnly') return []
    return readValue(part, json) === undefined ? [part.name] : []
  })
}

// Unwraps a single value, which some clients send in an array.
function single(json: Json): Json | undefined {
  return Array.isArray(json) ? (json as readonly Json[])[0] : json
}
