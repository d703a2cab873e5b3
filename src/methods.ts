/**
 * The methods that are forwarded; never CONNECT (which would make an open proxy) or TRACE (which would echo the
 * injected credential).
 */
export const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

const known: ReadonlySet<string> = new Set(methods)

export function isMethod(method: string): boolean {
  return known.has(method)
}
