import { operations, repeatedParameters, type Operations } from './api.ts'
import { errorOf } from './errors.ts'
import { sendWithRetries, wait } from './retry.ts'

/** The options of a client: the server, the access token, and how to retry. */
export interface ClientOptions {
  /** Intercept's URL: `https://intercept.example.com`. */
  readonly server: string
  /** An access token: `svc_admin_…`. */
  readonly token: string
  readonly fetch?: typeof globalThis.fetch
  /** How many times to try a request that is safe to repeat, including the first attempt; defaults to 3. */
  readonly tries?: number
  /** The timeout of each attempt in milliseconds; defaults to 30,000. */
  readonly timeoutMs?: number
  /** Waits the given number of milliseconds before the next attempt; defaults to a timer. */
  readonly wait?: (ms: number) => Promise<void>
}

/** The options of one call, apart from its input. */
export interface CallOptions {
  readonly signal?: AbortSignal
  /**
   * The Idempotency-Key, for operations that accept one: the same request with the same key within 24 hours creates
   * nothing twice. Defaults to a new key for each call.
   */
  readonly idempotencyKey?: string
  /** The version that an edit expects (If-Match); if the record has another version, the edit is refused with 412. */
  readonly version?: number
}

type Input<Name extends keyof Operations> = Operations[Name]['input']
type Output<Name extends keyof Operations> = Operations[Name]['output']
type Arguments<Name extends keyof Operations> =
  Record<string, never> extends Input<Name>
    ? [input?: Input<Name>, options?: CallOptions]
    : [input: Input<Name>, options?: CallOptions]

/** Operations that return a page of a list. */
type Listing = {
  [Name in keyof Operations]: Output<Name> extends { items: unknown[]; next: string | null }
    ? Name
    : never
}[keyof Operations]
type Item<Name extends Listing> =
  Output<Name> extends { items: (infer One)[]; next: string | null } ? One : never

/** A client: one method for each operation of the API, named after the operation id. */
export type Client = {
  readonly [Name in keyof Operations]: (...call: Arguments<Name>) => Promise<Output<Name>>
} & {
  /** Iterates over all items of a list, page by page: `for await (const key of client.all('listKeys', { … }))`. */
  all<Name extends Listing>(name: Name, ...call: Arguments<Name>): AsyncGenerator<Item<Name>>
}

type QueryValue = string | number | boolean | readonly string[] | undefined

interface Given {
  readonly query?: Readonly<Record<string, QueryValue>>
  readonly body?: unknown
  readonly [parameter: string]: unknown
}

const defaultTries = 3
const defaultTimeoutMs = 30_000

interface Page {
  readonly items: unknown[]
  readonly next: string | null
  readonly more?: boolean
}

/** Creates a client; sends nothing until a method is called. */
export function createClient(options: ClientOptions): Client {
  async function call(
    name: keyof Operations,
    input: Given = {},
    how: CallOptions = {},
  ): Promise<unknown> {
    const [method, path, isCreation] = operations[name]
    const isRepeatable = isCreation || method === 'GET' || method === 'PUT' || method === 'DELETE'
    const headers: Record<string, string> = { authorization: `Bearer ${options.token}` }
    if (method !== 'GET') headers['content-type'] = 'application/json'
    // Every attempt sends the same key, so retrying a creation whose response was lost creates nothing twice.
    if (isCreation) headers['idempotency-key'] = how.idempotencyKey ?? crypto.randomUUID()
    if (how.version !== undefined) headers['if-match'] = `"${how.version}"`
    const url = addressOf(options.server, path, input)
    const body = method === 'GET' ? null : JSON.stringify(input.body ?? {})
    const send = async (): Promise<Response> =>
      await (options.fetch ?? fetch)(url, { method, headers, body, signal: signalOf(options, how) })
    const tries = options.tries ?? defaultTries
    const response = await sendWithRetries(send, isRepeatable, {
      tries,
      wait: options.wait ?? wait,
    })
    if (!response.ok) throw await errorOf(response)
    const type = response.headers.get('content-type') ?? ''
    const text = await response.text()
    return type.includes('json') && text !== '' && !type.includes('ndjson')
      ? (JSON.parse(text) as unknown)
      : text || undefined
  }

  async function* all(
    name: keyof Operations,
    input: Given = {},
    how: CallOptions = {},
  ): AsyncGenerator {
    for (let after: string | null | undefined; after !== null;) {
      const query = after === undefined ? input.query : { ...input.query, after }
      const given = query === undefined ? input : { ...input, query }
      const page = (await call(name, given, how)) as Page
      yield* page.items
      // `more` is false on the last page of events, which may still have a `next` cursor for later polling.
      after = page.more === false ? null : page.next
    }
  }

  const names = Object.keys(operations) as (keyof Operations)[]
  const methods = names.map((name) => [
    name,
    async (input?: Given, how?: CallOptions) => await call(name, input, how),
  ])
  return { ...(Object.fromEntries(methods) as object), all } as Client
}

function addressOf(server: string, path: string, { query = {}, ...parameters }: Given): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = parameters[name]
    if (typeof value !== 'string' || value === '') throw new TypeError(`${name} is missing`)
    return encodeURIComponent(value)
  })
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue
    if (!Array.isArray(value)) search.set(name, value.toString())
    else if (!repeatedParameters.includes(name)) search.set(name, value.join(','))
    else for (const item of value as readonly string[]) search.append(name, item)
  }
  const text = search.toString()
  return `${server.replace(/\/+$/, '')}/api/v1${filled}${text === '' ? '' : `?${text}`}`
}

function signalOf({ timeoutMs }: ClientOptions, { signal }: CallOptions): AbortSignal {
  const timeout = AbortSignal.timeout(timeoutMs ?? defaultTimeoutMs)
  return signal === undefined ? timeout : AbortSignal.any([signal, timeout])
}
