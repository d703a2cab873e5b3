// Interim responses (RFC 9110, section 15.2) to a request whose response waits behind that to an earlier request.
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { systemClock } from '../../clock.ts'
import type { Exchange } from './exchange.ts'
import { createFront } from './front.ts'

const guarded = '/api/v1/intercept'
const body = 'b'.repeat(20_000)

test('early hints of a response that waits behind another one are left out, and its body stays whole', async () => {
  const said = await conversation(
    `GET ${guarded}/hints HTTP/1.1\r\nHost: a\r\n\r\n`,
    (exchange) => {
      exchange.sendEarlyHints(['</a.css>'])
      stream(exchange)
    },
  )
  assert.doesNotMatch(said, / 103 /)
  assert.match(said, /^HTTP\/1.1 200 [^]*firstHTTP\/1.1 200 OK\r\n(?:[^\r]+\r\n)*\r\nb{20000}$/)
})

test('100 Continue is sent when its response is next, and never in the middle of the body', async () => {
  const said = await conversation(
    `POST ${guarded}/up HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nok`,
    (exchange) => {
      exchange.sendContinue()
      setTimeout(() => stream(exchange), 100)
    },
  )
  const order =
    /^HTTP\/1.1 200 [^]*firstHTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 OK\r\n(?:[^\r]+\r\n)*\r\nb{20000}$/
  assert.match(said, order)
})

test('100 Continue is left out if the response began before it could be sent, and the connection ends then', async () => {
  const said = await conversation(
    `POST ${guarded}/up HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nok`,
    (exchange) => {
      exchange.sendContinue()
      stream(exchange)
    },
  )
  assert.match(said, /^HTTP\/1.1 200 [^]*firstHTTP\/1.1 200 OK\r\n(?:[^\r]+\r\n)*\r\nb{20000}$/)
  assert.match(said, /firstHTTP\/1.1 200 OK\r\n(?:[^\r]+\r\n)*Connection: close\r\n/)
})

test('the app gets a body that was announced with Expect, and its response is whole, behind another one too', async () => {
  const said = await conversation(
    'POST /app HTTP/1.1\r\nHost: localhost:1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nok',
    () => undefined,
  )
  assert.match(
    said,
    /^HTTP\/1.1 200 [^]*first(HTTP\/1.1 100 Continue\r\n\r\n)?HTTP\/1.1 200 OK\r\n(?:[^\r]+\r\n)*\r\nb{20000}$/,
  )
})

function stream(exchange: Exchange): void {
  exchange.start(200, 'OK', ['Content-Length', String(body.length)])
  exchange.write(Buffer.from(body))
  exchange.end()
}

/** Sends a request whose response is late, and another one behind it; returns everything that the caller got. */
async function conversation(behind: string, handle: (exchange: Exchange) => void): Promise<string> {
  const front = createFront({
    baseUrl: 'http://localhost:1',
    gatewayPrefix: guarded,
    lane: 'standard',
    clock: systemClock,
    log: { error: () => {} },
    handleApp: (_request, response) => {
      response.writeHead(200, { 'Content-Length': String(body.length) })
      response.end(Buffer.from(body))
    },
    handleGateway: (exchange) => {
      if (!exchange.url.endsWith('/late')) handle(exchange)
      else setTimeout(() => exchange.answer(200, ['Content-Length', '5'], 'first'), 50)
    },
  })
  const { port } = await front.listen({ host: '127.0.0.1', port: 0 })
  try {
    const socket = connect(port, '127.0.0.1')
    socket.write(`GET ${guarded}/late HTTP/1.1\r\nHost: a\r\n\r\n${behind}`)
    let said = ''
    socket.on('data', (bytes: Buffer) => (said += bytes.toString('latin1')))
    await new Promise<void>((resolve) => {
      const timer = setInterval(() => {
        if (!said.includes('bbbb') || !/b{100}$|HTTP\/1.1 1\d\d [^]*$/.test(said)) return
        clearInterval(timer)
        setTimeout(resolve, 50)
      }, 20)
    })
    socket.destroy()
    return said
  } finally {
    await front.drain(100)
  }
}
