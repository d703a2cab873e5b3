// Callers that read nothing of their responses must not be able to keep their connections open for ever.
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { describe, test } from 'node:test'
import { until } from '../../../test/harness/gateway.ts'
import { systemClock } from '../../clock.ts'
import { minuteMs } from '../../units.ts'
import type { Exchange } from './exchange.ts'
import { createFront, type Front } from './front.ts'
import type { Lane } from './front-deps.ts'

const guarded = '/api/v1/intercept'

for (const lane of ['plain', 'standard'] as const) {
  describe(`callers that read nothing, ${lane} lane`, () => {
    for (const [what, path, more] of [
      ['a call', `${guarded}/x`, ''],
      ['a call that ends its connection', `${guarded}/x`, 'Connection: close\r\n'],
      ['an upgrade', `${guarded}/x`, 'Connection: Upgrade\r\nUpgrade: websocket\r\n'],
      ['another request', '/x', ''],
      ['another request that ends its connection', '/x', 'Connection: close\r\n'],
    ] as const) {
      test(`who reads nothing of the response to ${what} is disconnected`, async () => {
        const large = 32 * 1024 * 1024
        await using front = await frontForTests(lane, {
          app: (_request, response) => response.end(Buffer.alloc(large)),
          gateway: (exchange) => {
            const client = exchange.takeOver()
            const head = ['Content-Length', String(large)]
            if (client === undefined) exchange.answer(200, head, 'x'.repeat(large))
            client?.socket.write(Buffer.alloc(large))
            client?.socket.destroySoon()
            exchange.release()
          },
        })
        const socket = connect(front.port, '127.0.0.1')
        socket.on('error', () => {})
        socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`)
        await once(socket, 'readable')
        await until(() => front.connectionCount() === 0)
        socket.destroy()
      })
    }

    test('a taken-over stream that is severed ends at once, although its caller reads nothing', async () => {
      const taken = Promise.withResolvers<Exchange>()
      await using front = await frontForTests(
        lane,
        {
          gateway: (exchange) => {
            const client = exchange.takeOver()
            client?.socket.write(Buffer.alloc(32 * 1024 * 1024))
            // Destroys the socket as a tunnel does: the upstream's last bytes must still reach a caller that reads.
            exchange.watcher = { callerLeft: () => client?.socket.destroySoon() }
            taken.resolve(exchange)
          },
        },
        minuteMs,
      )
      const socket = connect(front.port, '127.0.0.1')
      socket.on('error', () => {})
      socket.write(
        `GET ${guarded}/x HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
      )
      const exchange = await taken.promise
      exchange.sever()
      await until(() => front.connectionCount() === 0, 2000)
      socket.destroy()
    })
  })
}

async function frontForTests(
  lane: Lane,
  handle: {
    readonly app?: (request: IncomingMessage, response: ServerResponse) => unknown
    readonly gateway: (exchange: Exchange) => void
  },
  unreadMs = 100,
): Promise<AsyncDisposable & Pick<Front, 'connectionCount'> & { readonly port: number }> {
  const front = createFront({
    baseUrl: 'http://localhost:1',
    gatewayPrefix: guarded,
    lane,
    clock: systemClock,
    limits: { bodyWindowMs: 80, unreadMs },
    log: { error: () => {} },
    handleApp: handle.app ?? (() => {}),
    handleGateway: handle.gateway,
  })
  const { port } = await front.listen({ host: '127.0.0.1', port: 0 })
  return {
    port,
    connectionCount: () => front.connectionCount(),
    [Symbol.asyncDispose]: async () => await front.drain(100),
  }
}
