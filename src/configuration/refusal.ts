import { Problem } from '../errors.ts'

/** The codes that say something about the file; what the database or a node refuses has no line in it. */
const aboutTheFile: ReadonlySet<string> = new Set([
  'invalid_input',
  'outbound_blocked',
  'conflict',
  'not_found',
  'plan_required',
  'permission_required',
  'domain_invalid',
  'domain_public',
  'idp_discovery_invalid',
  'idp_unreachable',
  'idp_timeout',
  'idp_keys_invalid',
])

/** Where a thing of the file stands, or a field of it. */
export type Where = (field?: string) => string

/** A refusal with the place in the file that it is about. */
export function placedAt(where: Where, error: unknown): unknown {
  if (!(error instanceof Problem) || !aboutTheFile.has(error.code)) return error
  const { field, permission } = error.members ?? {}
  const place = where(typeof field === 'string' ? field : undefined)
  const members = permission === undefined ? {} : { members: { permission } }
  return new Problem(error.code, `${place}: ${error.message}`, { cause: error, ...members })
}
