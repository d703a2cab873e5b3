import { Problem } from '../../errors.ts'
import { JsonFault, readStrictJson, type Json } from '../../strict-json.ts'

// Ten thousand values are read in a few milliseconds; without this limit, a large body would block the event loop for
// longer.
const rules = {
  maxDepth: 500,
  maxMembers: 10_000,
  maxValues: 10_000,
  // Later code could reach an object's prototype by this name; no schema uses it.
  refusedNames: new Set(['__proto__']),
  // Characters that the databases cannot store are refused once the route is known, together with those in the query.
  allowsAnyText: true,
}

/** Parses a JSON body strictly; throws `bad_request`, or `invalid_input` if it has too many values. */
export function readJsonBody(bytes: Uint8Array): Json {
  if (bytes.length === 0) {
    throw new Problem(
      'bad_request',
      'The request body is empty, but its type says that it is JSON.',
    )
  }
  try {
    return readStrictJson(bytes, rules)
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error
    if (error.reason === 'size') throw new Problem('invalid_input', `The request ${error.message}.`)
    throw new Problem('bad_request', `The JSON of the request body ${error.message}.`)
  }
}
