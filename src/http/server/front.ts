import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { Problem } from '../../errors.ts'
import { createId } from '../../ids.ts'
import { idleTurnMs, lazily } from '../../timers.ts'
import { ClientConnection, connectionOf, type ConnectionLimits } from './client-connection.ts'
import { ParserFailure, parserProblem, rawRefusal, urlAtHand } from './client-error.ts'
import type { ParserError } from './client-error.ts'
import { Exchange } from './exchange.ts'
import { frontLimits, type FrontDeps, type FrontLimits } from './front-deps.ts'
import type { UpgradedStream } from './exchange.ts'
import { DirectRequest } from './direct-request.ts'
import { writeContinue } from './interim-responses.ts'
import { checkFields, checkFraming, checkLine, originForm } from './framing.ts'
import { readRequestHead, type RequestHead } from '../message/head.ts'
import { nodeHttp } from '../message/node-http.ts'
import { ownRefusalsOf, renderOwn } from './problem.ts'
import { LateChecks } from './late-checks.ts'
import type { FrontConnection } from './lane/front-connection.ts'
import { addressText, createServer, listen, type FrontServer } from './listener.ts'
import { createPlainLane, type PlainLane } from './plain-lane/index.ts'
import { acceptUnread } from './plain-lane/shared-reads.ts'
import { StandardCarrier } from './standard-carrier.ts'
import { adopt } from './listening/acceptor.ts'
import { closeWhenUnused, stopAccepting } from './listening/stop-accepting.ts'

/** The listener that serves both the gateway and the app. */
export interface Front {
  listen(where: { host: string; port: number }): Promise<AddressInfo>
  /** Handles a connection that has been accepted. */
  accept(socket: Socket): void
  connectionCount(): number
  /** Accepts no new connections and lets open requests finish for up to `graceMs`; then breaks the rest. */
  drain(graceMs: number): Promise<void>
  /** Makes each response that begins from now on end its connection; new connections are still accepted. */
  leave(): void
}

const lingerMs = 1000
/**
 * Node's code for bytes after a request with `Connection: close`. They are never processed (RFC 9112, section 9.6), so
 * nothing follows the last response.
 */
const bytesAfterLast = 'HPE_CLOSED_CONNECTION'
const requestIds = new WeakMap<IncomingMessage, string>()

/** Returns the id that was given to a request; a new id if none was given. */
export function requestIdOf(request: IncomingMessage): string {
  return requestIds.get(request) ?? createId('req')
}

/**
 * Creates the listener. If the plain lane is on, that lane parses ordinary gateway requests itself; all other requests
 * are parsed by node:http, and their framing is then checked more strictly.
 */
export function createFront(deps: FrontDeps): Front {
  return new TwoLaneFront(deps)
}

class TwoLaneFront implements Front {
  readonly #deps: FrontDeps
  readonly #limits: FrontLimits
  readonly #connectionLimits: ConnectionLimits & FrontLimits
  readonly #connections = new Set<FrontConnection>()
  readonly #authorities: string[]
  readonly #server: FrontServer
  readonly #lateChecks: LateChecks
  readonly #plain: PlainLane
  readonly #stopSweep: () => void
  #isLeaving = false
  /** Node's own handler of new connections, which reads them with node:http. */
  readonly #readWithNode: ((socket: Socket) => void) | undefined

  constructor(deps: FrontDeps) {
    this.#deps = deps
    this.#limits = { ...frontLimits, ...deps.limits }
    this.#connectionLimits = { ...this.#limits, pipelined: 32, queued: 100, lingerMs }
    this.#authorities = [new URL(deps.baseUrl).host]
    this.#server = createServer(this.#limits)
    this.#lateChecks = new LateChecks(this.#server)
    this.#plain = this.#createPlainLane()
    this.#stopSweep = lazily.every(Math.min(this.#limits.bodyWindowMs / 8, idleTurnMs), () => {
      this.#cutSlowCallers()
      this.#plain.endLate()
      this.#lateChecks.rest()
    })
    const [readWithNode] = this.#server.listeners('connection')
    this.#readWithNode = readWithNode?.bind(this.#server)
    this.#server.removeAllListeners('connection')
    this.#server.on('connection', (socket) => this.accept(socket))
    if (deps.lane === 'plain') acceptUnread(this.#server)
    this.#listenToNode()
  }

  async listen(where: { host: string; port: number }): Promise<AddressInfo> {
    const address = await this.#startAccepting(where)
    const { port } = address
    this.#authorities.push(`${addressText(address)}:${port}`, `localhost:${port}`)
    return address
  }

  async #startAccepting(where: { host: string; port: number }): Promise<AddressInfo> {
    const { acceptor } = this.#deps
    if (acceptor === undefined) return await listen(this.#server, where)
    // node:http looks for late callers from this event on.
    this.#server.emit('listening')
    return await acceptor.listen(where, (socket) => adopt(this.#server, socket))
  }

  accept(socket: Socket): void {
    if (this.#deps.lane !== 'plain') return this.#takeOnStandardLane(socket)
    const connection = this.#plain.open(socket)
    this.#connections.add(connection)
    if (this.#isLeaving) connection.drain()
  }

  // Announces the end of each connection in advance: a request that a load balancer sends while we close the connection
  // could be lost.
  leave(): void {
    this.#isLeaving = true
    for (const connection of this.#connections) connection.drain()
  }

  connectionCount(): number {
    return this.#connections.size
  }

  async drain(graceMs: number): Promise<void> {
    const { promise: closed, resolve } = Promise.withResolvers<void>()
    await this.#stopAccepting(resolve)
    this.leave()
    const cut = setTimeout(() => {
      for (const connection of this.#connections) connection.destroy()
    }, graceMs)
    // Node's closeIdleConnections is not enough: it does not close a connection that never sent a complete head, or one
    // whose request body makes no progress.
    const { leaveMs, stallMs } = this.#limits
    const leaveAt = this.#deps.clock.monotonic() + leaveMs
    const idle = setInterval(
      () => {
        this.#plain.endIdle()
        const nowMs = this.#deps.clock.monotonic()
        let isRead = true
        for (const connection of this.#connections) {
          if (connection.socket.writableLength > 0) isRead = false
          const { pace, awaitsBody, owesNothing } = connection
          if (pace.isStalled(nowMs, stallMs, awaitsBody)) connection.destroy()
          else if (nowMs >= leaveAt && owesNothing) connection.endInOrder()
        }
        // Node counts a connection as idle although its caller has yet to read the response.
        if (isRead) this.#server.closeIdleConnections()
      },
      Math.min(300, leaveMs),
    )
    await closed
    clearTimeout(cut)
    clearInterval(idle)
    this.#stopSweep()
  }

  async #stopAccepting(closed: () => void): Promise<void> {
    const { acceptor, clock } = this.#deps
    if (acceptor === undefined) {
      const { acceptMs } = this.#limits
      await stopAccepting(this.#server, { acceptMs, monotonic: () => clock.monotonic(), closed })
    } else {
      await acceptor.stop()
      closeWhenUnused(this.#server, closed)
    }
  }

  #closed(connection: FrontConnection): void {
    this.#connections.delete(connection)
    this.#deps.acceptor?.closed()
  }

  #createPlainLane(): PlainLane {
    const { clock, gatewayPrefix: prefix, baseUrl, handleGateway } = this.#deps
    return createPlainLane({
      ...{ clock, limits: this.#connectionLimits, prefix },
      accept: ({ method, url, fields }) => {
        const line = { method, url, httpVersion: '1.1' }
        const head = fields.head ?? readRequestHead(fields.rawHeaders)
        if (checkLine(line, head, this.#limits) !== undefined) return undefined
        // Lines whose head is known come from an earlier request, and were checked then.
        if (fields.head === undefined && checkFields(line, head) !== undefined) return undefined
        fields.head = head
        return head
      },
      take: ({ method, url, fields }, head, carrier) => {
        // Every member is set individually: this runs for each call, and spreading objects is measurably slower.
        const exchange = new Exchange({
          method,
          url,
          httpVersion: '1.1',
          rawHeaders: fields.rawHeaders,
          head,
          requestId: createId('req', clock.now()),
          baseUrl,
          carrier,
          upgrade: undefined,
          expectsContinue: false,
        })
        handleGateway(exchange)
      },
      handOver: (connection, bytes) => {
        this.#connections.delete(connection)
        // The bytes are put back while there is no listener, so that node:http reads them first.
        const socket = connection.detach().pause()
        socket.unshift(bytes)
        this.#takeOnStandardLane(socket)
        socket.resume()
      },
      fail: (connection, code) => {
        this.#fail(connection.socket, connection, new ParserFailure(code))
      },
      closed: (connection) => this.#closed(connection),
    })
  }

  #takeOnStandardLane(socket: Socket): void {
    this.#lateChecks.opened()
    this.#readWithNode?.(socket)
    const connection = new ClientConnection(socket, this.#connectionLimits)
    this.#connections.add(connection)
    if (this.#isLeaving) connection.drain()
    socket.on('close', () => {
      this.#lateChecks.closed()
      this.#closed(connection)
    })
  }

  #listenToNode(): void {
    const server = this.#server
    const ordinary = { upgrade: undefined, expectsContinue: false }
    server.on('request', (request, response) => this.#take(request, response, ordinary))
    server.on('checkContinue', (request, response) => {
      this.#take(request, response, { upgrade: undefined, expectsContinue: true })
    })
    // Without this listener, Node would respond with 417 and go on to process the bytes that follow.
    server.on('checkExpectation', (request, response) => this.#take(request, response, ordinary))
    server.on('upgrade', (...given) => this.#takeUpgrade(...given))
    server.on('connect', (_request, socket) => this.#refuseConnect(socket))
    server.on('clientError', (error: ParserError, socket) => {
      this.#fail(socket, connectionOf(socket), error)
    })
  }

  #takeUpgrade(request: DirectRequest, duplex: Duplex, head: Buffer): void {
    const socket = duplex as Socket
    // Node has removed its own listeners, and an error event without a listener would end the process.
    socket.on('error', () => socket.destroy())
    if (connectionOf(socket)?.mayWriteNext !== true) {
      socket.destroy()
      return
    }
    const response = new nodeHttp.ServerResponse(request)
    response.shouldKeepAlive = false
    response.assignSocket(socket)
    response.on('finish', () => socket.destroySoon())
    this.#take(request, response, { upgrade: { socket, head }, expectsContinue: false })
  }

  #refuseConnect(socket: Duplex): void {
    socket.on('error', () => socket.destroy())
    const connection = connectionOf(socket)
    if (connection?.mayAnswerRaw !== true) {
      socket.destroy()
      return
    }
    connection.refuseFurther()
    const headers = { Allow: 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS' }
    const problem = new Problem('method_not_allowed', 'CONNECT is not answered here.', { headers })
    this.#refuseRaw(socket, problem)
  }

  #fail(socket: Duplex, connection: FrontConnection | undefined, error: ParserError): void {
    if (error.code === bytesAfterLast && connection?.owesNothing === true) {
      connection.endInOrder()
      return
    }
    const problem = parserProblem(error, this.#limits.urlBytes)
    if (problem === undefined || connection?.mayAnswerRaw !== true) {
      if (connection?.isAnswered === true) connection.endInOrder()
      else socket.destroy()
      return
    }
    connection.soleExchange?.leave()
    connection.refuseFurther()
    this.#refuseRaw(socket, problem, urlAtHand(error.rawPacket))
  }

  #take(
    request: DirectRequest,
    response: ServerResponse,
    { upgrade, expectsContinue }: { upgrade: UpgradedStream | undefined; expectsContinue: boolean },
  ): void {
    const { clock, baseUrl, gatewayPrefix, handleGateway } = this.#deps
    const connection = connectionOf(request.socket)
    if (connection === undefined || connection.refused || !connection.queue(response)) return
    const head = readRequestHead(request.rawHeaders)
    const line = {
      method: request.method ?? '',
      url: request.url ?? '',
      httpVersion: request.httpVersion,
    }
    const parts = {
      ...{ ...line, rawHeaders: request.rawHeaders, head, baseUrl, upgrade, expectsContinue },
      requestId: createId('req', clock.now()),
      carrier: new StandardCarrier(request, response, connection),
    }
    const url = checkFraming(line, head, this.#limits) ?? originForm(line, head, this.#authorities)
    if (typeof url !== 'string') {
      connection.refuseFurther()
      response.shouldKeepAlive = false
      this.#refuse(new Exchange(parts), url)
    } else if (isBelow(url, gatewayPrefix)) {
      handleGateway(new Exchange({ ...parts, url }))
    } else {
      this.#handOver(request, response, { ...parts, url })
    }
  }

  #refuse(exchange: Exchange, problem: Problem): void {
    const own = ownRefusalsOf(this.#deps.ownRefusals, exchange.url)
    if (own === undefined) {
      exchange.refuse(problem)
      return
    }
    const { status, headers, body } = renderOwn(own, problem, exchange.requestId)
    exchange.answer(status, headers, body)
  }

  #handOver(
    request: IncomingMessage,
    response: ServerResponse,
    given: { url: string; requestId: string; expectsContinue: boolean; head: RequestHead },
  ): void {
    const { contentLength, transferEncoding } = given.head
    request.url = given.url
    // A reader that relies on Content-Type would wait for a body that never comes.
    if (contentLength === undefined && transferEncoding === undefined) {
      delete request.headers['content-type']
    }
    requestIds.set(request, given.requestId)
    response.setHeader('Intercept-Request-Id', given.requestId)
    connectionOf(request.socket)?.hold(response)
    if (given.expectsContinue) writeContinue(response)
    this.#deps.handleApp(request, response)
  }

  #refuseRaw(socket: Duplex, problem: Problem, url = ''): void {
    if (!socket.writable) {
      socket.destroy()
      return
    }
    const { clock, ownRefusals, baseUrl } = this.#deps
    const nowMs = clock.now()
    const own = ownRefusalsOf(ownRefusals, url)
    const requestId = createId('req', nowMs)
    socket.end(rawRefusal(problem, { requestId, baseUrl, nowMs, own }), 'latin1')
    // Discards what still arrives: closing with unread bytes would send a reset, which can destroy the refusal.
    socket.resume()
    const linger = setTimeout(() => socket.destroy(), lingerMs)
    socket.once('close', () => clearTimeout(linger))
    socket.on('error', () => socket.destroy())
  }

  #cutSlowCallers(): void {
    const nowMs = this.#deps.clock.monotonic()
    for (const connection of this.#connections) {
      const { pace, busy, awaitsBody } = connection
      // Calls in progress are exempt: their targets have a limit of their own for this.
      if (pace.isUnread(nowMs, this.#limits.unreadMs) && !busy) connection.destroy()
      if (!pace.isTooSlow(nowMs, awaitsBody)) continue
      const problem = new Problem('request_timeout', 'The body arrived too slowly.')
      const exchange = connection.soleExchange
      if (exchange !== undefined && !exchange.started) {
        exchange.watcher?.callerLeft()
        exchange.refuse(problem)
      } else if (exchange === undefined && connection.mayAnswerRaw) {
        connection.refuseFurther()
        this.#refuseRaw(connection.socket, problem)
      } else if (connection.isAnswered) {
        connection.endInOrder()
      } else {
        connection.destroy()
      }
    }
  }
}

/** Whether a URL's path is the prefix or below it, compared byte by byte as received. */
function isBelow(url: string, prefix: string): boolean {
  if (!url.startsWith(prefix)) return false
  const next = url.charAt(prefix.length)
  return next === '' || next === '/' || next === '?'
}
