// Sends bytes to a server with one of the two lanes, and records what the caller, the gateway and the upstream observe.
import { systemClock } from '../../../src/clock.ts'
import { Problem } from '../../../src/errors.ts'
import { createFront, type Front } from '../../../src/http/server/front.ts'
import type { Lane } from '../../../src/http/server/front-deps.ts'
import type { Exchange } from '../../../src/http/server/exchange.ts'
import {
  createAddressGuard,
  createUpstreams,
  forward,
  renderRequestHead,
  type UpstreamOrigin,
} from '../../../src/http/index.ts'
import { FakeSocket } from './fake-socket.ts'
import { FakeUpstream } from './fake-upstream.ts'

export const guarded = '/api/v1/intercept'

/** Everything observable about one connection, except what may differ from run to run. */
export interface Sight {
  /** What the caller received while its side was open, and the connection's state then. */
  readonly received: string
  readonly state: string
  /** What the caller received after it had closed its side, and the connection's state then. */
  readonly receivedAfterEnd: string
  readonly stateAfterEnd: string
  /**
   * The requests that reached the app or the gateway and, as separate entries, the results that the gateway noted. The
   * list is sorted, because the requests of a connection may overlap.
   */
  readonly executed: readonly string[]
  /** What reached the upstream, also sorted. */
  readonly upstream: readonly string[]
}

/** A server with one lane, in front of a gateway that selects its response by the path after the gateway prefix. */
export class LaneObserver implements AsyncDisposable {
  readonly #front: Front
  readonly #upstream = new FakeUpstream()
  readonly #upstreams = createUpstreams({
    clock: systemClock,
    guard: createAddressGuard({ allowLoopback: true }),
    resolve: async () => ['127.0.0.1'],
    connect: () => this.#upstream.connect().asSocket,
  })
  readonly #origin: UpstreamOrigin
  #executed: string[] = []
  #turns = 0

  constructor(lane: Lane) {
    const where = { secure: false, host: '127.0.0.1', port: 1 }
    this.#origin = this.#upstreams.open(where, 1000)
    this.#front = createFront({
      baseUrl: 'http://localhost:1',
      gatewayPrefix: guarded,
      clock: systemClock,
      lane,
      log: { error: () => undefined },
      handleApp: (request, response) => {
        request.on('error', () => undefined)
        this.#note(`app ${request.method} ${request.url}`)
        request.resume().on('end', () => response.end('app'))
      },
      handleGateway: (exchange) => this.#take(exchange),
    })
  }

  /** Sends the pieces one by one, waiting after each until nothing more happens; then closes the caller's side. */
  async observe(pieces: readonly Buffer[]): Promise<Sight> {
    this.#executed = []
    this.#upstream.seen.length = 0
    const socket = new FakeSocket(() => (this.#turns = 0))
    this.#front.accept(socket.asSocket)
    for (const piece of pieces) {
      socket.feed(piece)
      await this.#settle()
    }
    const received = plain(socket.written)
    const state = stateOf(socket)
    socket.endInput()
    await this.#settle()
    const sight = {
      received,
      state,
      receivedAfterEnd: plain(socket.written).slice(received.length),
      stateAfterEnd: stateOf(socket),
      executed: this.#executed.toSorted(),
      upstream: this.#upstream.seen.map(plain).toSorted(),
    }
    socket.destroy()
    return sight
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#upstreams[Symbol.asyncDispose]()
    await this.#front.drain(0)
  }

  /** Waits until nothing has been written or noted for `quietTurns` turns of the event loop. */
  async #settle(): Promise<void> {
    for (this.#turns = 0; this.#turns < quietTurns; this.#turns++) {
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  #note(what: string): void {
    this.#turns = 0
    this.#executed.push(what)
  }

  #take(exchange: Exchange): void {
    const path = exchange.url.slice(guarded.length)
    this.#note(`${exchange.method} ${exchange.url}`)
    if (path.startsWith('/refused')) exchange.refuse(new Problem('rule_denied'))
    else if (path.startsWith('/later')) setImmediate(() => this.#echo(exchange))
    else if (path.startsWith('/up/')) this.#forward(exchange, path.slice(3))
    else this.#echo(exchange)
  }

  /** Responds with the request as an upstream would receive it, including its body. */
  #echo(exchange: Exchange): void {
    const chunks: Buffer[] = []
    const answer = (): void => {
      const body = headFor(exchange, exchange.url) + Buffer.concat(chunks).toString('latin1')
      exchange.answer(200, ['Content-Length', String(body.length)], body)
      this.#note(`answered, ${exchange.bytesIn} in, ${exchange.bytesOut} out`)
    }
    if (!exchange.hasBody) answer()
    else exchange.readBody({ data: (chunk) => chunks.push(chunk) > 0, end: answer })
  }

  #forward(exchange: Exchange, path: string): void {
    forward({
      exchange,
      origin: this.#origin,
      plan: {
        head: headFor(exchange, path),
        // A machine that stalls must not look like a difference between the lanes.
        timeouts: { connectMs: 60_000, firstByteMs: 60_000, idleMs: 60_000 },
        bodyBytes: 1000,
        answers: { allowed: new Set(), forPages: false },
        injectedName: undefined,
        answerHeaders: ['Intercept-Request-Id', exchange.requestId],
      },
      owner: {
        answered: () => {},
        ended: ({ status, broken }) => {
          const { bytesIn, bytesOut, gone } = exchange
          this.#note(`${status} ${broken} ${gone ? 'gone' : ''} ${bytesIn} in, ${bytesOut} out`)
        },
        failed: (problem) => {
          exchange.refuse(problem)
          this.#note(`refused: ${problem.code}`)
        },
      },
    })
  }
}

const quietTurns = 12

function headFor(exchange: Exchange, path: string): string {
  const { method, rawHeaders, head } = exchange
  return renderRequestHead({
    ...{ method, path, rawHeaders, host: 'upstream', trusted: false, injectedName: undefined },
    head,
    own: '',
  })
}

function stateOf(socket: FakeSocket): string {
  return socket.destroyed || socket.writableEnded ? 'ended' : 'open'
}

/**
 * Removes what may differ from run to run: ids, dates, and whether an overlong head is refused with 414 or 431. On the
 * standard lane, this status depends on how the bytes were split: node:http reports only the last piece of a line.
 */
function plain(text: string): string {
  return (
    text
      .replaceAll(/req_[0-9a-z]{26}/g, 'req_')
      .replaceAll(/\r\nDate: [^\r]*GMT/g, '\r\nDate: now')
      // On the standard lane, a response that waits behind another one comes without early hints. Those before the first
      // response, and any that no final response follows, are compared.
      .replaceAll(/(?<=[^])HTTP\/1\.1 103 Early Hints\r\n(?:[^\r]+\r\n)*\r\n(?=HTTP\/1\.1 )/g, '')
      .replaceAll(
        /HTTP\/1\.1 4(?:14|31) [^{]*\{[^}]*"code":"(?:uri|head)_too_l[^}]*\}/g,
        'too long',
      )
  )
}
