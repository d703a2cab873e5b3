import { systemClock, type Clock } from '../../clock.ts'
import { Problem, problems, type ProblemCode } from '../../errors.ts'

const deadlineMs = 120_000
const itemsInPage = 200

/** A running Intercept that commands use over its API. */
export interface Remote {
  readonly server: string
  /** The organization of keys, tokens and endpoints that are named by their id alone. */
  readonly organization: string | undefined
  /**
   * The server's time: this machine's clock, corrected if the last response's Date differed by more than a second. The
   * server decides what "the last 24 hours" means.
   */
  readonly clock: Clock
  /**
   * Calls a route such as `GET /organizations/acme/keys`; throws a refusal with the server's code and sentence. If
   * `version` is given, an edit of any other version is refused with `version_conflict`.
   */
  call<T>(route: string, body?: unknown, version?: number): Promise<T>
  /** Asks the gateway whom a key belongs to; throws the gateway's refusal. */
  whoAmI<T>(credential: Readonly<Record<string, string>>): Promise<T>
  /** Loads a list page by page, up to a maximum number of items, beginning after the path's `after` if it has one. */
  list<T>(path: string, maxItems: number): Promise<T[]>
}

/** Creates a connection to a server; sends nothing yet. */
export function connect(
  server: string,
  { token, organization }: { readonly token: string; readonly organization: string | undefined },
): Remote {
  let aheadMs = 0
  async function ask<T>(path: string, request: RequestInit): Promise<T> {
    const response = await send(`${server}/api/v1${path}`, {
      ...request,
      redirect: 'error',
      signal: AbortSignal.timeout(deadlineMs),
    })
    const date = Date.parse(response.headers.get('date') ?? '')
    if (!Number.isNaN(date)) aheadMs = beyondOneSecond(date - systemClock.now())
    const text = await response.text()
    if (!response.ok) throw problemOf(response, text)
    return (text === '' ? undefined : JSON.parse(text)) as T
  }
  async function call<T>(route: string, body?: unknown, version?: number): Promise<T> {
    const [method = 'GET', path = ''] = route.split(' ')
    const authorization = `Bearer ${token}`
    if (body === undefined) return await ask(path, { method, headers: { authorization } })
    const headers = {
      authorization,
      'content-type': 'application/json',
      ...(version === undefined ? {} : { 'if-match': `"${version}"` }),
    }
    return await ask(path, { method, headers, body: JSON.stringify(body) })
  }
  return {
    server,
    organization,
    clock: { now: () => systemClock.now() + aheadMs, monotonic: () => systemClock.monotonic() },
    call,
    whoAmI: async (credential) => await ask('/intercept', { headers: credential }),
    async list(path, maxItems) {
      const items: unknown[] = []
      const [address = '', query] = path.split('?', 2)
      const search = new URLSearchParams(query)
      search.set('limit', String(Math.min(itemsInPage, maxItems)))
      for (let after: string | null | undefined; after !== null && items.length < maxItems;) {
        if (after !== undefined) search.set('after', after)
        const page = await call<{ items: unknown[]; next: string | null }>(
          `GET ${address}?${search.toString()}`,
        )
        items.push(...page.items)
        after = page.next
      }
      return items.slice(0, maxItems) as never[]
    },
  }
}

async function send(url: string, request: RequestInit): Promise<Response> {
  try {
    return await fetch(url, request)
  } catch (cause) {
    throw new Problem('upstream_unreachable', `${new URL(url).origin} does not answer.`, { cause })
  }
}

/** Returns 0 for a difference of up to a second, because the Date header has whole seconds. */
function beyondOneSecond(ms: number): number {
  return Math.abs(ms) <= 1000 ? 0 : ms
}

/** Converts the server's refusal to a Problem; for a response that is not Intercept's, the Problem says so. */
function problemOf({ status }: Response, text: string): Problem {
  try {
    const { code, detail } = JSON.parse(text) as { code: string; detail: string }
    if (Object.hasOwn(problems, code)) return new Problem(code as ProblemCode, detail)
  } catch {
    // Not JSON, so not a response from Intercept.
  }
  return new Problem('upstream_invalid', `The server answered ${status}, and not as an Intercept.`)
}
