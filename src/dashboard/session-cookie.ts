import { hostCookie } from '../http/index.ts'

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
