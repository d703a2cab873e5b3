// What a caller, an upstream and the gateway see of the same bytes on one of the two lanes.
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

/** Everything that can be seen of one connection; what differs in every run is left out. */
export interface Sight {
  /** What the caller got while its side was open, and how its connection stood then. */
  readonly received: string
  readonly state: string
  /** The same after it closed its side. */
  readonly receivedAfterEnd: string
  readonly stateAfterEnd: string
  /** Requests that the gateway took, with what became of them; sorted, for those of one connection may overlap. */
  readonly executed: readonly string[]
  /** What reached the upstream, sorted as well. */
  readonly upstream: readonly string[]
}

/** A front with one lane, before a gateway that answers by the first part of the path. */
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

  /** Sends the pieces one after the other, each when nothing moves any more; then the caller closes its side. */
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

  /** Waits until nothing has been written or taken for some turns of the loop. */
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

  /** Answers with the request as an upstream would get it, body included. */
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
        timeouts: { connectMs: 1000, firstByteMs: 1000, idleMs: 1000 },
        bodyBytes: 1000,
        answers: { allowed: new Set(), forPages: false },
        injectedName: undefined,
        answerHeaders: ['Intercept-Request-Id', exchange.requestId],
      },
      owner: {
        ended: ({ status, broken, gone }) => {
          const { bytesIn, bytesOut } = exchange
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
    connectionNames: head.connectionNames,
    own: '',
  })
}

function stateOf(socket: FakeSocket): string {
  return socket.destroyed || socket.writableEnded ? 'ended' : 'open'
}

/**
 * Without what is new in every run: ids and dates. Whether a head that is too long is called 414 or 431 depends on the
 * standard lane on the cut: of a line that came in pieces node:http shows the last one.
 */
function plain(text: string): string {
  return text
    .replaceAll(/req_[0-9a-z]{26}/g, 'req_')
    .replaceAll(/\r\nDate: [^\r]*GMT/g, '\r\nDate: now')
    .replaceAll(/HTTP\/1\.1 4(?:14|31) [^{]*\{[^}]*"code":"(?:uri|head)_too_l[^}]*\}/g, 'too long')
}
