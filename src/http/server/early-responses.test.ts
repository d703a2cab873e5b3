// Responses that begin before the body of their request has arrived, as an upstream may send them.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, test } from 'node:test'
import { systemClock } from '../../clock.ts'
import type { Exchange } from './exchange.ts'
import { createFront } from './front.ts'
import type { Lane } from './front-deps.ts'

const guarded = '/api/v1/intercept'

for (const lane of ['plain', 'standard'] as const) {
  describe(`a response that begins before the body has arrived, ${lane} lane`, () => {
    for (const [framing, parts] of [
      ['Content-Length: 8', ['one ', 'two ']],
      ['Transfer-Encoding: chunked', ['4\r\none \r\n', '4\r\ntwo \r\n0\r\n\r\n']],
    ] as const) {
      test(`does not keep the rest of the body from the upstream (${framing})`, async () => {
        await using front = await frontForTests(lane, echo)
        const socket = connect(front.port, '127.0.0.1')
        socket.write(`POST ${guarded}/x HTTP/1.1\r\nHost: a\r\n${framing}\r\n\r\n${parts[0]}`)
        let said = await saidUntil(socket, /one /)
        socket.write(`${parts[1]}GET ${guarded}/smuggled HTTP/1.1\r\nHost: a\r\n\r\n`)
        said += await saidUntil(socket, /\r\n0\r\n\r\n$/)
        assert.match(said, /two [^]*\r\n0\r\n\r\n$/)
        assert.deepEqual(front.urls, [`${guarded}/x`])
      })
    }

    test('ends with a caller that leaves, although the caller may still owe some of the body', async () => {
      const left = Promise.withResolvers<void>()
      await using front = await frontForTests(lane, (exchange) => {
        exchange.watcher = { callerLeft: () => left.resolve() }
        echo(exchange)
      })
      const socket = connect(front.port, '127.0.0.1')
      socket.write(`POST ${guarded}/x HTTP/1.1\r\nHost: a\r\nContent-Length: 8\r\n\r\none `)
      await saidUntil(socket, /one /)
      socket.end()
      await left.promise
    })

    test('reaches a caller that reads only after it has sent a body that nobody takes', async () => {
      await using front = await frontForTests(lane, (exchange) => {
        const refuse = (): void => exchange.answer(413, ['Content-Length', '3'], 'big')
        exchange.readBody({
          data: () => {
            setTimeout(refuse, 20)
            return false
          },
          end: () => {},
        })
      })
      const socket = connect(front.port, '127.0.0.1').pause()
      const body = Buffer.alloc(32 * 1024 * 1024)
      socket.write(
        `POST ${guarded}/x HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n`,
      )
      await new Promise<void>((resolve, reject) => {
        socket.write(body, (error) => (error ? reject(error) : resolve()))
      })
      assert.match(await saidUntil(socket, /big$/), /^HTTP\/1\.1 413 /)
    })
  })
}

/** Answers with the body as it arrives. */
function echo(exchange: Exchange): void {
  exchange.readBody({
    data: (chunk) => {
      if (!exchange.started) exchange.start(200, 'OK', [])
      return exchange.write(chunk)
    },
    end: () => exchange.end(),
  })
}

async function frontForTests(
  lane: Lane,
  handleGateway: (exchange: Exchange) => void,
): Promise<AsyncDisposable & { readonly port: number; readonly urls: readonly string[] }> {
  const urls: string[] = []
  const front = createFront({
    baseUrl: 'http://localhost:1',
    gatewayPrefix: guarded,
    lane,
    clock: systemClock,
    log: { error: () => {} },
    handleApp: () => {},
    handleGateway: (exchange) => {
      urls.push(exchange.url)
      handleGateway(exchange)
    },
  })
  const { port } = await front.listen({ host: '127.0.0.1', port: 0 })
  return { port, urls, [Symbol.asyncDispose]: async () => await front.drain(100) }
}

/** Reads from a socket until the text received matches, and returns that text; fails if the connection ends first. */
async function saidUntil(socket: Socket, wanted: RegExp): Promise<string> {
  let said = ''
  socket.resume()
  while (!wanted.test(said)) {
    const [chunk] = (await Promise.race([once(socket, 'data'), once(socket, 'close')])) as [unknown]
    assert.ok(chunk instanceof Buffer, `ended after ${JSON.stringify(said)}`)
    said += chunk.toString('latin1')
  }
  return said
}
