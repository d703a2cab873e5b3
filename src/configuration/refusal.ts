import { Problem } from '../errors.ts'

/**
 * The codes of refusals about the file's content; a refusal by the database or the node belongs to no line of the file.
 */
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

/** Locates a thing in the file, or one of its fields. */
export type Where = (field?: string) => string

/** Adds the location in the file to a refusal that concerns the file's content; returns any other error unchanged. */
export function placedAt(where: Where, error: unknown): unknown {
  if (!(error instanceof Problem) || !aboutTheFile.has(error.code)) return error
  const { field, permission } = error.members ?? {}
  const place = where(typeof field === 'string' ? field : undefined)
  const members = permission === undefined ? {} : { members: { permission } }
  return new Problem(error.code, `${place}: ${error.message}`, { cause: error, ...members })
}
