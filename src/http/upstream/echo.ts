import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { nodeHttp } from '../message/node-http.ts'
import { createAddressGuard } from '../outbound/guard.ts'
import { createUpstreams, type UpstreamDeps, type Upstreams } from './pool.ts'

/**
 * The host name of the built-in echo. `.internal` is reserved for private use (ICANN, 2024-07-29), so no public host
 * can have this name.
 */
export const echoHost = 'echo.intercept.internal'

/** A built-in upstream that returns each request as JSON, for people who have no upstream yet. */
export interface Echo extends AsyncDisposable {
  /** Sends the echo a request; returns the response's status. */
  ask(): Promise<number>
  /** Wraps `others` so that the echo's host leads to the echo, although the address guard may forbid loopback. */
  among(others: Upstreams, deps: Pick<UpstreamDeps, 'clock' | 'resolve'>): Upstreams
}

const maxBody = 16 * 1024
// The only headers that are echoed: a target's own credential and the signed assertion about the caller must not reach
// the caller.
const echoedHeaders = [
  'accept',
  'content-length',
  'content-type',
  'intercept-key-id',
  'intercept-organization',
  'intercept-request-id',
  'traceparent',
  'user-agent',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
]

/** Opens the echo on a free port of this machine. */
export async function openEcho(): Promise<Echo> {
  const server = nodeHttp.createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  return {
    async ask() {
      const asked = nodeHttp.get({ host: '127.0.0.1', port, signal: AbortSignal.timeout(5000) })
      const [response] = (await once(asked, 'response')) as [IncomingMessage]
      response.resume()
      return response.statusCode ?? 0
    },
    among(others, deps) {
      const own = createUpstreams({ ...deps, guard: createAddressGuard({ allowLoopback: true }) })
      const here = { secure: false, host: '127.0.0.1', port }
      return {
        open: (where, connectMs) =>
          where.host === echoHost && !where.secure
            ? own.open(here, connectMs)
            : others.open(where, connectMs),
        connections: () => others.connections(),
        [Symbol.asyncDispose]: async () => {
          await own[Symbol.asyncDispose]()
          await others[Symbol.asyncDispose]()
        },
      }
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = ''
  for await (const piece of request.setEncoding('utf8')) {
    if (body.length < maxBody) body += String(piece)
  }
  const headers = echoedHeaders.flatMap((name) => {
    const value = request.headers[name]
    return value === undefined ? [] : [[name, value]]
  })
  const seen = {
    method: request.method,
    url: request.url,
    headers: Object.fromEntries(headers) as Record<string, unknown>,
    body: body.slice(0, maxBody),
  }
  response.writeHead(200, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' })
  response.end(`${JSON.stringify(seen, undefined, 2)}\n`)
}
