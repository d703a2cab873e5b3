import type { Routes } from './routes.ts'

export type Route = keyof Routes
export type Input<R extends Route> = PathInput<R> & Part<R, 'query'> & Part<R, 'body'>
/** Undefined if the response has no content. */
export type Answer<R extends Route> = Routes[R] extends { answer: infer A } ? Parsed<A> : undefined

/** A parsed response, in which JSON's null becomes undefined. */
export type Parsed<T> = T extends readonly (infer Item)[]
  ? readonly Parsed<Item>[]
  : T extends object
    ? {
        readonly [Name in keyof T]:
          | Parsed<Exclude<T[Name], null>>
          | (null extends T[Name] ? undefined : never)
      }
    : T

type Names<P> = P extends `${string}:${infer Name}/${infer Rest}`
  ? Name | Names<`/${Rest}`>
  : P extends `${string}:${infer Name}`
    ? Name
    : never
type PathInput<R> = [Names<R>] extends [never] ? object : { path: { [N in Names<R>]: string } }
type Part<R extends Route, Name extends 'query' | 'body'> = Name extends keyof Routes[R]
  ? object extends Routes[R][Name]
    ? { [N in Name]?: Loose<Routes[R][Name]> }
    : { [N in Name]: Loose<Routes[R][Name]> }
  : object
/** Lets callers pass undefined for any member; such members are left out of the request. */
type Loose<T> = T extends object ? { [Name in keyof T]: T[Name] | undefined } : T

export interface FieldError {
  readonly field: string
  readonly message: string
}

/** `code` is `offline` if no response arrived. */
export class Refused extends Error {
  readonly status: number
  readonly code: string
  readonly requestId: string | undefined
  readonly fields: readonly FieldError[]

  constructor(
    status: number,
    code: string,
    {
      detail,
      requestId,
      fields,
    }: { detail: string; requestId?: string | undefined; fields?: FieldError[] | undefined },
  ) {
    super(detail)
    this.name = 'Refused'
    this.status = status
    this.code = code
    this.requestId = requestId
    this.fields = fields ?? []
  }
}

const signedOutListeners = new Set<() => void>()

/**
 * Calls `listener` when a call that is not `quiet` is refused with 401. Returns a function that removes the listener.
 */
export function onSignedOut(listener: () => void): () => void {
  signedOutListeners.add(listener)
  return () => signedOutListeners.delete(listener)
}

/** Throws `Refused` if the server refuses the request or can't be reached. */
export async function call<R extends Route>(
  route: R,
  input: Input<R>,
  more: More = {},
): Promise<Answer<R>> {
  const answer = await request(route, input, more)
  if (answer.status === 204) return undefined as Answer<R>
  const text = await answer.text()
  return (text === '' ? undefined : JSON.parse(text, nullIsAbsent)) as Answer<R>
}

export async function download<R extends Route>(
  route: R,
  input: Input<R>,
  name: string,
): Promise<void> {
  const answer = await request(route, input, {})
  const address = URL.createObjectURL(await answer.blob())
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  URL.revokeObjectURL(address)
}

interface More {
  readonly signal?: AbortSignal
  /** Whether the caller handles a 401 itself; the listeners of `onSignedOut` are then not called. */
  readonly quiet?: boolean
  /**
   * The version that was read, sent as If-Match; the server refuses the edit with 412 if the record has changed since.
   */
  readonly version?: number
}

async function request(route: string, input: object, more: More): Promise<Response> {
  const parts = input as { path?: Record<string, string>; query?: object; body?: unknown }
  const [method = 'GET', pattern = ''] = route.split(' ')
  const path = pattern.replaceAll(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent(parts.path?.[name] ?? ''),
  )
  const headers: Record<string, string> = { accept: 'application/json' }
  const head: RequestInit = { method, headers }
  if (parts.body !== undefined) {
    headers['content-type'] = 'application/json'
    head.body = JSON.stringify(parts.body)
  }
  if (more.version !== undefined) headers['if-match'] = `"${more.version}"`
  if (more.signal !== undefined) head.signal = more.signal
  const answer = await send(`/api/v1${path}${queryText(parts.query)}`, head)
  if (answer.ok) return answer
  const refusal = refusalOf(answer, await answer.text())
  if (refusal.status === 401 && more.quiet !== true) {
    for (const listener of signedOutListeners) listener()
  }
  throw refusal
}

function nullIsAbsent(_name: string, value: unknown): unknown {
  return value === null ? undefined : value
}

declare global {
  interface Window {
    /** Requests that start.js sent before this code loaded, by URL. */
    asked?: Record<string, Promise<Response> | undefined>
  }
}

async function send(address: string, head: RequestInit): Promise<Response> {
  try {
    return await (takeAsked(address, head) ?? fetch(address, head))
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause
    throw new Refused(0, 'offline', { detail: 'Intercept does not answer.' })
  }
}

/**
 * Returns the response to a request that start.js already sent, or undefined. Forgets the response, because a body can
 * be read only once.
 */
function takeAsked(address: string, { method }: RequestInit): Promise<Response> | undefined {
  const early = method === 'GET' ? window.asked?.[address] : undefined
  if (early !== undefined) delete window.asked?.[address]
  return early
}

function queryText(query: object = {}): string {
  const text = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    // A list is sent by repeating its parameter.
    for (const item of Array.isArray(value) ? (value as readonly unknown[]) : [value]) {
      if (item !== undefined && item !== '') text.append(name, String(item))
    }
  }
  return text.size === 0 ? '' : `?${text.toString()}`
}

function refusalOf(answer: Response, text: string): Refused {
  const requestId = answer.headers.get('intercept-request-id') ?? undefined
  try {
    const body = JSON.parse(text) as {
      code?: string
      detail?: string
      title?: string
      request_id?: string
      errors?: FieldError[]
    }
    return new Refused(answer.status, body.code ?? 'internal_error', {
      detail: body.detail ?? body.title ?? '',
      requestId: body.request_id ?? requestId,
      fields: body.errors,
    })
  } catch {
    // Without a problem document, a 502 to 504 comes from a proxy in front of Intercept that could not reach it.
    const isProxy = answer.status >= 502 && answer.status <= 504
    const code = isProxy ? 'unanswered' : 'internal_error'
    return new Refused(answer.status, code, {
      detail: `The answer was ${answer.status}.`,
      requestId,
    })
  }
}
