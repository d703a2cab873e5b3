import { Problem } from '../../errors.ts'
import { cookieValues, hostCookie } from '../../http/message/index.ts'

/** The cookie that holds a session's token. */
export const sessionCookieName = '__Host-session'

// A marker that names the session but gives no access to it. As SameSite=Lax it also comes with links from other sites,
// unlike the session's own cookie.
const markerName = '__Host-signed-in'

/**
 * Sets the session cookie and the marker that names the session; neither expires in the browser, since the server ends
 * sessions.
 */
export function sessionCookies(started: {
  readonly token: string
  readonly session: { readonly id: string }
}): string[] {
  return [
    hostCookie(sessionCookieName, started.token, { sameSite: 'Strict' }),
    hostCookie(markerName, started.session.id, { sameSite: 'Lax' }),
  ]
}

/** Removes both cookies; browsers require the attributes that they were set with. */
export const sessionEndCookies: readonly string[] = [
  hostCookie(sessionCookieName, '', { sameSite: 'Strict', maxAgeSeconds: 0 }),
  hostCookie(markerName, '', { sameSite: 'Lax', maxAgeSeconds: 0 }),
]

/** The id of the session that a browser claims to have, even on a request from another site. It proves nothing. */
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
