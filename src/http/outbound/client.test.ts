import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import {
  createServer as createRawServer,
  type AddressInfo,
  type Server,
  type Socket,
} from 'node:net'
import { after, before, describe, test } from 'node:test'
import {
  createOutbound,
  createResolver,
  OutboundError,
  type Outbound,
  type OutboundFailure,
} from './index.ts'

const cap = 64 * 1024

describe('the outbound client against hostile receivers', () => {
  const stack = new AsyncDisposableStack()
  let outbound: Outbound
  let base: string
  const seen: { url: string | undefined; headers: IncomingMessage['headers']; body: string }[] = []

  before(async () => {
    outbound = stack.use(createOutbound({ allowLoopback: true }))
    base = await listen(
      stack,
      createServer((request, response) => void answer(request, response)),
    )
  })
  after(async () => await stack.disposeAsync())

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    seen.push({ url: request.url, headers: request.headers, body })
    const page = pages[request.url?.split('?')[0] ?? '']
    if (page) page(response)
    else response.end('fine')
  }

  async function call(url: string, deadlineMs = 3000, signal?: AbortSignal) {
    return await outbound.request({
      url,
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-test': '1' },
      body: '{"a":1}',
      deadlineMs,
      maxResponseBytes: cap,
      ...(signal ? { signal } : {}),
    })
  }

  async function failure(
    url: string,
    deadlineMs = 300,
    signal?: AbortSignal,
  ): Promise<OutboundFailure> {
    try {
      await call(url, deadlineMs, signal)
    } catch (error) {
      assert.ok(error instanceof OutboundError)
      return error.kind
    }
    throw new Error('the call went well')
  }

  test('a request arrives as it was given and the answer comes back whole', async () => {
    const got = await call(`${base}/plain?x=%20&y=a+b`)
    assert.equal(got.status, 200)
    assert.equal(got.body.toString(), 'fine')
    assert.equal(got.truncated, false)
    const last = seen.at(-1)
    assert.equal(last?.url, '/plain?x=%20&y=a+b')
    assert.equal(last?.body, '{"a":1}')
    assert.equal(last?.headers['x-test'], '1')
    assert.equal(last?.headers['content-length'], '7')
  })

  test('a redirect is the answer; it is never followed', async () => {
    const before = seen.length
    const got = await call(`${base}/redirect`)
    assert.equal(got.status, 307)
    assert.equal(seen.length, before + 1)
  })

  test('an endless answer is read up to its cap and cut off', async () => {
    const got = await call(`${base}/endless`)
    assert.equal(got.truncated, true)
    assert.equal(got.body.length, cap)
  })

  test('a huge announced answer is not read to its end', async () => {
    const got = await call(`${base}/huge`)
    assert.equal(got.truncated, true)
    assert.equal(got.body.length, cap)
  })

  test('a compressed bomb stays compressed', async () => {
    const got = await call(`${base}/gzip`)
    assert.equal(got.headers['content-encoding'], 'gzip')
    assert.ok(got.body.length <= cap)
    assert.equal(got.body[0], 0x1f)
  })

  test('the deadline ends with the body: dripping, hanging and half answers time out', async () => {
    for (const page of ['drip', 'hang', 'half', 'interim']) {
      assert.equal(await failure(`${base}/${page}`), 'timeout', page)
    }
  })

  test('interim answers without end are cut off long before the deadline', async () => {
    const interim = Buffer.from('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100))
    await using local = new AsyncDisposableStack()
    const address = await listen(
      local,
      createRawServer((socket) => {
        socket.on('error', () => undefined)
        socket.once('data', () => {
          const more = (): void => {
            while (!socket.destroyed && socket.write(interim));
          }
          socket.on('drain', more)
          more()
        })
      }),
    )
    assert.equal(await failure(`${address}/`, 20_000), 'invalid')
  })

  test('broken answers are failures with a name, and never hang', async () => {
    const raw: Record<string, (socket: Socket) => void> = {
      reset: (socket) => socket.resetAndDestroy(),
      close: (socket) => socket.end(),
      garbage: (socket) => socket.end('garbage without end\r\n\r\n'),
      short: (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort'),
      twolengths: (socket) =>
        socket.end('HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nx'),
      bigheader: (socket) =>
        socket.end(`HTTP/1.1 200 OK\r\nx: ${'a'.repeat(40_000)}\r\ncontent-length: 0\r\n\r\n`),
      badchunk: (socket) =>
        socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nx\r\n0\r\n\r\n'),
      nul: (socket) => socket.end('HTTP/1.1 200 OK\r\nx: a\0b\r\ncontent-length: 0\r\n\r\n'),
    }
    for (const [name, behave] of Object.entries(raw)) {
      await using local = new AsyncDisposableStack()
      const address = await listen(
        local,
        createRawServer((socket) => {
          socket.on('error', () => undefined)
          socket.once('data', () => behave(socket))
        }),
      )
      const kind = await failure(`${address}/`, 2000)
      assert.ok(kind === 'reset' || kind === 'invalid', `${name}: ${kind}`)
    }
  })

  test('a port that nobody listens on is a refused connection', async () => {
    const server = createRawServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    server.close()
    await once(server, 'close')
    assert.equal(await failure(`http://127.0.0.1:${port}/`), 'connect')
  })

  test('a caller who gives up is obeyed at once, before and during the call', async () => {
    assert.equal(await failure(`${base}/plain`, 3000, AbortSignal.abort()), 'aborted')
    const stop = new AbortController()
    const running = failure(`${base}/hang`, 10_000, stop.signal)
    setImmediate(() => stop.abort())
    assert.equal(await running, 'aborted')
  })

  test('a literal address is checked although no resolver is asked', async () => {
    await using shut = createOutbound({ resolve: async () => assert.fail('nothing to resolve') })
    await assert.rejects(
      shut.request({ url: base, method: 'GET', headers: {}, deadlineMs: 500, maxResponseBytes: 1 }),
      (error) => error instanceof OutboundError && error.kind === 'blocked',
    )
  })

  test('HTTP_PROXY and its like are never read', async () => {
    const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY', 'NODE_USE_ENV_PROXY']
    const kept = names.map((name) => process.env[name])
    for (const name of names) process.env[name] = 'http://127.0.0.1:1'
    try {
      await using fresh = createOutbound({ allowLoopback: true })
      const got = await fresh.request({
        url: `${base}/plain`,
        method: 'GET',
        headers: {},
        deadlineMs: 1000,
        maxResponseBytes: cap,
      })
      assert.equal(got.status, 200)
    } finally {
      names.forEach((name, at) => {
        if (kept[at] === undefined) delete process.env[name]
        else process.env[name] = kept[at]
      })
    }
  })

  test('a name that never resolves costs one question at a time, and its failure is remembered', async () => {
    let questions = 0
    const resolve = async (): Promise<never> => {
      questions += 1
      throw new Error('no answer')
    }
    await using slow = createOutbound({ resolve: createResolver(resolve, () => performance.now()) })
    const wanted = { url: 'http://nowhere.example/', method: 'GET', headers: {} } as const
    for (let call = 0; call < 20; call++) {
      await assert.rejects(
        slow.request({ ...wanted, deadlineMs: 500, maxResponseBytes: 1 }),
        (error) => error instanceof OutboundError && error.kind === 'dns',
      )
    }
    assert.equal(questions, 1)
  })

  test('the fetch for libraries keeps the same rules', async () => {
    const got = await outbound.fetch(`${base}/json`, { method: 'GET' })
    assert.deepEqual(await got.json(), { ok: true })
    assert.deepEqual(got.headers.getSetCookie(), ['a=1', 'b=2'])
    const moved = await outbound.fetch(new URL(`${base}/redirect`), {
      method: 'POST',
      body: new URLSearchParams({ grant: 'x' }),
    })
    assert.equal(moved.status, 307)
    assert.equal(seen.at(-1)?.body, 'grant=x')
    assert.match(String(seen.at(-1)?.headers['content-type']), /urlencoded/)
    await assert.rejects(outbound.fetch('data:application/json,{}'), OutboundError)
    await assert.rejects(outbound.fetch('http://10.0.0.1/'), OutboundError)
    await assert.rejects(outbound.fetch(`${base}/endless`), OutboundError)
    await assert.rejects(outbound.fetch(`${base}/status`), OutboundError)
  })
})

const pages: Record<string, (response: ServerResponse) => void> = {
  '/redirect': (response) => response.writeHead(307, { location: '/plain' }).end(),
  '/endless': (response) => {
    const more = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(16 * 1024))) continue
    }
    response.on('drain', more)
    more()
  },
  '/huge': (response) => {
    response.writeHead(200, { 'content-length': String(2 ** 40) })
    pages['/endless']?.(response)
  },
  '/gzip': (response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' })
    response.end(Buffer.concat([Buffer.from([0x1f, 0x8b]), Buffer.alloc(1000)]))
  },
  '/drip': (response) => {
    const timer = setInterval(() => response.write('x'), 20)
    response.on('close', () => clearInterval(timer))
  },
  '/hang': () => undefined,
  '/half': (response) => {
    response.writeHead(200, { 'content-length': '10' })
    response.write('half')
  },
  '/interim': (response) => {
    const timer = setInterval(() => response.writeProcessing(), 20)
    response.on('close', () => clearInterval(timer))
  },
  '/status': (response) => response.writeHead(999).end(),
  '/json': (response) => {
    response.setHeader('set-cookie', ['a=1', 'b=2'])
    response.end('{"ok":true}')
  },
}

/** Listens on a free loopback port until the stack is disposed; returns the URL. */
async function listen(stack: AsyncDisposableStack, server: Server): Promise<string> {
  const open = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.on('close', () => open.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  stack.defer(async () => {
    server.close()
    for (const socket of open) socket.destroy()
    await once(server, 'close')
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
