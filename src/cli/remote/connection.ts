import { systemClock, type Clock } from '../../clock.ts'
import { Problem, problems, type ProblemCode } from '../../errors.ts'

const deadlineMs = 120_000
const itemsInPage = 200

/** A running Intercept to which commands speak over its API. */
export interface Remote {
  readonly server: string
  /** The organization of keys, tokens and endpoints that a command names by their id alone. */
  readonly organization: string | undefined
  /** The server's time as its last answer told it, to the second: what "the last 24 hours" are is for the server to say. */
  readonly clock: Clock
  /** Asks a route such as `GET /organizations/acme/keys`; its refusals as they are. */
  call<T>(route: string, body?: unknown): Promise<T>
  /** Asks the guarded area who a key is; its refusals as they are. */
  whoAmI<T>(credential: Readonly<Record<string, string>>): Promise<T>
  /** Every item of a list, up to a largest number, page by page. */
  list<T>(path: string, maxItems: number): Promise<T[]>
}

/** Opens the way to a server; nothing is asked yet. */
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
  async function call<T>(route: string, body?: unknown): Promise<T> {
    const [method = 'GET', path = ''] = route.split(' ')
    const authorization = `Bearer ${token}`
    if (body === undefined) return await ask(path, { method, headers: { authorization } })
    const headers = { authorization, 'content-type': 'application/json' }
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
      for (let after: string | null | undefined; after !== null && items.length < maxItems;) {
        const search = new URLSearchParams({ limit: String(Math.min(itemsInPage, maxItems)) })
        if (after !== undefined) search.set('after', after)
        const mark = path.includes('?') ? '&' : '?'
        const page = await call<{ items: unknown[]; next: string | null }>(
          `GET ${path}${mark}${search.toString()}`,
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

/** The header names whole seconds: a smaller difference is none. */
function beyondOneSecond(ms: number): number {
  return Math.abs(ms) <= 1000 ? 0 : ms
}

/** The refusal as the server words it; an answer that is none of ours says so. */
function problemOf({ status }: Response, text: string): Problem {
  try {
    const { code, detail } = JSON.parse(text) as { code: string; detail: string }
    if (Object.hasOwn(problems, code)) return new Problem(code as ProblemCode, detail)
  } catch {
    // No JSON: not an answer of an Intercept.
  }
  return new Problem('upstream_invalid', `The server answered ${status}, and not as an Intercept.`)
}
