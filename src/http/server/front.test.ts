import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { after, before, beforeEach, describe, test } from 'node:test'
import { refused } from '../../../test/harness/lanes/corpus.ts'
import { exchangeRaw, statusesOf } from '../../../test/harness/raw.ts'
import { systemClock } from '../../clock.ts'
import { Problem } from '../../errors.ts'
import { createFront } from './front.ts'
import type { Exchange } from './exchange.ts'
import type { Front } from './front.ts'
import type { Lane } from './front-deps.ts'

const guarded = '/api/v1/intercept'
const smuggled = `GET ${guarded}/smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n`

for (const lane of ['plain', 'standard'] as const) testFront(lane)

function testFront(lane: Lane): void {
  describe(`the front, ${lane} lane`, () => {
    const processed: string[] = []
    let front: Front
    let port = 0

    before(async () => {
      front = createFront({
        baseUrl: 'http://localhost:1',
        gatewayPrefix: guarded,
        lane,
        clock: systemClock,
        log: { error: () => {} },
        handleApp: (request, response) => {
          processed.push(request.url ?? '')
          request.on('error', () => {})
          if (request.headers['transfer-encoding'] === undefined) response.end('app')
          else request.resume().on('end', () => response.end('app'))
        },
        handleGateway: (exchange) => {
          processed.push(exchange.url)
          const answer = (): void => exchange.answer(200, ['Content-Length', '2'], 'ok')
          if (exchange.url.endsWith('/refused')) exchange.refuse(new Problem('rule_denied'))
          else if (exchange.url.endsWith('/later')) setTimeout(answer, 20)
          // Behaves like a read from SQLite, whose promise resolves without yielding to the event loop.
          else if (exchange.url.endsWith('/promised')) void Promise.resolve().then(answer)
          else if (!exchange.hasBody) answer()
          else exchange.readBody({ data: () => true, end: answer })
        },
      })
      port = (await front.listen({ host: '127.0.0.1', port: 0 })).port
    })
    after(async () => front.drain(500))
    beforeEach(() => processed.splice(0))

    for (const [name, status, message] of refused) {
      for (const place of ['app', 'guarded']) {
        test(`${name} is refused with ${status} and nothing after it is processed (${place})`, async () => {
          const text =
            place === 'app' ? message : message.replace(/^([A-Z]+) \/(?=[ a])/, `$1 ${guarded}/`)
          const transcript = await exchangeRaw(port, text + smuggled)
          assert.deepEqual(statusesOf(transcript), [status])
          assert.match(transcript, /\r\nIntercept-Refused: [a-z_]+\r\n/)
          assert.match(transcript, /\r\nIntercept-Request-Id: req_[0-9a-z]{26}\r\n/)
          assert.match(transcript, /\r\nConnection: close\r\n/)
          assert.match(transcript, /"type":"http:\/\/localhost:1\/problems\/[a-z_]+"/)
          const reached = processed.filter((url) => url.includes('smuggled'))
          assert.deepEqual(reached, [])
        })
      }
    }

    for (const path of ['/app', guarded, `${guarded}/later`]) {
      for (const place of ['/app', guarded]) {
        test(`an upgrade of ${place} behind a request of ${path} that is not answered yet ends the connection, not the process`, async () => {
          const errors: Error[] = []
          const note = (error: Error): void => void errors.push(error)
          process.on('uncaughtExceptionMonitor', note)
          const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
          const transcript = await exchangeRaw(
            port,
            `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\nGET ${place} HTTP/1.1\r\nHost: a\r\n${upgrade}${smuggled}`,
          )
          assert.ok(statusesOf(transcript).length <= 2, transcript)
          assert.ok(!processed.some((url) => url.includes('smuggled')))
          process.off('uncaughtExceptionMonitor', note)
          assert.deepEqual(errors, [])
          const next = await exchangeRaw(port, `GET ${guarded} HTTP/1.1\r\nHost: a\r\n\r\n`)
          assert.deepEqual(statusesOf(next), [200])
        })
      }
    }

    for (const path of [guarded, `${guarded}/promised`]) {
      test(`requests of ${path} that arrive in one read are processed some at a time, so that others get their turn`, async () => {
        const many = 1000
        let [most, before, isOver] = [0, 0, false]
        const tick = (): void => {
          most = Math.max(most, processed.length - before)
          before = processed.length
          if (!isOver) setImmediate(tick)
        }
        setImmediate(tick)
        const request = `GET ${path} HTTP/1.1\r\nHost:a\r\n\r\n`
        const last = `GET ${path} HTTP/1.1\r\nHost:a\r\nConnection: close\r\n\r\n`
        const transcript = await exchangeRaw(port, request.repeat(many - 1) + last)
        isOver = true
        // The standard lane disconnects a caller that has more than a hundred responses queued.
        assert.ok(most <= (lane === 'plain' ? 64 : 101), `${most} in one turn`)
        if (lane === 'plain') assert.equal(statusesOf(transcript).length, many)
      })
    }

    test('the unread body of a refused request is never parsed as a request', async () => {
      const transcript = await exchangeRaw(
        port,
        `POST ${guarded}/refused HTTP/1.1\r\nHost: a\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`,
      )
      assert.deepEqual(statusesOf(transcript), [403])
      assert.deepEqual(processed, [`${guarded}/refused`])
    })

    test('after a refusal with a long unread body the connection ends and nothing more is processed', async () => {
      const body = 'x'.repeat(100_000)
      const transcript = await exchangeRaw(
        port,
        `POST ${guarded}/refused HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}${smuggled}`,
      )
      assert.deepEqual(statusesOf(transcript), [403])
      assert.match(transcript, /\r\nConnection: close\r\n/)
      assert.deepEqual(processed, [`${guarded}/refused`])
    })

    for (const path of ['/app', `${guarded}/refused`]) {
      const message = `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`

      if (lane === 'standard' || path === '/app') {
        test(`who pipelines without end on ${path} is cut off before it costs memory`, async () => {
          const socket = connect(port, '127.0.0.1', () => socket.write(message.repeat(1000)))
          await once(socket.resume(), 'close')
          assert.ok(processed.length <= 101, `${processed.length} were processed`)
        })
      } else {
        test('who pipelines without end is answered one after the other', async () => {
          const answers = statusesOf(await exchangeRaw(port, message.repeat(1000)))
          assert.equal(answers.length, 1000)
        })

        test('who pipelines without reading is not processed ahead of what it reads', async () => {
          const socket = connect(port, '127.0.0.1', () => socket.write(message.repeat(100_000)))
          socket.pause()
          let before = -1
          while (before !== processed.length) {
            before = processed.length
            await new Promise((resolve) => setTimeout(resolve, 100))
          }
          socket.destroy()
          assert.ok(processed.length < 50_000, `${processed.length} were processed`)
        })
      }

      test(`a hundred requests in one piece on ${path} are all answered`, async () => {
        const answers = statusesOf(await exchangeRaw(port, message.repeat(100)))
        assert.equal(answers.length, 100)
      })
    }

    for (const [name, last] of [
      ['CONNECT', 'CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n'],
      ['a malformed request', 'GET / HTTP/1.1\r\nHost: a\r\nX\r\n\r\n'],
    ] as const) {
      for (const how of ['now', 'later']) {
        test(`the refusal of ${name} never takes the place of a response before it (${how})`, async () => {
          const message = `GET ${guarded}/${how} HTTP/1.1\r\nHost: a\r\n\r\n`
          const answers = statusesOf(await exchangeRaw(port, message.repeat(2) + last))
          const whole = [200, 200, name === 'CONNECT' ? 405 : 400]
          assert.deepEqual(answers, whole.slice(0, answers.length))
        })
      }
    }

    test('a refusal without a body keeps the connection for the next request', async () => {
      const transcript = await exchangeRaw(
        port,
        `GET ${guarded}/refused HTTP/1.1\r\nHost: a\r\n\r\nGET ${guarded}/next HTTP/1.1\r\nHost: a\r\n\r\n`,
      )
      assert.deepEqual(statusesOf(transcript), [403, 200])
    })

    test('a refused HEAD is answered with the head alone', async () => {
      const transcript = await exchangeRaw(
        port,
        `HEAD ${guarded}/refused HTTP/1.1\r\nHost: a\r\n\r\n`,
      )
      assert.match(transcript, /^HTTP\/1\.1 403 /)
      assert.ok(transcript.endsWith('\r\n\r\n'))
    })

    test('absolute-form for our own authority works', async () => {
      const own = `127.0.0.1:${port}`
      await exchangeRaw(port, `GET http://${own}/a?b HTTP/1.1\r\nHost: ${own}\r\n\r\n`)
      assert.deepEqual(processed, ['/a?b'])
    })

    test('HTTP/1.0 without Host is answered', async () => {
      assert.deepEqual(statusesOf(await exchangeRaw(port, 'GET /old HTTP/1.0\r\n\r\n')), [200])
      assert.deepEqual(processed, ['/old'])
    })

    test('an upgrade to h2c stays an ordinary request', async () => {
      const transcript = await exchangeRaw(
        port,
        `GET ${guarded}/plain HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n`,
      )
      assert.deepEqual(statusesOf(transcript), [200])
    })
  })
}

const slowPost = 'POST /slow HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nabc'

async function slowAppForTests(
  lane: Lane,
  handleApp: (request: IncomingMessage, response: ServerResponse) => unknown,
  handleGateway: (exchange: Exchange) => void = () => {},
): Promise<AsyncDisposable & { readonly port: number }> {
  const front = createFront({
    baseUrl: 'http://localhost:1',
    gatewayPrefix: guarded,
    lane,
    clock: systemClock,
    limits: { bodyWindowMs: 80, bodyWindowBytes: 1000 },
    log: { error: () => {} },
    handleApp,
    handleGateway,
  })
  const { port } = await front.listen({ host: '127.0.0.1', port: 0 })
  return { port, [Symbol.asyncDispose]: async () => await front.drain(100) }
}

for (const lane of ['plain', 'standard'] as const) {
  describe(`the front under slow callers, ${lane} lane`, () => {
    test('a body below the pace is cut with 408', async () => {
      const front = createFront({
        baseUrl: 'http://localhost:1',
        gatewayPrefix: guarded,
        lane,
        clock: systemClock,
        limits: { bodyWindowMs: 80, bodyWindowBytes: 1000 },
        log: { error: () => {} },
        handleApp: () => {},
        handleGateway: (exchange) => exchange.readBody({ data: () => true, end: () => {} }),
      })
      const { port } = await front.listen({ host: '127.0.0.1', port: 0 })
      const transcript = await exchangeRaw(
        port,
        `POST ${guarded}/slow HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nabc`,
        { quietMs: 2000 },
      )
      assert.deepEqual(statusesOf(transcript), [408])
      await front.drain(100)
    })

    test('a body below the pace is cut outside the guarded area too', async () => {
      await using front = await slowAppForTests(lane, (request) => request.resume())
      const transcript = await exchangeRaw(front.port, slowPost, { quietMs: 5000 })
      assert.deepEqual(statusesOf(transcript), [408])
    })

    test('a connection whose answered request never sends the rest of its body is ended', async () => {
      await using front = await slowAppForTests(lane, (_request, response) =>
        response.end('enough'),
      )
      const socket = connect(front.port, '127.0.0.1', () => socket.write(slowPost))
      await once(socket.resume(), 'close')
    })

    for (const [what, rest] of [
      ['never comes', ''],
      ['is broken', 'zz\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n'],
      ['breaks off and turns into a request', '1\r\naGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n'],
    ] as const) {
      test(`P-once: a request that was answered before its body gets no second answer when the body ${what}`, async () => {
        const urls: string[] = []
        await using front = await slowAppForTests(lane, (request, response) => {
          urls.push(request.url ?? '')
          response.statusCode = 401
          response.end('no')
        })
        const said = await exchangeInParts(front.port, [
          'POST /api/v1/organizations HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n',
          rest,
        ])
        assert.deepEqual(statusesOf(said), [401])
        assert.deepEqual(urls, ['/api/v1/organizations'])
      })
    }

    for (const rest of ['', 'x']) {
      test(`P-once: a refused call whose short body ${rest === '' ? 'never comes' : 'comes too slowly'} is not told 408 besides`, async () => {
        await using front = await slowAppForTests(
          lane,
          () => {},
          (exchange) => exchange.refuse(new Problem('rule_denied')),
        )
        const said = await exchangeInParts(front.port, [
          `POST ${guarded}/x HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n`,
          rest,
        ])
        assert.deepEqual(statusesOf(said), [403])
      })
    }

    test('P-once: a CONNECT behind a request that is not answered yet does not get ahead of it', async () => {
      await using front = await slowAppForTests(lane, () => {})
      const said = await exchangeRaw(
        front.port,
        'GET /waits HTTP/1.1\r\nHost: a\r\n\r\nCONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n',
        { quietMs: 5000 },
      )
      assert.deepEqual(statusesOf(said), [])
    })

    test('a head that does not end is cut', async () => {
      const front = createFront({
        baseUrl: 'http://localhost:1',
        gatewayPrefix: guarded,
        lane,
        clock: systemClock,
        limits: { headMs: 100 },
        log: { error: () => {} },
        handleApp: () => {},
        handleGateway: () => {},
      })
      const { port } = await front.listen({ host: '127.0.0.1', port: 0 })
      const transcript = await exchangeRaw(port, 'GET / HTTP/1.1\r\nHos', { quietMs: 5000 })
      assert.deepEqual(statusesOf(transcript), [408])
      await front.drain(100)
    })
  })
}

/**
 * Sends the first part at once and each further part when data arrives; returns everything received until the
 * connection closes.
 */
async function exchangeInParts(port: number, parts: readonly string[]): Promise<string> {
  const [first = '', ...rest] = parts
  const socket = connect(port, '127.0.0.1', () => socket.write(first))
  socket.on('error', () => {})
  let said = ''
  socket.on('data', (chunk: Buffer) => {
    said += chunk.toString('latin1')
    const part = rest.shift()
    if (part !== undefined && part !== '') socket.write(part)
  })
  await once(socket, 'close')
  return said
}
