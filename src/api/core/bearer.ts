import { Problem } from '../../errors.ts'

/**
 * Reads the token of `Authorization: Bearer <token>` (RFC 6750, section 2.1); undefined without such a header. Throws
 * `credential_ambiguous` for two such headers, and `credential_invalid` for a malformed one. Other schemes are ignored,
 * because a proxy may use them for itself.
 */
export function readBearer(values: readonly string[]): string | undefined {
  const [value, ...others] = values.filter((one) => /^\s*bearer\b/i.test(one))
  if (value === undefined) return undefined
  if (others.length > 0) {
    throw new Problem(
      'credential_ambiguous',
      'The request carries more than one access token. Send exactly one Authorization header.',
    )
  }
  const token = /^bearer +([^ \t,"]+) *$/i.exec(value)?.[1]
  if (token !== undefined) return token
  throw new Problem('credential_invalid', 'The JSON API takes Authorization: Bearer svc_admin_….', {
    headers: { 'WWW-Authenticate': 'Bearer realm="intercept"' },
  })
}
