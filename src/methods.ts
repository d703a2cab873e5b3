/** The methods that pass; CONNECT and TRACE never do (an open proxy, an echo of the injected credential). */
export const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

const known: ReadonlySet<string> = new Set(methods)

/** Whether a method is one of them. */
export function isMethod(method: string): boolean {
  return known.has(method)
}
