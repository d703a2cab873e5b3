import { createConnector, systemConnect, type ConnectTo } from './connector.ts'
import { Connections } from './connections.ts'
import { createAddressGuard, type AddressGuard, type GuardOptions } from './guard.ts'
import { OutboundError } from './outbound-error.ts'
import { exchange, type OutboundAnswer, type OutboundRequest } from './exchange.ts'
import { createResolver, systemResolve, type Resolve } from './resolver.ts'
import { checkUrl, type OutboundUrl } from './url-rules.ts'

const connectTimeoutMs = 5000
const defaultConnections = 16
const fetchDeadlineMs = 10_000
const fetchBytes = 1024 * 1024
const urlsInMemory = 2000

/** The guard's exceptions and the client's limits. */
export interface OutboundOptions extends GuardOptions {
  /**
   * Resolves names (see `createResolver`); by default, the client has a resolver of its own that uses the system's
   * look-up.
   */
  readonly resolve?: Resolve | undefined
  readonly connect?: ConnectTo | undefined
  /** Limits look-up, TCP and TLS together; defaults to 5 s. */
  readonly connectTimeoutMs?: number | undefined
  /** Maximum open connections per origin for requests without a partition; defaults to 16. */
  readonly connectionsPerOrigin?: number | undefined
}

/**
 * The client for requests to configured URLs, such as those of receivers and identity providers. Calls are not
 * forwarded with it.
 */
export interface Outbound extends AsyncDisposable {
  readonly guard: AddressGuard
  /** Parses a URL to be saved or called; throws Problem `outbound_blocked` with a public reason. */
  checkUrl(text: string): OutboundUrl
  /**
   * Sends one request and reads its response, up to `maxResponseBytes` of the body; throws OutboundError. Redirects are
   * returned, and bodies stay compressed.
   */
  request(request: OutboundRequest): Promise<OutboundAnswer>
  /** A `fetch` for libraries that accept one: at most 10 s and 1 MiB, and redirects are never followed. */
  fetch(url: string | URL, init?: FetchInit): Promise<Response>
}

/** The supported options of fetch; others are ignored. */
export interface FetchInit {
  readonly method?: string | undefined
  readonly headers?: RequestInit['headers'] | undefined
  readonly body?: RequestInit['body'] | undefined
  readonly signal?: AbortSignal | null | undefined
}

/**
 * Creates the outbound client. HTTP_PROXY and similar variables are never read, because we could not check the
 * addresses to which a proxy connects.
 */
export function createOutbound(options: OutboundOptions = {}): Outbound {
  const guard = createAddressGuard(options)
  const connect = createConnector({
    guard,
    resolve: options.resolve ?? createResolver(systemResolve, () => performance.now()),
    connect: options.connect ?? systemConnect,
    timeoutMs: options.connectTimeoutMs ?? connectTimeoutMs,
  })
  const connections = new Connections(connect, options.connectionsPerOrigin ?? defaultConnections)
  // The same URLs are called repeatedly, and the result of their check depends only on the text.
  const checked = new Map<string, OutboundUrl>()

  function checkedUrl(text: string): OutboundUrl {
    const known = checked.get(text)
    if (known) return known
    const url = checkUrl(text, guard)
    if (checked.size >= urlsInMemory) checked.clear()
    checked.set(text, url)
    return url
  }

  async function request(wanted: OutboundRequest): Promise<OutboundAnswer> {
    const to = checkedForCall(wanted.url, checkedUrl)
    using lent = await connections.lend(wanted.partition)
    return await exchange(lent.agent, to, wanted)
  }

  return {
    guard,
    checkUrl: (text) => checkUrl(text, guard),
    request,
    async fetch(url, init = {}) {
      // A Request converts any kind of body to bytes; it sends nothing.
      const call = new Request('http://localhost/', {
        method: init.method ?? 'GET',
        headers: init.headers ?? {},
        ...(init.body === undefined || init.body === null ? {} : { body: init.body }),
      })
      const body = call.body === null ? undefined : new Uint8Array(await call.arrayBuffer())
      const answer = await request({
        url: String(url),
        method: call.method,
        headers: Object.fromEntries(call.headers),
        body,
        deadlineMs: fetchDeadlineMs,
        maxResponseBytes: fetchBytes,
        ...(init.signal ? { signal: init.signal } : {}),
      })
      return toResponse(answer)
    },
    async [Symbol.asyncDispose]() {
      await connections.close()
    },
  }
}

function checkedForCall(text: string, check: (text: string) => OutboundUrl): OutboundUrl {
  try {
    return check(text)
  } catch (error) {
    throw new OutboundError('blocked', error instanceof Error ? error.message : 'blocked', error)
  }
}

function toResponse(answer: OutboundAnswer): Response {
  if (answer.truncated) {
    throw new OutboundError('invalid', `the answer is longer than ${fetchBytes} bytes`)
  }
  // For a status above 599, the constructor of Response throws a RangeError (Fetch standard, section 5.5), which would
  // look like a defect of ours.
  if (answer.status > 599) throw new OutboundError('invalid', 'the answer has no status of HTTP')
  const headers = new Headers()
  for (const [name, value] of Object.entries(answer.headers)) {
    for (const one of [value].flat()) if (one !== undefined) headers.append(name, one)
  }
  // Responses with these statuses must not have a body (Fetch standard, "null body status").
  const bodyless = [204, 205, 304].includes(answer.status)
  return new Response(bodyless ? null : answer.body, { status: answer.status, headers })
}
