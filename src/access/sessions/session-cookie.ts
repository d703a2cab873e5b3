import { Problem } from '../../errors.ts'
import { cookieValues, hostCookie } from '../../http/message/index.ts'

/** The cookie that holds a session's token. */
export const sessionCookieName = '__Host-session'

// Sent along from other sites too, which the session's own cookie is not: it names the session and opens nothing.
const markerName = '__Host-signed-in'

/** Sets the session cookie and the mark that names it; no age: the server's row decides when they end. */
export function sessionCookies(started: {
  readonly token: string
  readonly session: { readonly id: string }
}): string[] {
  return [
    hostCookie(sessionCookieName, started.token, { sameSite: 'Strict' }),
    hostCookie(markerName, started.session.id, { sameSite: 'Lax' }),
  ]
}

/** Takes them away, with the attributes they were set with. */
export const sessionEndCookies: readonly string[] = [
  hostCookie(sessionCookieName, '', { sameSite: 'Strict', maxAgeSeconds: 0 }),
  hostCookie(markerName, '', { sameSite: 'Lax', maxAgeSeconds: 0 }),
]

/** The session that a browser says it has, also where a request comes from another site. It proves nothing. */
export function markedSession(header: string | undefined): string | undefined {
  return cookieValues(header, markerName)[0]
}

/** Whether a Cookie header carries a session, good or bad. */
export function hasSessionCookie(header: string | undefined): boolean {
  return cookieValues(header, sessionCookieName).length > 0
}

/** The token in a Cookie header; `session_missing`, `session_invalid` (401) where it comes twice. */
export function readSessionCookie(header: string | undefined): string {
  const [token, second] = cookieValues(header, sessionCookieName)
  if (token === undefined || token === '') throw new Problem('session_missing', 'Sign in first.')
  if (second !== undefined) {
    throw new Problem('session_invalid', 'The session cookie was sent twice. Sign in again.')
  }
  return token
}
