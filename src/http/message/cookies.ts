/** The lifetime and scope of one of our cookies; all are host-only, secure and inaccessible to scripts. */
export interface CookieInput {
  readonly sameSite: 'Strict' | 'Lax'
  readonly maxAgeSeconds?: number
}

/** Renders a Set-Cookie value that meets the requirements of the `__Host-` prefix (RFC 6265bis, section 4.1.3.2). */
export function hostCookie(name: `__Host-${string}`, value: string, input: CookieInput): string {
  const age = input.maxAgeSeconds === undefined ? '' : `; Max-Age=${input.maxAgeSeconds}`
  return `${name}=${value}; HttpOnly; Secure; SameSite=${input.sameSite}; Path=/${age}`
}

/** Returns every value that a Cookie header contains for one name, in order; more than one indicates manipulation. */
export function cookieValues(header: string | undefined, name: string): string[] {
  if (header === undefined) return []
  const values: string[] = []
  for (const pair of header.split(';')) {
    const at = pair.indexOf('=')
    if (at > 0 && pair.slice(0, at).trim() === name) values.push(pair.slice(at + 1).trim())
  }
  return values
}

/** Returns the cookies whose names begin with a prefix, in order. */
export function cookiesWith(
  header: string | undefined,
  prefix: string,
): { readonly name: string; readonly value: string }[] {
  const found = (header ?? '').split(';').map((pair) => {
    const at = pair.indexOf('=')
    return { name: pair.slice(0, Math.max(at, 0)).trim(), value: pair.slice(at + 1).trim() }
  })
  return found.filter(({ name }) => name.startsWith(prefix))
}
