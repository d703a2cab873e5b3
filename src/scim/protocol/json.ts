import { JsonFault, readStrictJson, type Json } from '../../strict-json.ts'
import { refuse, ScimError } from './errors.ts'

export type { Json }

export type JsonObject = { readonly [name: string]: Json }

const rules = {
  maxDepth: 32,
  maxMembers: 1000,
  // This is about twice the number of values in a body of 1 MiB that lists a group's members. Parsing more would block
  // the event loop for too long.
  maxValues: 100_000,
  // These names could reach an object's prototype in later code, and no schema uses them.
  refusedNames: new Set(['__proto__', 'constructor', 'prototype']),
}

/** Parses the bytes of a body strictly; throws `invalidSyntax` (400), or `tooMany` (413) for too many values. */
export function readJson(bytes: Uint8Array): Json {
  return read(bytes)
}

/** Like `readJson`, for text that is already decoded. */
export function parseJson(text: string): Json {
  return read(text)
}

function read(source: Uint8Array | string): Json {
  try {
    return readStrictJson(source, rules)
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error
    if (error.reason === 'encoding') throw refuse('invalidSyntax', 'The body is not valid UTF-8.')
    if (error.reason === 'size') {
      throw new ScimError(413, `The JSON ${error.message}.`, { scimType: 'tooMany' })
    }
    throw refuse('invalidSyntax', `The JSON ${error.message}.`)
  }
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Finds a member of a message by its name in upper or lower case (RFC 7643 section 2.1); undefined if there is none.
 */
export function memberOf(message: JsonObject, name: string): Json | undefined {
  const own = Object.keys(message).find((each) => each.toLowerCase() === name.toLowerCase())
  return own === undefined ? undefined : message[own]
}
