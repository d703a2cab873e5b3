import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { WebSocket, WebSocketServer } from 'ws'
import { gatewayForTests, prefix, until, type TestGateway } from '../harness/gateway.ts'
import { withStore } from '../harness/person.ts'

/**
 * Something that happens at a target and says nothing about its upstream's health. `prepare` runs while the upstream is
 * well, and returns the function that makes it happen later.
 */
interface Neutral {
  readonly prepare?: (slug: string) => Promise<() => Promise<void>>
  readonly happen?: (slug: string) => Promise<void>
}

describe('the health of an upstream', { timeout: 120_000 }, () => {
  let gateway: TestGateway
  let upstream: Server
  let sockets: WebSocketServer
  const streams: ServerResponse[] = []
  let open = 0
  let seen = 0

  before(async () => {
    gateway = await gatewayForTests()
    sockets = new WebSocketServer({ noServer: true })
    upstream = createServer(answer).listen(0, '127.0.0.1')
    upstream.on('upgrade', (request, socket, head) => {
      if (request.url === '/lenient') {
        seen++
        const lines = ['101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade']
        socket.end(`HTTP/1.1 ${lines.join('\r\n')}\r\nSec-WebSocket-Accept: x\r\n\r\n`)
        return
      }
      sockets.handleUpgrade(request, socket, head, () => seen++)
    })
    await once(upstream, 'listening')
  })
  after(async () => {
    for (const client of sockets.clients) client.terminate()
    await gateway[Symbol.asyncDispose]()
    upstream.closeAllConnections()
    upstream.close()
  })

  function answer(request: IncomingMessage, response: ServerResponse): void {
    request.on('error', () => {})
    seen++
    open++
    response.on('close', () => open--)
    if (request.url === '/break') {
      request.socket.destroy()
    } else if (request.url === '/impatient') {
      // An upstream that closes the connection, as nginx does, because the body does not come.
      setTimeout(() => request.socket.destroy(), 100)
    } else if (request.url === '/stream') {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write('data: first\n\n')
      streams.push(response)
    } else if (request.url !== '/hang') {
      response.end('ok')
    }
  }

  async function pass(path: string): Promise<number> {
    const response = await gateway.call(path, gateway.xApiKey)
    await response.text()
    return response.status
  }

  async function breakOff(slug: string, times: number): Promise<void> {
    for (let left = times; left > 0; left--) assert.equal(await pass(`/${slug}/break`), 502)
  }

  /** Sends a request, whose body may be incomplete. */
  function send(slug: string, text: string): Socket {
    const socket = connect(gateway.product.port, '127.0.0.1')
    socket.on('error', () => {})
    const [line, ...rest] = text.split('\n')
    const head = [line?.replace(' /', ` ${prefix}/${slug}/`), 'Host: x', ...rest].join('\r\n')
    socket.write(head.replace('{key}', `X-API-Key: ${gateway.xApiKey.secret}`))
    return socket
  }

  /**
   * Sends a request, whose body may be incomplete, and closes the connection once the upstream has seen the request.
   * Returns when the upstream's response has been closed too.
   */
  async function leave(slug: string, text: string): Promise<void> {
    const before = { seen, open }
    const socket = send(slug, text)
    await until(() => seen > before.seen)
    socket.destroy()
    await until(() => open === before.open)
  }

  /** Sends a request, whose body may be incomplete, and waits for a response with this status. */
  async function isAnswered(slug: string, text: string, status: number): Promise<void> {
    const socket = send(slug, text)
    const [first] = await once(socket, 'data')
    assert.match(String(first), new RegExp(`^HTTP/1.1 ${status} `))
    socket.destroy()
  }

  async function healthEvents(slug: string): Promise<string[]> {
    return await withStore(gateway.product, async (store) => {
      const rows = await store.query
        .selectFrom('event')
        .select(['type', 'body'])
        .where('type', 'in', ['target.unhealthy', 'target.recovered'])
        .orderBy('sequence')
        .execute()
      const told = rows.map(({ type, body }) => ({ type, text: Buffer.from(body).toString() }))
      return told.filter(({ text }) => text.includes(`"${slug}"`)).map(({ type }) => type)
    })
  }

  async function openStream(slug: string) {
    const response = await gateway.call(`/${slug}/stream`, gateway.xApiKey)
    return { response, stream: streams.at(-1) }
  }

  const neutrals: Record<string, Neutral> = {
    'a caller who leaves before the response': {
      happen: async (slug) => await leave(slug, 'GET /hang HTTP/1.1\n{key}\n\n'),
    },
    'a caller who cuts a body of announced length short': {
      happen: async (slug) =>
        await leave(slug, 'POST /hang HTTP/1.1\n{key}\nContent-Length: 100\n\nhalf'),
    },
    'a caller who cuts a chunked body short': {
      happen: async (slug) =>
        await leave(slug, 'POST /hang HTTP/1.1\n{key}\nTransfer-Encoding: chunked\n\n4\nhalf'),
    },
    'a body that is too large': {
      happen: async (slug) => {
        const body = 'x'.repeat(2000)
        const init = { method: 'POST', body }
        assert.equal((await gateway.call(`/${slug}/hang`, gateway.xApiKey, init)).status, 413)
      },
    },
    'a refused path': {
      happen: async (slug) => assert.equal(await pass(`/${slug}/a%2fb`), 400),
    },
    'the end of an event stream that began while the upstream was well': {
      prepare: async (slug) => {
        const { response, stream } = await openStream(slug)
        return async () => {
          stream?.end()
          await response.text()
        }
      },
    },
    'an event stream that breaks off': {
      prepare: async (slug) => {
        const { response, stream } = await openStream(slug)
        return async () => {
          stream?.destroy()
          await assert.rejects(response.text())
        }
      },
    },
    'the end of a WebSocket': {
      prepare: async (slug) => {
        const url = `ws://127.0.0.1:${gateway.product.port}${prefix}/${slug}/socket`
        const socket = new WebSocket(url, { headers: { 'X-API-Key': gateway.xApiKey.secret } })
        await once(socket, 'open')
        return async () => {
          socket.close()
          await once(socket, 'close')
        }
      },
    },
  }
  for (const [name, { prepare, happen }] of Object.entries(neutrals)) {
    test(`${name} neither counts as a failure nor ends a series of failures`, async () => {
      const slug = `t${Object.keys(neutrals).indexOf(name)}`
      const { port } = upstream.address() as AddressInfo
      const url = `http://127.0.0.1:${port}`
      await gateway.run('target', 'set', 'acme', slug, '--upstream', url, '--body', '1000B')
      const prepared = [await prepare?.(slug), await prepare?.(slug)]
      const next = async () => await (prepared.pop()?.() ?? happen?.(slug))

      await breakOff(slug, 4)
      await next()
      assert.equal((await healthEvents(slug)).length, 0)
      await breakOff(slug, 1)
      await until(async () => (await healthEvents(slug)).length > 0)
      await next()
      await breakOff(slug, 5)
      assert.equal(await pass(`/${slug}/ok`), 200)
      await until(async () => (await healthEvents(slug)).includes('target.recovered'))
      assert.deepEqual(await healthEvents(slug), ['target.unhealthy', 'target.recovered'])
    })
  }

  const callers = {
    'who keep the rest of a body of announced length':
      'POST /impatient HTTP/1.1\n{key}\nContent-Length: 9\n\nhalf',
    'who keep the rest of a chunked body':
      'POST /impatient HTTP/1.1\n{key}\nTransfer-Encoding: chunked\n\n4\nhalf\n',
    'whose handshake has two keys':
      'GET /lenient HTTP/1.1\n{key}\nConnection: Upgrade\nUpgrade: websocket\nSec-WebSocket-Key: a\nSec-WebSocket-Key: b\n\n',
  }
  for (const [at, [name, text]] of Object.entries(callers).entries()) {
    test(`five callers ${name} do not make an upstream unhealthy`, async () => {
      const slug = `callers${at}`
      const { port } = upstream.address() as AddressInfo
      await gateway.run('target', 'set', 'acme', slug, '--upstream', `http://127.0.0.1:${port}`)
      for (let left = 5; left > 0; left--) await isAnswered(slug, text, 502)
      assert.equal(await pass(`/${slug}/ok`), 200)
      await breakOff(slug, 5)
      assert.equal(await pass(`/${slug}/ok`), 200)
      await until(async () => (await healthEvents(slug)).includes('target.recovered'))
      assert.deepEqual(await healthEvents(slug), ['target.unhealthy', 'target.recovered'])
    })
  }

  test('five callers who leave one after the other say nothing, and five time-outs do', async () => {
    const { port } = upstream.address() as AddressInfo
    const url = `http://127.0.0.1:${port}`
    await gateway.run('target', 'set', 'acme', 'hangs', '--upstream', url, '--first-byte', '100ms')
    for (let left = 4; left > 0; left--) assert.equal(await pass('/hangs/hang'), 504)
    await gateway.run('target', 'set', 'acme', 'hangs', '--first-byte', '1m')
    for (let left = 5; left > 0; left--) await leave('hangs', 'GET /hang HTTP/1.1\n{key}\n\n')
    await gateway.run('target', 'set', 'acme', 'hangs', '--first-byte', '100ms')
    assert.equal(await pass('/hangs/hang'), 504)
    await until(async () => (await healthEvents('hangs')).length > 0)
    assert.deepEqual(await healthEvents('hangs'), ['target.unhealthy'])
  })
})
