import type { AppRequest } from '../http/index.ts'
import { ScimError } from './protocol/errors.ts'

/** Returns the token of the Authorization header (RFC 6750 section 2.1); throws a 401 unless there is exactly one. */
export function readToken(request: AppRequest): string {
  const values = authorizations(request)
  if (values.length > 1) throw new ScimError(401, 'More than one credential was sent.')
  const match = /^bearer +([^ \t,"]+) *$/i.exec(values[0] ?? '')
  if (match?.[1] === undefined) {
    throw new ScimError(401, 'Send the SCIM token as Authorization: Bearer <token>.')
  }
  return match[1]
}

/** Whether a request has an Authorization header, whatever it contains. */
export function bringsCredential(request: AppRequest): boolean {
  return authorizations(request).length > 0
}

// Returns every Authorization value, from the raw headers: the parsed headers silently keep only the first.
function authorizations(request: AppRequest): string[] {
  const flat = request.raw.rawHeaders
  return flat.filter((_, at) => at % 2 === 1 && flat[at - 1]?.toLowerCase() === 'authorization')
}
