// Responses are collected and written at the end of a turn. These tests show that nothing which happens in the same turn
// overtakes them or loses them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeSocket } from '../../../../test/harness/lanes/fake-socket.ts'
import { systemClock } from '../../../clock.ts'
import { nextTurn } from '../../../timers.ts'
import type { Exchange } from '../exchange.ts'
import { createFront } from '../front.ts'

const guarded = '/api/v1/intercept'
const large = 'l'.repeat(20 * 1024)
const [before, after] = ['a small part before; ', 'a small part after']

for (const framing of ['chunked', 'Content-Length'] as const) {
  test(`a large chunk does not overtake a small one before it (${framing})`, async () => {
    const said = await conversation(1, (exchange) => {
      const length = String(before.length + large.length + after.length)
      exchange.start(200, 'OK', framing === 'chunked' ? [] : ['Content-Length', length])
      for (const part of [before, large, after]) exchange.write(Buffer.from(part))
      exchange.end()
    })
    const bodyAt = said.indexOf('\r\n\r\n') + 4
    const plain = before + large + after
    const chunks = [before, large, after].map(
      (part) => `${part.length.toString(16)}\r\n${part}\r\n`,
    )
    const expected = framing === 'chunked' ? `${chunks.join('')}0\r\n\r\n` : plain
    assert.equal(said.slice(bodyAt), expected)
  })
}

test('a streamed response does not overtake the response to the request before it', async () => {
  const said = await conversation(2, (exchange, at) => {
    if (at === 0) exchange.answer(200, ['Content-Length', '5'], 'first')
    else {
      exchange.start(200, 'OK', ['Content-Length', String(large.length)])
      exchange.write(Buffer.from(large))
      exchange.end()
    }
  })
  assert.match(said, /^HTTP\/1.1 200 [^]*first(HTTP\/1.1 200 )[^]*l$/)
})

test('early hints do not overtake the response to the request before them', async () => {
  const said = await conversation(2, (exchange, at) => {
    if (at === 1) exchange.sendEarlyHints(['</a.css>'])
    exchange.answer(200, ['Content-Length', '5'], at === 0 ? 'first' : 'other')
  })
  assert.match(said, /^HTTP\/1.1 200 [^]*firstHTTP\/1.1 103 [^]*HTTP\/1.1 200 [^]*other$/)
})

test('a caller that half-closes in the same turn gets its response', async () => {
  const said = await conversation(1, (exchange, _at, socket) => {
    exchange.answer(200, ['Content-Length', '5'], 'first')
    socket.endInput()
  })
  assert.match(said, /first$/)
})

test('a response that breaks off in the same turn arrives as far as it came, after the one before it', async () => {
  const said = await conversation(2, (exchange, at) => {
    if (at === 0) exchange.answer(200, ['Content-Length', '5'], 'first')
    else {
      exchange.start(200, 'OK', ['Content-Length', '100'])
      exchange.write(Buffer.from(before))
      exchange.cut()
    }
  })
  assert.match(said, /first[^]*a small part before; $/)
})

/** Sends pipelined requests in one piece, and returns everything that the caller got. */
async function conversation(
  requests: number,
  handle: (exchange: Exchange, at: number, socket: FakeSocket) => void,
): Promise<string> {
  let taken = 0
  const socket = new FakeSocket()
  const front = createFront({
    baseUrl: 'http://localhost:1',
    gatewayPrefix: guarded,
    lane: 'plain',
    clock: systemClock,
    log: { error: () => {} },
    handleApp: () => {},
    handleGateway: (exchange) => handle(exchange, taken++, socket),
  })
  front.accept(socket.asSocket)
  socket.feed(Buffer.from(`GET ${guarded}/x HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(requests)))
  for (let turn = 0; turn < 5; turn++) await nextTurn()
  assert.equal(taken, requests)
  socket.destroy()
  return socket.written
}
