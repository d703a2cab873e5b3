import { Problem } from '../../errors.ts'
import { JsonFault, readStrictJson, type Json } from '../../strict-json.ts'

// Ten thousand values are read in a few milliseconds; JSON.parse would hold the process for as long as the bytes last.
const rules = {
  maxDepth: 500,
  maxMembers: 10_000,
  maxValues: 10_000,
  // Later code might reach an object's prototype by this name; no schema has it.
  refusedNames: new Set(['__proto__']),
  // What the databases cannot keep is refused together with the query's, where the route is known.
  allowsAnyText: true,
}

/** Reads a JSON body strictly: `bad_request`, or `invalid_input` when it holds too much. */
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
