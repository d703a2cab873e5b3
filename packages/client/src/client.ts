import { operations, type Operations } from './api.ts'
import { errorOf } from './errors.ts'
import { sendWithRetries, wait } from './retry.ts'

/** What a client needs. */
export interface ClientOptions {
  /** Where Intercept is: `https://intercept.example.com`. */
  readonly server: string
  /** An access token: `svc_admin_…`. */
  readonly token: string
  readonly fetch?: typeof globalThis.fetch
  /** Tries of a request that is safe to repeat; 3. */
  readonly tries?: number
  /** Milliseconds for one try; 30,000. */
  readonly timeoutMs?: number
  /** How the time between two tries passes; a timer. */
  readonly wait?: (ms: number) => Promise<void>
}

/** What one call takes besides its own input. */
export interface CallOptions {
  readonly signal?: AbortSignal
  /** Makes a creation safe to repeat, also by another process; a fresh one for each call unless given. */
  readonly idempotencyKey?: string
  /** Edit only this version (If-Match). */
  readonly version?: number
}

type Input<Name extends keyof Operations> = Operations[Name]['input']
type Output<Name extends keyof Operations> = Operations[Name]['output']
type Arguments<Name extends keyof Operations> =
  Record<string, never> extends Input<Name>
    ? [input?: Input<Name>, options?: CallOptions]
    : [input: Input<Name>, options?: CallOptions]

/** Operations that answer a page of a list. */
type Listing = {
  [Name in keyof Operations]: Output<Name> extends { items: unknown[]; next: string | null }
    ? Name
    : never
}[keyof Operations]
type Item<Name extends Listing> =
  Output<Name> extends { items: (infer One)[]; next: string | null } ? One : never

/** A method for each operation of the API, by its id. */
export type Client = {
  readonly [Name in keyof Operations]: (...call: Arguments<Name>) => Promise<Output<Name>>
} & {
  /** Every item of a list, page after page: `for await (const key of client.all('listKeys', { … }))`. */
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

/** Opens a client; nothing is asked until a method is called. */
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
    // The same key on every try: a retry of a creation whose answer was lost makes nothing twice.
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
      const page = (await call(name, given, how)) as { items: unknown[]; next: string | null }
      yield* page.items
      after = page.next
    }
  }

  const names = Object.keys(operations) as (keyof Operations)[]
  const methods = names.map((name) => [
    name,
    async (input?: Given, how?: CallOptions) => await call(name, input, how),
  ])
  return { ...(Object.fromEntries(methods) as object), all } as Client
}

/** The path with its parameters filled in, and the query; lists are parted by commas. */
function addressOf(server: string, path: string, { query = {}, ...parameters }: Given): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = parameters[name]
    if (typeof value !== 'string' || value === '') throw new TypeError(`${name} is missing`)
    return encodeURIComponent(value)
  })
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined)
      search.set(name, Array.isArray(value) ? value.join(',') : value.toString())
  }
  const text = search.toString()
  return `${server.replace(/\/+$/, '')}/api/v1${filled}${text === '' ? '' : `?${text}`}`
}

function signalOf({ timeoutMs }: ClientOptions, { signal }: CallOptions): AbortSignal {
  const timeout = AbortSignal.timeout(timeoutMs ?? defaultTimeoutMs)
  return signal === undefined ? timeout : AbortSignal.any([signal, timeout])
}
