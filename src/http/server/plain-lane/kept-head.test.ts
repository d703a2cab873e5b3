import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, test } from 'node:test'
import { heapInUse } from '../../../../test/harness/heap.ts'
import { systemClock } from '../../../clock.ts'
import { nextTurn } from '../../../timers.ts'
import { createFront } from '../front.ts'
import { KeptHead } from './kept-head.ts'
import { RequestParser, type PlainRequest } from './request-parser.ts'

test('header lines are not kept for a connection that the standard lane has taken over', async () => {
  const heads: WeakRef<object>[] = []
  const front = createFront({
    baseUrl: 'http://localhost:1',
    gatewayPrefix: '/guarded',
    lane: 'plain',
    clock: systemClock,
    log: { error: () => {} },
    handleApp: (_request, response) => response.end('app'),
    handleGateway: (exchange) => {
      heads.push(new WeakRef(exchange.head))
      exchange.answer(200, ['Content-Length', '2'], 'ok')
    },
  })
  const { port } = await front.listen({ host: '127.0.0.1', port: 0 })
  const socket = connect(port, '127.0.0.1')
  for (const path of ['/guarded', '/guarded', '/guarded', '/app']) {
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: secret\r\n\r\n`)
    await once(socket, 'data')
  }
  const isShared = heads[1]?.deref() === heads[2]?.deref()
  await nextTurn()
  heapInUse()
  const kept = heads.filter((head) => head.deref() !== undefined)
  socket.destroy()
  await front.drain(500)
  assert.ok(isShared)
  assert.equal(kept.length, 0)
})

describe('the header lines that a connection keeps', () => {
  const parser = new RequestParser({ prefix: '/guarded', urlBytes: 100, headBytes: 8192 })
  const take = (kept: KeptHead, lines: string): boolean => {
    const bytes = Buffer.from(`GET /guarded HTTP/1.1\r\n${lines}\r\n`)
    const request = parser.parse(bytes, 0, kept)
    assert.ok(typeof request === 'object')
    kept.keep(bytes, request)
    return request.fields === kept.withoutBody
  }
  const lineOf = (number: number): string => `X-Number: ${number}\r\n`

  test('stand beside the URL of its latest request, unless that is long or the connection was idle', () => {
    const kept = new KeptHead()
    const urls = ['/guarded', '/guarded/a', '/guarded/b', '/guarded/c'.padEnd(1025, 'c')]
    const wide = new RequestParser({ prefix: '/guarded', urlBytes: 2000, headBytes: 8192 })
    const seen = urls.map((url) => {
      const bytes = Buffer.from(`GET ${url} HTTP/1.1\r\nHost: x\r\n\r\n`)
      const request = wide.parse(bytes, 0, kept)
      assert.ok(typeof request === 'object')
      kept.keep(bytes, request)
      return kept.url
    })
    assert.deepEqual(seen, ['', '/guarded/a', '/guarded/b', ''])
    take(kept, lineOf(1))
    assert.equal(kept.url, '/guarded')
    kept.idleFor(2001)
    assert.equal(kept.url, '')
  })

  test('are those of its second request, not of its only one, nor long ones', () => {
    const kept = new KeptHead()
    assert.deepEqual([take(kept, lineOf(1)), kept.withoutBody], [false, undefined])
    assert.equal(take(kept, `X-Long: ${'x'.repeat(1024)}\r\n`), false)
    assert.equal(take(kept, lineOf(1)), true)
  })

  test('are those of one request with a body and of one without', () => {
    const kept = new KeptHead()
    const parse = (method: string): PlainRequest => {
      const bytes = Buffer.from(`${method} /guarded HTTP/1.1\r\nX-Method: ${method}\r\n\r\n`)
      const request = parser.parse(bytes, 0, kept)
      assert.ok(typeof request === 'object')
      kept.keep(bytes, request)
      assert.deepEqual(request.fields.rawHeaders, ['X-Method', method])
      return request
    }
    parse('GET')
    const [get, post] = [parse('GET'), parse('POST')]
    assert.equal(parse('GET').fields, get.fields)
    assert.equal(parse('POST').fields, post.fields)
    const put = parse('PUT')
    assert.equal(parse('PUT').fields, put.fields)
    assert.notEqual(parse('POST').fields, post.fields)
    assert.equal(parse('GET').fields, get.fields)
    kept.forget()
    assert.deepEqual([kept.withoutBody, kept.withBody], [undefined, undefined])
  })

  test('are copied at most eight times until the connection has been idle, which forgets them', () => {
    const kept = new KeptHead()
    const numbers = Array.from({ length: 12 }, (_, number) => number)
    const isKept = numbers.map((number) => take(kept, lineOf(number)))
    assert.deepEqual(
      isKept,
      numbers.map((number) => number > 0 && number <= 8),
    )
    kept.idleFor(2000)
    assert.equal(take(kept, lineOf(8)), true)
    kept.idleFor(2001)
    assert.equal(kept.withoutBody, undefined)
    assert.equal(take(kept, lineOf(11)), true)
  })

  test('do not change when the bytes that they were read from are used again', () => {
    const kept = new KeptHead()
    take(kept, lineOf(0))
    const bytes = Buffer.from('GET /guarded HTTP/1.1\r\nX-Key: one\r\n\r\n')
    const first = parser.parse(bytes, 0)
    assert.ok(typeof first === 'object')
    kept.keep(bytes, first)
    bytes.write('two', bytes.indexOf('one'))
    const second = parser.parse(bytes, 0, kept)
    assert.ok(typeof second === 'object')
    assert.deepEqual(first.fields.rawHeaders, ['X-Key', 'one'])
    assert.deepEqual(second.fields.rawHeaders, ['X-Key', 'two'])
  })
})
