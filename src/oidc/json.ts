import { JsonFault, readStrictJson } from '../strict-json.ts'
import { fault } from './faults.ts'
import type { Step } from './faults.ts'

/** A JSON object whose members are unchecked. */
export type JsonObject = Readonly<Record<string, unknown>>

// Strings are not checked here: the checks of single claims do that, and can name the claim.
const rules = { maxDepth: 16, maxMembers: 10_000, allowsAnyText: true }
const checks = {
  encoding: 'encoding',
  syntax: 'json',
  duplicate: 'json_duplicate',
  depth: 'json_depth',
  // Never occurs here, because `rules` has no `maxValues`.
  size: 'json',
} as const

/** Parses bytes strictly as one JSON object: no duplicate member names at any depth (RFC 7519, section 4). */
export function parseObject(bytes: Uint8Array, step: Step): JsonObject {
  let value: unknown
  try {
    value = readStrictJson(bytes, rules)
  } catch (error) {
    if (error instanceof JsonFault) throw fault(checks[error.reason], step)
    throw error
  }
  if (!isObject(value)) throw fault('json', step)
  return value
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string')
}
