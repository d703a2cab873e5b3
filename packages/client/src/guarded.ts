import { errorOf } from './errors.ts'

/** Calls an API behind Intercept: a target and a path there, and what `fetch` takes. */
export type GuardedFetch = (target: string, path: string, init?: RequestInit) => Promise<Response>

/**
 * A `fetch` for guarded calls. What the API itself answers is returned, whatever its status; what Intercept refuses
 * (`Intercept-Refused`) is thrown as an `InterceptError` with its code.
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
    // A redirect of the API is the API's answer; the key never follows it elsewhere.
    const response = await (options.fetch ?? fetch)(url, { ...init, headers, redirect: 'manual' })
    if (response.headers.has('intercept-refused')) throw await errorOf(response)
    return response
  }
}
