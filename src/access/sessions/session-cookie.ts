import { Problem } from '../../errors.ts'
import { cookieValues, hostCookie } from '../../http/message/index.ts'

export const sessionCookieName = '__Host-session'

// The cookie with this name is a marker: it holds the session's id, which gives no access to the session. Unlike the
// session cookie it is SameSite=Lax, so that browsers also send it when a link on another site is followed.
const markerName = '__Host-signed-in'

/** Neither cookie has an expiry date, because the server ends sessions. */
export function sessionCookies(started: {
  readonly token: string
  readonly session: { readonly id: string }
}): string[] {
  return [
    hostCookie(sessionCookieName, started.token, { sameSite: 'Strict' }),
    hostCookie(markerName, started.session.id, { sameSite: 'Lax' }),
  ]
}

/** The Set-Cookie values that remove both cookies, with the attributes that they were set with. */
export const sessionEndCookies: readonly string[] = [
  hostCookie(sessionCookieName, '', { sameSite: 'Strict', maxAgeSeconds: 0 }),
  hostCookie(markerName, '', { sameSite: 'Lax', maxAgeSeconds: 0 }),
]

/**
 * Returns the id of the session that a browser claims to have, even on a request from another site. The id proves
 * nothing.
 */
export function markedSession(header: string | undefined): string | undefined {
  return cookieValues(header, markerName)[0]
}

/** Whether a Cookie header carries a session token, valid or not. */
export function hasSessionCookie(header: string | undefined): boolean {
  return cookieValues(header, sessionCookieName).length > 0
}

/** Returns the token in a Cookie header. Throws `session_missing`, or `session_invalid` if there are two (401). */
export function readSessionCookie(header: string | undefined): string {
  const [token, second] = cookieValues(header, sessionCookieName)
  if (token === undefined || token === '') throw new Problem('session_missing', 'Sign in first.')
  if (second !== undefined) {
    throw new Problem('session_invalid', 'The session cookie was sent twice. Sign in again.')
  }
  return token
}
