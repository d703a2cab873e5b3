import { Problem } from '../../errors.ts'
import { Secret } from '../../secrets/index.ts'
import type { Remote } from './connection.ts'

const shownAtTheEnd = 4

/** Converts an API time to milliseconds; null and missing become undefined. */
export function msOf(time: unknown): number | undefined {
  return typeof time === 'string' ? Date.parse(time) : undefined
}

/** Converts an API object to the domain's form: camelCase names, times in milliseconds, undefined for null. */
export function recordOf(json: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(json).map(([name, value]) => [
      name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      /_(at|until)$/.test(name) ? msOf(value) : valueOf(value),
    ]),
  )
}

function valueOf(value: unknown): unknown {
  if (value === null) return undefined
  if (Array.isArray(value)) return value.map(valueOf)
  return typeof value === 'object' ? recordOf(value as Record<string, unknown>) : value
}

/** Converts milliseconds to an API time; undefined and null stay as they are. */
export function timeOf(ms: number | null | undefined): string | null | undefined {
  return ms === undefined || ms === null ? ms : new Date(ms).toISOString()
}

/** Wraps a secret from a response, so that it prints as its hint. */
export function createSecret(text: string, hint = `…${text.slice(-shownAtTheEnd)}`): Secret {
  return new Secret(text, hint)
}

/**
 * Returns the chosen organization, which the API needs even for a thing that is named by its id. Throws `invalid_input`
 * if none was chosen.
 */
export function organizationFor(remote: Remote): string {
  if (remote.organization !== undefined) return remote.organization
  throw new Problem('invalid_input', 'Over the API, say whose it is: --org SLUG, or INTERCEPT_ORG.')
}

/** Stands in for an object that is not available over the API: reading any of its members throws. */
export function onlyLocal(): never {
  return new Proxy(
    {},
    {
      get: () => {
        throw new Problem(
          'not_found',
          'This command works on the database only, not over the API; leave --server and INTERCEPT_SERVER out.',
        )
      },
    },
  ) as never
}
