import { errorBody, refuse, ScimError, type ScimType } from './protocol/errors.ts'
import type { ScimAnswer, ScimRequest } from './exchange.ts'
import { isObject, memberOf, type Json, type JsonObject } from './protocol/json.ts'
import { checkSchemas } from './schema/resource.ts'

const requestUrn = 'urn:ietf:params:scim:api:messages:2.0:BulkRequest'
const responseUrn = 'urn:ietf:params:scim:api:messages:2.0:BulkResponse'
const methods = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])
const reference = /bulkId:([^"'\]\s/]{1,200})/g

interface Operation {
  readonly method: string
  readonly bulkId: string | undefined
  readonly path: string
  readonly version: string | undefined
  readonly data: Json | undefined
  /** The bulkIds that this operation refers to. */
  readonly references: ReadonlySet<string>
}

type Result = Record<string, unknown>

/** `perform` runs one operation of a bulk request; `explain` describes the error if that operation fails. */
interface BulkDeps {
  readonly maxOperations: number
  readonly perform: (request: ScimRequest) => Promise<ScimAnswer>
  readonly explain: (error: unknown) => {
    status: number
    scimType: ScimType | undefined
    detail: string
  }
}

/**
 * Performs a bulk request (RFC 7644 section 3.7). An operation that refers to the bulkId of another operation runs
 * after that operation; circular references fail (section 3.7.1).
 */
export async function answerBulk(request: ScimRequest, deps: BulkDeps): Promise<ScimAnswer> {
  const { perform, explain } = deps
  const { operations, failOnErrors } = readBulk(request.body, deps.maxOperations)
  const results = new Map<number, Result>()
  const ids = new Map<string, string>()
  let failures = 0
  let waiting = operations.map((operation, at) => ({ operation, at }))

  async function run(operation: Operation, at: number): Promise<void> {
    const { method, bulkId } = operation
    const named = { method, ...(bulkId === undefined ? {} : { bulkId }) }
    try {
      const answer = await perform(inner(request, resolve(operation, ids)))
      const location = answer.headers?.['Location'] ?? locationOf(request, operation, ids)
      const id = location.slice(location.lastIndexOf('/') + 1)
      if (bulkId !== undefined) ids.set(bulkId, id)
      const version = answer.headers?.['ETag']
      results.set(at, {
        ...named,
        ...(version === undefined ? {} : { version }),
        location,
        status: String(answer.status),
      })
    } catch (error) {
      failures += 1
      const { status, scimType, detail } = explain(error)
      const location = method === 'POST' ? {} : { location: locationOf(request, operation, ids) }
      const response = errorBody(status, scimType, detail)
      results.set(at, { ...named, ...location, status: String(status), response })
    }
  }

  while (waiting.length > 0) {
    const ready = waiting.filter(({ operation }) => missingOf(operation, ids) === undefined)
    // If nothing is ready, the remaining operations depend on a failed, missing or circular reference, and each reports
    // that as its error when it runs.
    const turn = ready.length > 0 ? ready : waiting
    for (const { operation, at } of turn) {
      if (failOnErrors > 0 && failures >= failOnErrors) break
      await run(operation, at)
    }
    if (failOnErrors > 0 && failures >= failOnErrors) break
    waiting = waiting.filter(({ at }) => !results.has(at))
  }
  const Operations = [...results].sort(([a], [b]) => a - b).map(([, result]) => result)
  return { status: 200, body: { schemas: [responseUrn], Operations } }
}

function readBulk(
  body: Json | undefined,
  maxOperations: number,
): { operations: Operation[]; failOnErrors: number } {
  if (!isObject(body)) throw refuse('invalidSyntax', 'The body must be a JSON object.')
  checkSchemas(body, requestUrn)
  const list = memberOf(body, 'Operations')
  if (!Array.isArray(list)) throw refuse('invalidSyntax', "'Operations' must be a list.")
  if (list.length > maxOperations) {
    throw new ScimError(413, `At most ${maxOperations} operations are taken at once.`, {
      scimType: 'tooMany',
    })
  }
  const failOnErrors = memberOf(body, 'failOnErrors') ?? 0
  if (typeof failOnErrors !== 'number' || !Number.isSafeInteger(failOnErrors) || failOnErrors < 0) {
    throw refuse('invalidValue', "'failOnErrors' takes a whole number.")
  }
  const operations = (list as readonly Json[]).map(readOperation)
  const named = operations.map(({ bulkId }) => bulkId).filter((id) => id !== undefined)
  if (new Set(named).size < named.length) {
    throw refuse('invalidValue', 'A bulkId is there twice.')
  }
  return { operations, failOnErrors }
}

function readOperation(json: Json): Operation {
  if (!isObject(json)) throw refuse('invalidSyntax', 'An operation must be an object.')
  const method = textOf(json, 'method')?.toUpperCase() ?? ''
  const path = textOf(json, 'path')
  const bulkId = textOf(json, 'bulkId')
  if (!methods.has(method)) {
    throw refuse('invalidSyntax', "'method' must be POST, PUT, PATCH or DELETE.")
  }
  if (path === undefined) throw refuse('invalidSyntax', 'An operation needs a path.')
  if (method === 'POST' && bulkId === undefined) {
    throw refuse('invalidSyntax', 'A POST needs a bulkId.')
  }
  const data = memberOf(json, 'data')
  const references = referencesIn(`${path} ${JSON.stringify(data ?? null)}`)
  return { method, path, bulkId, version: textOf(json, 'version'), data, references }
}

function textOf(object: JsonObject, name: string): string | undefined {
  const value = memberOf(object, name)
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string' || value.length > 1000) {
    throw refuse('invalidSyntax', `'${name}' takes a text.`)
  }
  return value
}

// Called only when an operation is parsed: the result is kept, because the waiting operations are checked in every
// round.
function referencesIn(text: string): ReadonlySet<string> {
  const found = new Set<string>()
  for (const [, id = ''] of text.matchAll(reference)) found.add(id)
  return found
}

/** Returns a bulkId that the operation refers to and that has no resource yet; undefined if there is none. */
function missingOf(
  { references }: Operation,
  ids: ReadonlyMap<string, string>,
): string | undefined {
  for (const id of references) if (!ids.has(id)) return id
  return undefined
}

/**
 * Replaces every bulkId in the operation with the id of the resource it refers to; throws a 409 if there is no such
 * resource.
 */
function resolve(operation: Operation, ids: ReadonlyMap<string, string>): Operation {
  const missing = missingOf(operation, ids)
  if (missing !== undefined) {
    const name = missing.slice(0, 100)
    throw new ScimError(
      409,
      `bulkId ${name} stands for nothing that was made, or for something that waits for this.`,
      { scimType: 'invalidValue' },
    )
  }
  return {
    ...operation,
    path: replaced(operation.path, ids),
    data: replacedIn(operation.data, ids),
  }
}

function replacedIn(json: Json | undefined, ids: ReadonlyMap<string, string>): Json | undefined {
  if (typeof json === 'string') return replaced(json, ids)
  if (Array.isArray(json)) {
    return (json as readonly Json[]).map((item) => replacedIn(item, ids) ?? null)
  }
  if (!isObject(json)) return json
  return Object.fromEntries(
    Object.entries(json).map(([name, value]) => [name, replacedIn(value, ids) ?? null]),
  )
}

function replaced(text: string, ids: ReadonlyMap<string, string>): string {
  return text.replaceAll(reference, (whole, id: string) => ids.get(id) ?? whole)
}

function inner(request: ScimRequest, operation: Operation): ScimRequest {
  const [path = '', search = ''] = operation.path.split('?', 2)
  return {
    ...request,
    method: operation.method,
    path: path.split('/').filter((part) => part !== ''),
    query: new URLSearchParams(search),
    body: operation.data,
    ifMatch: operation.version,
    ifNoneMatch: undefined,
  }
}

function locationOf(
  request: ScimRequest,
  operation: Operation,
  ids: ReadonlyMap<string, string>,
): string {
  const [path = ''] = replaced(operation.path, ids).split('?', 1)
  return `${request.base}/${path.replace(/^\//, '')}`
}
