import { Problem } from '../errors.ts'
import { cookieValues, hostCookie } from '../http/index.ts'

/** The cookie that holds a session's token. */
export const sessionCookieName = '__Host-session'

/** Sets the session cookie; no age: the server's row decides when it ends. */
export function sessionCookie(token: string): string {
  return hostCookie(sessionCookieName, token, { sameSite: 'Strict' })
}

/** Takes the session cookie away, with the attributes it was set with. */
export const sessionEndCookie = hostCookie(sessionCookieName, '', {
  sameSite: 'Strict',
  maxAgeSeconds: 0,
})

/** The token in a Cookie header; `session_missing`, `session_invalid` (401) where it comes twice. */
export function readSessionCookie(header: string | undefined): string {
  const [token, second] = cookieValues(header, sessionCookieName)
  if (token === undefined || token === '') throw new Problem('session_missing', 'Sign in first.')
  if (second !== undefined) {
    throw new Problem('session_invalid', 'The session cookie was sent twice. Sign in again.')
  }
  return token
}
