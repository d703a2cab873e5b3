import { Problem } from '../../errors.ts'
import { methods } from '../../methods.ts'
import type { App } from './app.ts'

/**
 * Tracks the routes registered on an app, or on a scope with its own error format. The returned function registers 405
 * `method_not_allowed` (RFC 9110 section 15.5.6) for all other methods of those URLs, instead of the 404 for unknown
 * URLs.
 */
export function watchMethods(app: App): () => void {
  const known = new Map<string, Set<string>>()
  app.addHook('onRoute', ({ url, method }) => {
    const answered = known.get(url) ?? new Set()
    for (const one of [method].flat()) answered.add(one)
    known.set(url, answered)
  })
  return () => {
    // Scopes add their routes when the app becomes ready, in registration order, so this scope sees the routes of all
    // earlier ones.
    void app.register(async (scope) => {
      for (const [url, answered] of [...known]) {
        const others = methods.filter((method) => !answered.has(method))
        if (others.length > 0) refuse(scope, { url, others, answered: [...answered] })
      }
    })
  }
}

function refuse(
  scope: App,
  at: { readonly url: string; readonly others: string[]; readonly answered: readonly string[] },
): void {
  const allow = methods.filter((method) => at.answered.includes(method)).join(', ')
  const refused = async (): Promise<never> => {
    throw new Problem('method_not_allowed', undefined, { headers: { Allow: allow } })
  }
  // Refuses in `onRequest`, before the body is read.
  scope.route({ method: at.others, url: at.url, onRequest: refused, handler: refused })
}
