import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as NetServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Clock } from '../../clock.ts'
import { Problem } from '../../errors.ts'
import { createId } from '../../ids.ts'
import { ClientConnection, connectionOf } from './client-connection.ts'
import { ParserFailure, parserProblem, rawRefusal, urlAtHand } from './client-error.ts'
import type { ParserError } from './client-error.ts'
import { Exchange } from './exchange.ts'
import type { UpgradedStream } from './exchange.ts'
import { DirectRequest } from './direct-request.ts'
import { checkFraming, originForm } from './framing.ts'
import { readRequestHead } from '../message/head.ts'
import { nodeHttp } from './node-http.ts'
import { ownRefusalsOf, renderOwn, type OwnRefusals } from './problem.ts'
import type { FrontConnection } from './lane/front-connection.ts'
import { createPlainLane } from './plain-lane/index.ts'
import { acceptUnread } from './plain-lane/shared-reads.ts'
import { StandardCarrier } from './standard-carrier.ts'

/** What one listener allows; sizes in bytes, times in milliseconds. */
export interface FrontLimits {
  readonly headBytes: number
  readonly urlBytes: number
  readonly headMs: number
  readonly keepAliveMs: number
  readonly bodyWindowMs: number
  readonly bodyWindowBytes: number
  /** While draining: how long a connection without a request under way is kept. */
  readonly leaveMs: number
  /** While draining: how long a body, or a caller's reading, may stand still. */
  readonly stallMs: number
}

/** The bounds on a request head and URL (L1). */
export const frontLimits: FrontLimits = {
  headBytes: 16 * 1024,
  urlBytes: 8 * 1024,
  headMs: 15_000,
  keepAliveMs: 75_000,
  bodyWindowMs: 20_000,
  bodyWindowBytes: 20 * 1024,
  leaveMs: 1000,
  stallMs: 5000,
}

/** The plain lane reads ordinary requests from the socket's bytes; the standard lane reads any request with node:http. */
export type Lane = 'plain' | 'standard'

export interface FrontDeps {
  /** Takes everything at and below the guarded prefix, upgrades included. */
  readonly handleGateway: (exchange: Exchange) => void
  /** Takes everything else. */
  readonly handleApp: (request: IncomingMessage, response: ServerResponse) => void
  readonly gatewayPrefix: string
  readonly baseUrl: string
  readonly limits?: Partial<FrontLimits>
  /** Which lane takes ordinary requests of the guarded area; all others are the standard lane's in any case. */
  readonly lane?: Lane
  /** Servers that don't speak of problems; the others' refusals are RFC 9457. */
  readonly ownRefusals?: readonly OwnRefusals[]
  readonly clock: Clock
  readonly log: { error(fields: object, text: string): void }
}

/** The one listener of the product. */
export interface Front {
  listen(where: { host: string; port: number }): Promise<AddressInfo>
  /** Takes a connection that somebody else has accepted. */
  accept(socket: Socket): void
  /** Connections open now. */
  connectionCount(): number
  /** Takes no new connections and lets open requests finish, for up to `graceMs`; then breaks what is left. */
  drain(graceMs: number): Promise<void>
}

const lingerMs = 1000
const checkEveryMs = 2000
const requestIds = new WeakMap<IncomingMessage, string>()

/** The id that the front gave a request; every answer carries it as Intercept-Request-Id. */
export function requestIdOf(request: IncomingMessage): string {
  return requestIds.get(request) ?? createId('req')
}

/** Builds the listener: node:http with its gaps closed (F6–F8, F11–F13), then one of two handlers. */
export function createFront(deps: FrontDeps): Front {
  const limits = { ...frontLimits, ...deps.limits }
  const connections = new Set<FrontConnection>()
  const authorities = [new URL(deps.baseUrl).host]
  const server = nodeHttp.createServer<typeof DirectRequest>({
    IncomingMessage: DirectRequest,
    requireHostHeader: false,
    maxHeaderSize: limits.headBytes,
    headersTimeout: limits.headMs,
    requestTimeout: 0,
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: checkEveryMs,
    optimizeEmptyRequests: true,
    noDelay: true,
    shouldUpgradeCallback: isWebSocket,
  })
  const connectionLimits = { ...limits, pipelined: 32, queued: 100, lingerMs }
  const plain = createPlainLane({
    ...{ clock: deps.clock, limits: connectionLimits, prefix: deps.gatewayPrefix },
    accept(request) {
      const head = readRequestHead(request.rawHeaders)
      const line = { method: request.method, url: request.url, httpVersion: '1.1' }
      return checkFraming(line, head, limits) === undefined ? head : undefined
    },
    take({ method, url, rawHeaders }, head, carrier) {
      // Every member by itself: this is made for each call, and copying objects into one another shows.
      const exchange = new Exchange({
        method,
        url,
        httpVersion: '1.1',
        rawHeaders,
        head,
        requestId: createId('req', deps.clock.now()),
        baseUrl: deps.baseUrl,
        carrier,
        upgrade: undefined,
        expectsContinue: false,
      })
      deps.handleGateway(exchange)
    },
    handOver(connection, bytes) {
      connections.delete(connection)
      // Put back while nobody listens, so that node:http reads it first.
      const socket = connection.detach().pause()
      socket.unshift(bytes)
      takeOnStandardLane(socket)
      socket.resume()
    },
    fail: (connection, code) => fail(connection.socket, connection, new ParserFailure(code)),
    closed: (connection) => connections.delete(connection),
  })
  const sweep = setInterval(
    () => {
      cutSlowBodies()
      plain.endLate()
    },
    Math.min(limits.bodyWindowMs / 8, checkEveryMs),
  )
  sweep.unref()

  // Node's own listener reads a connection with node:http; it is called where that is wanted.
  const [readWithNode] = server.listeners('connection')
  server.removeAllListeners('connection')
  server.on('connection', accept)
  if (deps.lane === 'plain') acceptUnread(server)

  function accept(socket: Socket): void {
    if (deps.lane === 'plain') connections.add(plain.open(socket))
    else takeOnStandardLane(socket)
  }

  function takeOnStandardLane(socket: Socket): void {
    readWithNode?.call(server, socket)
    const connection = new ClientConnection(socket, connectionLimits)
    connections.add(connection)
    socket.on('close', () => connections.delete(connection))
  }

  server.on('request', (request, response) => take(request, response, undefined, false))
  server.on('checkContinue', (request, response) => take(request, response, undefined, true))
  // Node would answer 417 by itself and go on to execute what follows.
  server.on('checkExpectation', (request, response) => take(request, response, undefined, false))
  server.on('upgrade', (request, duplex, head) => {
    const socket = duplex as Socket
    const response = new nodeHttp.ServerResponse(request)
    response.shouldKeepAlive = false
    response.assignSocket(socket)
    response.on('finish', () => socket.destroySoon())
    // Node takes its own listeners away; without one an error would end the process.
    socket.on('error', () => socket.destroy())
    take(request, response, { socket, head }, false)
  })
  server.on('connect', (_request, socket) => {
    const connection = connectionOf(socket)
    if (connection?.mayAnswerRaw !== true) {
      // Responses before this one are still awaited.
      socket.destroy()
      return
    }
    connection.refuseFurther()
    refuseRaw(
      socket,
      new Problem('method_not_allowed', 'CONNECT is not answered here.', {
        headers: { Allow: 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS' },
      }),
    )
  })
  server.on('clientError', (error: ParserError, socket) => {
    fail(socket, connectionOf(socket), error)
  })

  function fail(socket: Duplex, connection: FrontConnection | undefined, error: ParserError): void {
    const problem = parserProblem(error, limits.urlBytes)
    if (problem === undefined || connection?.mayAnswerRaw !== true) {
      if (connection?.isAnswered === true) connection.endInOrder()
      else socket.destroy()
      return
    }
    connection.soleExchange?.leave()
    connection.refuseFurther()
    refuseRaw(socket, problem, urlAtHand(error.rawPacket))
  }

  function take(
    request: DirectRequest,
    response: ServerResponse,
    upgrade: UpgradedStream | undefined,
    expectsContinue: boolean,
  ): void {
    const connection = connectionOf(request.socket)
    if (connection === undefined || connection.refused || !connection.queue(response)) return
    const head = readRequestHead(request.rawHeaders)
    const line = {
      method: request.method ?? '',
      url: request.url ?? '',
      httpVersion: request.httpVersion,
    }
    const requestId = createId('req', deps.clock.now())
    const parts = {
      ...line,
      rawHeaders: request.rawHeaders,
      head,
      requestId,
      baseUrl: deps.baseUrl,
      carrier: new StandardCarrier(request, response, connection),
      upgrade,
      expectsContinue,
    }
    const problem = checkFraming(line, head, limits)
    const url = problem ?? originForm(line, head, authorities)
    if (typeof url !== 'string') {
      connection.refuseFurther()
      response.shouldKeepAlive = false
      const exchange = new Exchange(parts)
      const own = ownRefusalsOf(deps.ownRefusals, line.url)
      if (own === undefined) exchange.refuse(url)
      else {
        const { status, headers, body } = renderOwn(own, url, requestId)
        exchange.answer(status, headers, body)
      }
      return
    }
    if (isBelow(url, deps.gatewayPrefix)) {
      deps.handleGateway(new Exchange({ ...parts, url }))
      return
    }
    const hasBody = head.contentLength !== undefined || head.transferEncoding !== undefined
    handOver(request, response, { url, requestId, expectsContinue, hasBody })
  }

  function handOver(
    request: IncomingMessage,
    response: ServerResponse,
    given: { url: string; requestId: string; expectsContinue: boolean; hasBody: boolean },
  ): void {
    request.url = given.url
    // No body has no type: whoever went by it would wait for a body's end, which then never comes.
    if (!given.hasBody) delete request.headers['content-type']
    requestIds.set(request, given.requestId)
    response.setHeader('Intercept-Request-Id', given.requestId)
    connectionOf(request.socket)?.hold(response)
    if (given.expectsContinue) response.writeContinue()
    deps.handleApp(request, response)
  }

  function refuseRaw(socket: Duplex, problem: Problem, url = ''): void {
    if (!socket.writable) {
      socket.destroy()
      return
    }
    const nowMs = deps.clock.now()
    const own = ownRefusalsOf(deps.ownRefusals, url)
    const context = { requestId: createId('req', nowMs), baseUrl: deps.baseUrl, nowMs, own }
    socket.end(rawRefusal(problem, context), 'latin1')
    // What still arrives is thrown away for a moment, so that the refusal is not reset away.
    socket.resume()
    const linger = setTimeout(() => socket.destroy(), lingerMs)
    socket.once('close', () => clearTimeout(linger))
    socket.on('error', () => socket.destroy())
  }

  function cutSlowBodies(): void {
    const nowMs = deps.clock.monotonic()
    for (const connection of connections) {
      if (!connection.isBodyTooSlow(nowMs)) continue
      const problem = new Problem('request_timeout', 'The body arrived too slowly.')
      const exchange = connection.soleExchange
      if (exchange !== undefined && !exchange.started) {
        exchange.watcher?.callerLeft()
        exchange.refuse(problem)
      } else if (exchange === undefined && connection.mayAnswerRaw) {
        connection.refuseFurther()
        refuseRaw(connection.socket, problem)
      } else if (connection.isAnswered) {
        connection.endInOrder()
      } else {
        connection.destroy()
      }
    }
  }

  async function drain(graceMs: number): Promise<void> {
    // Not http's own close: it cuts idle connections at once, with the next request perhaps on its way (F11).
    const closed = new Promise<void>((resolve) => {
      NetServer.prototype.close.call(server, () => resolve())
    })
    for (const connection of connections) connection.drain()
    const cut = setTimeout(() => {
      for (const connection of connections) connection.destroy()
    }, graceMs)
    // A busy caller's next request is answered with `Connection: close`; who stays silent is let go. Node counts a
    // connection that never sent a whole head as busy, and one whose body stands still owes nobody patience now.
    const leaveAt = deps.clock.monotonic() + limits.leaveMs
    const idle = setInterval(
      () => {
        server.closeIdleConnections()
        plain.endIdle()
        const nowMs = deps.clock.monotonic()
        for (const connection of connections) {
          if (nowMs >= leaveAt && connection.owesNothing) connection.endInOrder()
          else if (connection.isStalled(nowMs, limits.stallMs)) connection.destroy()
        }
      },
      Math.min(300, limits.leaveMs),
    )
    await closed
    clearTimeout(cut)
    clearInterval(idle)
    clearInterval(sweep)
  }

  return {
    listen: async (where) => {
      const address = await listen(server, where)
      authorities.push(`${addressText(address)}:${address.port}`, `localhost:${address.port}`)
      return address
    },
    accept,
    connectionCount: () => connections.size,
    drain,
  }
}

async function listen(server: Server, where: { host: string; port: number }): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ ...where, backlog: 4096 }, () => {
      server.off('error', reject)
      resolve(server.address() as AddressInfo)
    })
  })
}

function addressText(address: AddressInfo): string {
  return address.family === 'IPv6' ? `[${address.address}]` : address.address
}

/** Whether a URL's path is the prefix or below it, compared as the bytes arrived. */
function isBelow(url: string, prefix: string): boolean {
  if (!url.startsWith(prefix)) return false
  const next = url.charAt(prefix.length)
  return next === '' || next === '/' || next === '?'
}

// Only a WebSocket leaves HTTP here; h2c and everything else stays an ordinary request (P16).
function isWebSocket(request: IncomingMessage): boolean {
  const { headers } = request
  return (
    request.method === 'GET' &&
    headers.upgrade?.toLowerCase() === 'websocket' &&
    headers['transfer-encoding'] === undefined &&
    (headers['content-length'] ?? '0') === '0'
  )
}
