import { ScimError, refuse } from '../protocol/errors.ts'
import { isObject, memberOf, type Json } from '../protocol/json.ts'
import { checkSchemas } from '../schema/resource.ts'

/** One operation of RFC 7644 section 3.5.2, with its verb in lower case (Entra capitalizes it). */
export interface PatchOperation {
  readonly op: 'add' | 'remove' | 'replace'
  readonly path: string | undefined
  readonly value: Json | undefined
}

const patchUrn = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'
const maxOperations = 1000
// Bounds the time spent on parsing paths, which may contain filters.
const maxPathCharacters = 200_000
const verbs = new Set<string>(['add', 'remove', 'replace'])

/** Reads the operations of a PATCH body (RFC 7644 section 3.5.2); throws if any of them is malformed. */
export function readPatch(body: Json): PatchOperation[] {
  if (!isObject(body)) throw refuse('invalidSyntax', 'The body must be a JSON object.')
  checkSchemas(body, patchUrn)
  const operations = memberOf(body, 'Operations')
  if (!Array.isArray(operations) || operations.length === 0) {
    throw refuse('invalidSyntax', "'Operations' must be a list with at least one operation.")
  }
  if (operations.length > maxOperations) {
    throw new ScimError(413, `At most ${maxOperations} operations are taken at once.`, {
      scimType: 'tooMany',
    })
  }
  const read = (operations as readonly Json[]).map(readOperation)
  if (read.reduce((sum, { path = '' }) => sum + path.length, 0) > maxPathCharacters) {
    throw new ScimError(413, 'The paths are too long together: send the operations in parts.', {
      scimType: 'tooMany',
    })
  }
  return read
}

function readOperation(json: Json): PatchOperation {
  if (!isObject(json)) throw refuse('invalidSyntax', 'An operation must be an object.')
  const op = memberOf(json, 'op')
  const path = memberOf(json, 'path')
  const value = memberOf(json, 'value')
  const verb = typeof op === 'string' ? op.toLowerCase() : ''
  if (!verbs.has(verb)) throw refuse('invalidSyntax', "'op' must be add, remove or replace.")
  if (path !== undefined && path !== null && typeof path !== 'string') {
    throw refuse('invalidPath', "'path' must be a text.")
  }
  if (verb !== 'remove' && value === undefined) {
    throw refuse('invalidValue', `'${verb}' needs a value.`)
  }
  return { op: verb as PatchOperation['op'], path: path || undefined, value }
}
