import { errorOf } from './errors.ts'

/** Calls an API behind Intercept. The arguments are a target, a path on that API, and the options of `fetch`. */
export type GuardedFetch = (target: string, path: string, init?: RequestInit) => Promise<Response>

/**
 * Creates a `fetch` for guarded calls. The API's own responses are returned, whatever their status; refusals by
 * Intercept (`Intercept-Refused`) are thrown as an `InterceptError`.
 */
export function createGuardedFetch(options: {
  readonly server: string
  /** An API key: `svc_live_…` or `sk_live_…`. */
  readonly key: string
  readonly fetch?: typeof globalThis.fetch
}): GuardedFetch {
  const { server, key } = options
  return async (target, path, init = {}) => {
    const headers = new Headers(init.headers)
    if (key.startsWith('sk_live_')) headers.set('authorization', `Bearer ${key}`)
    else headers.set('x-api-key', key)
    const slash = path.startsWith('/') ? '' : '/'
    const url = `${server.replace(/\/+$/, '')}/api/v1/intercept/${encodeURIComponent(target)}${slash}${path}`
    // Redirects are returned, not followed, so that the key is never sent elsewhere.
    const response = await (options.fetch ?? fetch)(url, { ...init, headers, redirect: 'manual' })
    if (response.headers.has('intercept-refused')) throw await errorOf(response)
    return response
  }
}
