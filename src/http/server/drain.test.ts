// Tests what becomes of connections and their requests when a listener closes.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { describe, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { addOutcomes, startClosingCallers } from '../../../test/harness/closing-callers.ts'
import { exchangeRaw } from '../../../test/harness/raw.ts'
import { systemClock } from '../../clock.ts'
import { Problem } from '../../errors.ts'
import type { Exchange } from './exchange.ts'
import { createFront } from './front.ts'

const guarded = '/api/v1/intercept'
const slowPost = 'POST /slow HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nabc'
const refusedPost = `POST ${guarded}/x HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nabc`

describe('a listener that closes', () => {
  for (const [what, text] of [
    ['sent nothing', ''],
    ['sent half a head', 'GET / HTTP/1.1\r\nHos'],
    ['sent half a head behind an answered request', 'GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /'],
    ['owes the body of an answered request', slowPost],
    ['owes the short body of a refused call', refusedPost],
    [
      'sends a body that stands still',
      'POST /reads HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx',
    ],
    ['reads nothing of a response', 'GET /large HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['reads nothing of the response to a call', `GET ${guarded}/large HTTP/1.1\r\nHost: a\r\n\r\n`],
  ] as const) {
    test(`a connection that ${what} does not hold up closing`, async () => {
      const minutes = 10 * 60_000
      const front = createFront({
        baseUrl: 'http://localhost:1',
        gatewayPrefix: guarded,
        clock: systemClock,
        limits: { headMs: minutes, bodyWindowMs: minutes, leaveMs: 50, stallMs: 100 },
        log: { error: () => {} },
        handleApp: (request, response) => {
          request.on('error', () => {})
          if (request.url === '/reads') request.resume().on('end', () => response.end('read'))
          else response.end(request.url === '/large' ? Buffer.alloc(64 * 1024 * 1024) : 'ok')
        },
        handleGateway: (exchange) => {
          if (exchange.url.endsWith('/large')) answerLarge(exchange)
          else exchange.refuse(new Problem('rule_denied'))
        },
      })
      const { port } = await front.listen({ host: '127.0.0.1', port: 0 })
      const socket = connect(port, '127.0.0.1')
      await once(socket, 'connect')
      socket.on('error', () => {})
      if (text !== '') socket.write(text)
      if (/answered|refused|large/.test(`${what} ${text}`)) await once(socket, 'readable')
      // If the connection stayed open, drain() would wait until the test's own time limit.
      await front.drain(minutes)
      socket.destroy()
    })
  }

  test('a request that is under way ends in its own time, however long after the others', async () => {
    const asked = Promise.withResolvers<ServerResponse>()
    const front = createFront({
      baseUrl: 'http://localhost:1',
      gatewayPrefix: guarded,
      clock: systemClock,
      limits: { leaveMs: 10, stallMs: 20 },
      log: { error: () => {} },
      handleApp: (_request, response) => asked.resolve(response),
      handleGateway: () => {},
    })
    const { port } = await front.listen({ host: '127.0.0.1', port: 0 })
    const said = exchangeRaw(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n', { quietMs: 20_000 })
    const response = await asked.promise
    const silent = connect(port, '127.0.0.1')
    await once(silent, 'connect')
    const drained = front.drain(20_000)
    await once(silent.resume(), 'close')
    response.end('late')
    assert.match(await said, /\r\n\r\nlate$/)
    await drained
  })

  for (const lane of ['plain', 'standard'] as const) {
    test(`connections made at the moment of closing are answered or refused, not reset (${lane} lane)`, async () => {
      const counts = { answered: 0, refused: 0, reset: 0 }
      for (let turn = 0; turn < 8; turn++) {
        const front = createFront({
          baseUrl: 'http://localhost:1',
          gatewayPrefix: guarded,
          lane,
          clock: systemClock,
          // If drain() did not recognize the first of the two connections that it makes itself, it would wait until the
          // test's time limit.
          limits: { acceptMs: 10 * 60_000, leaveMs: 10_000 },
          log: { error: () => {} },
          handleApp: (_request, response) => response.end('ok'),
          handleGateway: () => {},
        })
        const { port } = await front.listen({ host: '127.0.0.1', port: 0 })
        await using callers = await startClosingCallers(port)
        const [counted] = await Promise.all([callers.counted, front.drain(10_000)])
        addOutcomes(counts, counted)
      }
      assert.ok(counts.answered > 0 && counts.refused > 0, JSON.stringify(counts))
      // Only connections whose handshake was half done may be reset. If the listener simply closed, about one
      // connection in twelve would be reset.
      assert.ok(counts.reset <= counts.answered / 40, JSON.stringify(counts))
    })
  }

  for (const [lane, path] of [
    ['plain', `${guarded}/x`],
    ['standard', `${guarded}/x`],
    ['standard', '/x'],
  ] as const) {
    test(`a caller that reads one large response slowly, but steadily, gets all of it (${path}, ${lane} lane)`, async () => {
      const front = createFront({
        baseUrl: 'http://localhost:1',
        gatewayPrefix: guarded,
        lane,
        clock: systemClock,
        limits: { leaveMs: 50, stallMs: 500 },
        log: { error: () => {} },
        handleApp: (_request, response) => response.end(Buffer.alloc(large)),
        handleGateway: answerLarge,
      })
      const { port } = await front.listen({ host: '127.0.0.1', port: 0 })
      const socket = connect(port, '127.0.0.1')
      socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)
      await once(socket, 'readable')
      const drained = front.drain(20_000)
      let read = 0
      // The pause after each part makes reading take longer than `stallMs`, and longer than a connection lingers.
      for await (const part of socket) {
        read += (part as Buffer).length
        await setTimeout(5)
      }
      assert.ok(read > large, `${read} bytes`)
      await drained
    })
  }
})

const large = 24 * 1024 * 1024

function answerLarge(exchange: Exchange): void {
  exchange.answer(200, ['Content-Length', String(large)], 'x'.repeat(large))
}
