import type { Provider } from './discovery.ts'
import { fault } from './faults.ts'
import { checkIssuedAt, checkIssuerAndAudience, checkTimes, subjectOf } from './id-token.ts'
import { isObject } from './json.ts'
import { verifyToken } from './jwt.ts'
import type { Keys } from './keys.ts'
import { isStorable } from '../storable.ts'

/** Says which sessions the provider ends: by their subject, by a provider session, or by both. */
export interface Logout {
  readonly subject: string | undefined
  readonly providerSession: string | undefined
  /** The token's id; a second use is a replay. */
  readonly tokenId: string
}

const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout'

/**
 * Verifies a logout token (OpenID Connect Back-Channel Logout 1.0, section 2.6). The caller must remember the token
 * ids, to refuse a second use.
 */
export async function verifyLogoutToken(
  token: string,
  provider: Provider,
  expected: { clientId: string; nowMs: number; keys: Keys },
): Promise<Logout> {
  const { claims } = await verifyToken(token, {
    step: 'logout_token',
    types: ['logout+jwt', 'jwt'],
    provider,
    keys: expected.keys,
  })
  checkIssuerAndAudience(
    claims,
    { issuer: provider.issuer, clientId: expected.clientId },
    'logout_token',
  )
  if (claims['exp'] === undefined) checkIssuedAt(claims['iat'], expected.nowMs, 'logout_token')
  else checkTimes(claims, expected.nowMs, 'logout_token')
  if (claims['nonce'] !== undefined) throw fault('logout_nonce', 'logout_token')
  const { events, jti, sid } = claims
  if (!isObject(events) || !isObject(events[logoutEvent]))
    throw fault('logout_events', 'logout_token')
  if (typeof jti !== 'string' || jti === '' || jti.length > 255)
    throw fault('logout_id', 'logout_token')
  const subject = claims['sub'] === undefined ? undefined : subjectOf(claims, 'logout_token')
  if (sid !== undefined && !isSessionId(sid)) throw fault('logout_target', 'logout_token')
  if (subject === undefined && sid === undefined) throw fault('logout_target', 'logout_token')
  return { subject, providerSession: sid, tokenId: jti }
}

function isSessionId(sid: unknown): sid is string {
  return typeof sid === 'string' && sid !== '' && sid.length <= 255 && isStorable(sid)
}
