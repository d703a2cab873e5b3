import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect, createServer, type Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { WebSocket, WebSocketServer } from 'ws'
import { gatewayForTests, prefix, until } from '../harness/gateway.ts'
import type { IssuedKey, TestGateway } from '../harness/gateway.ts'

const megabyte = 1024 * 1024

describe('streams through the gateway', () => {
  let gateway: TestGateway
  let sockets: WebSocketServer
  let events = 0
  let closedStreams = 0
  let produced = 0
  before(async () => {
    gateway = await gatewayForTests({
      target: ['--body', '2000MiB'],
      answer: (request, response) => {
        if (request.url === '/events') {
          response.writeHead(200, { 'Content-Type': 'text/event-stream' })
          response.write('data: first\n\n')
          events++
          response.on('close', () => closedStreams++)
        } else if (request.url?.startsWith('/download') === true) {
          const chunk = Buffer.alloc(64 * 1024, 'd')
          const total = Number(request.url.split('/')[2]) * megabyte
          produced = 0
          const more = () => {
            while (produced < total) {
              produced += chunk.length
              if (!response.write(chunk)) return
            }
            response.end()
          }
          response.on('drain', more)
          more()
        } else {
          response.end('ok')
        }
      },
    })
    sockets = new WebSocketServer({ port: 0, host: '127.0.0.1' })
    await once(sockets, 'listening')
    sockets.on('connection', (socket, request) => {
      socket.send(`hello ${String(request.headers['intercept-key-id'])}`)
      socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }))
    })
    const { port } = sockets.address() as { port: number }
    await gateway.run('target', 'set', 'acme', 'ws', '--upstream', `http://127.0.0.1:${port}`)
  })
  after(async () => {
    for (const client of sockets.clients) client.terminate()
    sockets.close()
    await gateway[Symbol.asyncDispose]()
  })

  function openSocket(key: IssuedKey, path = '/ws/chat'): WebSocket {
    const url = `ws://127.0.0.1:${gateway.product.port}${prefix}${path}`
    return new WebSocket(url, { headers: { 'X-API-Key': key.secret } })
  }

  test('server-sent events arrive one by one, unbuffered', async () => {
    const response = await gateway.call('/echo/events', gateway.xApiKey)
    assert.equal(response.headers.get('content-type'), 'text/event-stream')
    const reader = response.body?.getReader()
    const { value } = (await reader?.read()) ?? {}
    assert.equal(Buffer.from(value ?? []).toString(), 'data: first\n\n')
    await reader?.cancel()
  })

  test('a reader that cancels closes the upstream', async () => {
    const before = closedStreams
    const response = await gateway.call('/echo/events', gateway.xApiKey)
    await response.body?.cancel()
    await until(() => closedStreams > before)
  })

  test('a revocation by the command line ends an open event stream', async (t) => {
    const key = await gateway.issue()
    const before = events
    const response = await gateway.call('/echo/events', key)
    await until(() => events > before)
    const closed = closedStreams
    // The stream must be aborted rather than ended, because a truncated stream must not look complete.
    const cut = assert.rejects(response.text())
    await gateway.run('key', 'revoke', key.id)
    const revokedAt = performance.now()
    await cut
    t.diagnostic(`cut ${Math.round(performance.now() - revokedAt)} ms after the command's answer`)
    await until(() => closedStreams > closed)
    assert.equal((await gateway.call('/echo/x', key)).status, 401)
  })

  test('a WebSocket passes the same checks, carries messages both ways, and is cut by a revocation', async () => {
    const key = await gateway.issue()
    const socket = openSocket(key)
    const [greeting] = (await once(socket, 'message')) as [Buffer]
    assert.equal(greeting.toString(), `hello ${key.id}`)
    socket.send('over and back')
    const [echo] = (await once(socket, 'message')) as [Buffer]
    assert.equal(echo.toString(), 'over and back')
    const big = Buffer.alloc(3 * megabyte, 7)
    socket.send(big)
    const [back] = (await once(socket, 'message')) as [Buffer]
    assert.ok(big.equals(back))
    const closed = once(socket, 'close')
    await gateway.run('key', 'revoke', key.id)
    await closed
    await until(() => sockets.clients.size === 0)
  })

  test('a WebSocket of a secret that was rotated out ends with the overlap', async () => {
    const key = await gateway.issue()
    const socket = openSocket(key)
    await once(socket, 'message')
    const closed = once(socket, 'close')
    await gateway.run('key', 'rotate', key.id, '--overlap', '1s')
    await closed
    await until(() => sockets.clients.size === 0)
  })

  test('a WebSocket ends when its target is disabled or closed by a rule, or when its key loses the grant or the address', async () => {
    const port = (sockets.address() as { port: number }).port
    const upstream = `http://127.0.0.1:${port}`
    for (const [what, ...words] of [
      ['target', 'set', 'acme', 'ends', '--disabled'],
      ['target', 'set', 'acme', 'ends', '--rule', 'deny * /chat'],
      ['target', 'remove', 'acme', 'ends'],
      ['key', 'edit', 'KEY', '--grant', 'echo'],
      ['key', 'edit', 'KEY', '--cidr', '203.0.113.0/24'],
    ] as const) {
      await gateway.run('target', 'set', 'acme', 'ends', '--upstream', upstream, '--enabled')
      await gateway.run('target', 'set', 'acme', 'ends', '--no-rules')
      const key = await gateway.issue()
      const stays = openSocket(key)
      const ends = openSocket(key, '/ends/chat')
      await Promise.all([once(stays, 'message'), once(ends, 'message')])
      const closed = once(ends, 'close')
      const isOfKey = what === 'key'
      const closedToo = isOfKey ? once(stays, 'close') : undefined
      await gateway.run(what, ...words.map((word) => (word === 'KEY' ? key.id : word)))
      await closed
      if (closedToo !== undefined) await closedToo
      else assert.equal(stays.readyState, WebSocket.OPEN)
      stays.terminate()
      await until(() => sockets.clients.size === 0)
    }
  })

  test('an upgrade without a key, or to a target without a grant, is refused before anything is opened', async () => {
    const before = sockets.clients.size
    for (const [key, path, status] of [
      [{ id: '', secret: 'nonsense' }, '/ws/chat', 401],
      [await gateway.issue('--grant', 'echo'), '/ws/chat', 404],
      [gateway.xApiKey, '/ws/../x', 400],
    ] as const) {
      const socket = openSocket(key, path)
      const [, response] = (await once(socket, 'unexpected-response')) as [
        unknown,
        { statusCode: number },
      ]
      // The client's own URL parser removes the dot segment: `/ws/../x` arrives as `/x`, which names an unknown target.
      assert.ok([status, 404].includes(response.statusCode))
      socket.on('error', () => {})
      socket.terminate()
    }
    assert.equal(sockets.clients.size, before)
  })

  test('an upgrade that the upstream refuses gets the refusal', async () => {
    const socket = openSocket(gateway.xApiKey, '/echo/no')
    const [, response] = (await once(socket, 'unexpected-response')) as [
      unknown,
      { statusCode: number },
    ]
    assert.equal(response.statusCode, 200)
    socket.on('error', () => {})
    socket.terminate()
  })

  test('100-continue: the body is asked for only when the upstream takes it', async () => {
    const text = `POST {prefix}/x HTTP/1.1\r\nHost: a\r\n{key}\r\nExpect: 100-continue\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc`
    assert.match(await gateway.raw(text), /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /)
    const refused = `POST ${prefix}/echo/x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n`
    assert.match(await gateway.raw(refused), /^HTTP\/1\.1 401 /)
  })

  test('a slow reader slows the upstream instead of filling memory', async () => {
    const socket = connect(gateway.product.port, '127.0.0.1')
    socket.write(
      `GET ${prefix}/echo/download/64 HTTP/1.1\r\nHost: a\r\nX-API-Key: ${gateway.xApiKey.secret}\r\n\r\n`,
    )
    await once(socket, 'readable')
    let last = -1
    // Nobody reads, so after a while the upstream stalls, far from its end.
    await until(async () => {
      const still = produced === last
      last = produced
      await new Promise((resolve) => setTimeout(resolve, 100))
      return still
    })
    assert.ok(produced < 32 * megabyte, `${produced} bytes were produced for nobody`)
    socket.destroy()
  })

  test('a slow upstream slows the caller: an upload is not read ahead', async () => {
    let received = 0
    const deaf: Socket[] = []
    const slow = createServer((upstream) => {
      upstream.pause()
      deaf.push(upstream)
      upstream.on('data', (chunk: Buffer) => (received += chunk.length))
      upstream.on('error', () => {})
    })
    await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve))
    const { port } = slow.address() as { port: number }
    await gateway.run('target', 'set', 'acme', 'deaf', '--upstream', `http://127.0.0.1:${port}`)
    const socket = connect(gateway.product.port, '127.0.0.1')
    socket.write(
      `POST ${prefix}/deaf/x HTTP/1.1\r\nHost: a\r\nX-API-Key: ${gateway.xApiKey.secret}\r\nContent-Length: ${64 * megabyte}\r\n\r\n`,
    )
    const chunk = Buffer.alloc(megabyte)
    let sent = 0
    const pump = () => {
      while (sent < 64 && socket.write(chunk)) sent++
    }
    socket.on('drain', () => {
      sent++
      pump()
    })
    socket.on('error', () => {})
    pump()
    let last = -1
    await until(async () => {
      const still = sent === last
      last = sent
      await new Promise((resolve) => setTimeout(resolve, 150))
      return still
    })
    assert.ok(
      sent < 48,
      `${sent} MiB were taken from the caller for an upstream that reads nothing`,
    )
    assert.equal(received, 0)
    // While the gateway reads nothing from the caller, it can't notice that the caller has left; it does notice that the
    // upstream has gone.
    for (const upstream of deaf) upstream.destroy()
    const [refusal] = (await once(socket, 'data')) as [Buffer]
    assert.match(refusal.toString('latin1'), /^HTTP\/1\.1 502 /)
    await until(() => socket.destroyed)
    slow.close()
  })
})

test('a call that turns out to be a stream of events while the node stops is ended too', async () => {
  const asked = Promise.withResolvers<ServerResponse>()
  const gateway = await gatewayForTests({
    settings: { LIMIT_DRAIN: '10m' },
    answer: (_request, response) => asked.resolve(response),
  })
  const answered = gateway.call('/echo/events', gateway.xApiKey)
  const response = await asked.promise
  const closed = gateway.product[Symbol.asyncDispose]()
  response.writeHead(200, { 'Content-Type': 'text/event-stream' })
  response.write('data: first\n\n')
  assert.equal(await (await answered).text(), 'data: first\n\n')
  // If the stream stayed open, this would wait until the test's own time limit.
  await closed
  await gateway.upstream[Symbol.asyncDispose]()
})
