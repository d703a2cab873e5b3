// What a connection reads waits until the turn of the event loop ends. These tests show that the events of its socket,
// which come at once, do not overtake it.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import { systemClock } from '../../../clock.ts'
import { nextTurn } from '../../../timers.ts'
import type { Exchange } from '../exchange.ts'
import { createFront, type Front } from '../front.ts'

const guarded = '/api/v1/intercept'
let front: Front
let port = 0
let take: (exchange: Exchange) => void = () => undefined

before(async () => {
  front = createFront({
    baseUrl: 'http://localhost:1',
    gatewayPrefix: guarded,
    lane: 'plain',
    clock: systemClock,
    log: { error: () => {} },
    handleApp: (_request, response) => response.end('app'),
    handleGateway: (exchange) => take(exchange),
  })
  port = (await front.listen({ host: '127.0.0.1', port: 0 })).port
})
after(async () => front.drain(500))

for (const how of ['half-closes', 'resets'] as const) {
  test(`a caller that ${how} its connection right behind a request leaves only after the request came`, async () => {
    const heard: string[] = []
    take = (exchange) => {
      const note = (what: string): void => void heard.push(`${exchange.url.slice(-3)} ${what}`)
      note('came')
      exchange.readBody({ data: (chunk) => (note(String(chunk)), true), end: () => undefined })
      exchange.watcher = { callerLeft: () => note('left') }
    }
    const rounds = Array.from({ length: 50 }, (_, round) => String(100 + round))
    for (const round of rounds) {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined)
      await once(socket, 'connect')
      const head = `POST ${guarded}/${round} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\n`
      if (how === 'half-closes') socket.end(`${head}body`)
      else if (socket.write(`${head}body`)) socket.resetAndDestroy()
      socket.resume()
      await once(socket, 'close')
    }
    while (front.connectionCount() > 0) await nextTurn()
    for (const round of rounds) {
      const own = heard.filter((what) => what.startsWith(round)).map((what) => what.slice(4))
      // A reset may overtake the bytes in the kernel, and the request then never comes.
      if (how === 'half-closes' || own.length > 0) assert.deepEqual(own, ['came', 'body', 'left'])
    }
  })
}

test('bytes behind a request for the standard lane reach it in order', async () => {
  const taken: string[] = []
  take = (exchange) => {
    taken.push(exchange.url)
    const answer = (): void => exchange.answer(200, ['Content-Length', '2'], 'ok')
    if (exchange.hasBody) exchange.readBody({ data: () => true, end: answer })
    else answer()
  }
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  let said = ''
  socket.on('data', (chunk: Buffer) => (said += chunk.toString('latin1')))
  // A body in chunks belongs to the standard lane, and the connection stays there.
  socket.write(`GET ${guarded}/1 HTTP/1.1\r\nHost: a\r\n\r\n`)
  socket.write(
    `POST ${guarded}/2 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n`,
  )
  socket.write('0\r\n\r\n')
  socket.write(`GET ${guarded}/3 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
  await once(socket, 'close')
  assert.deepEqual(
    taken,
    [1, 2, 3].map((at) => `${guarded}/${at}`),
  )
  assert.equal(said.match(/HTTP\/1.1 200 OK/g)?.length, 3)
})
