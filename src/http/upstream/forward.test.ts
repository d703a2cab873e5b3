import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeSocket } from '../../../test/harness/lanes/fake-socket.ts'
import { nextTurn } from '../../timers.ts'
import { readRequestHead } from '../message/head.ts'
import { turnWrites } from '../message/end-of-turn.ts'
import type { Carrier } from '../server/lane/carrier.ts'
import { Exchange } from '../server/exchange.ts'
import { UpstreamConnection } from './connection.ts'
import { forward } from './forward.ts'
import type { UpstreamOrigin } from './pool.ts'

/** A POST on its way to an upstream: its connection was idle, and each further one is a new one. */
function postOf(framing: readonly string[]) {
  const outcomes: string[] = []
  const sockets: FakeSocket[] = []
  const connect = (): UpstreamConnection => {
    const socket = new FakeSocket()
    sockets.push(socket)
    return new UpstreamConnection(socket.asSocket, () => undefined)
  }
  const idle = connect()
  idle.uses = 1
  const origin = { nowMs: 0, takeIdle: () => idle, connect: async () => connect() }
  const carrier = {
    requestComplete: false,
    bodyIsAtHand: false,
    trailers: [],
    opened: () => undefined,
    closed: () => undefined,
    readOn: () => undefined,
  }
  const rawHeaders = ['Host', 'localhost', ...framing]
  const exchange = new Exchange({
    ...{ method: 'POST', url: '/', httpVersion: '1.1', rawHeaders, requestId: 'req_1' },
    ...{ baseUrl: 'http://localhost', upgrade: undefined, expectsContinue: false },
    head: readRequestHead(rawHeaders),
    carrier: carrier as unknown as Carrier,
  })
  forward({
    exchange,
    origin: origin as unknown as UpstreamOrigin,
    plan: {
      head: 'POST / HTTP/1.1\r\n',
      timeouts: { connectMs: 1000, firstByteMs: 1000, idleMs: 1000 },
      bodyBytes: 100_000,
      answers: { allowed: new Set(), forPages: false },
      injectedName: undefined,
      answerHeaders: [],
    },
    owner: {
      answered: () => outcomes.push('answered'),
      ended: () => outcomes.push('ended'),
      failed: ({ code }) => outcomes.push(code),
    },
  })
  return {
    exchange,
    outcomes,
    sockets,
    /** Ends the newest connection, and lets it notice. */
    breakOff: () => sockets.at(-1)?.emit('end'),
    sent: () => {
      turnWrites.flush()
      return sockets.map(({ written }) => written)
    },
  }
}

const head = 'POST / HTTP/1.1\r\nContent-Length: 8\r\n\r\n'

for (const when of ['before its body comes', 'and its body does not come soon'] as const) {
  test(`a request whose idle connection closes while its head waits (${when}) goes to a new connection`, async () => {
    const post = postOf(['Content-Length', '8'])
    post.breakOff()
    if (when === 'before its body comes') post.exchange.bodyArrived(Buffer.from('four'))
    for (let turn = 0; turn < 4; turn++) await nextTurn()
    if (when !== 'before its body comes') {
      assert.deepEqual(post.sent(), ['', head])
      post.exchange.bodyArrived(Buffer.from('four'))
    }
    post.exchange.bodyArrived(Buffer.from('more'))
    post.exchange.bodyArrived(null)
    await nextTurn()
    assert.deepEqual(post.sent(), ['', `${head}fourmore`])
    assert.deepEqual(post.outcomes, [])
  })
}

test('a body that ends while a new connection opens is sent whole and framed as it was', async () => {
  const post = postOf(['Transfer-Encoding', 'chunked'])
  post.breakOff()
  post.exchange.bodyArrived(Buffer.from('four'))
  post.exchange.bodyArrived(Buffer.from('more'))
  post.exchange.bodyArrived(null)
  for (let turn = 0; turn < 4; turn++) await nextTurn()
  const chunked = 'POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n'
  assert.deepEqual(post.sent(), ['', `${chunked}4\r\nfour\r\n4\r\nmore\r\n0\r\n\r\n`])
})

test('an empty chunked body goes to a new connection too', async () => {
  const post = postOf(['Transfer-Encoding', 'chunked'])
  post.breakOff()
  post.exchange.bodyArrived(null)
  for (let turn = 0; turn < 4; turn++) await nextTurn()
  const chunked = 'POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n'
  assert.deepEqual(post.sent(), ['', `${chunked}0\r\n\r\n`])
})

test('a caller is paused once 64 KiB of its body wait for a new connection', () => {
  const post = postOf(['Content-Length', '99000'])
  post.breakOff()
  assert.equal(post.exchange.bodyArrived(Buffer.alloc(30_000)), true)
  assert.equal(post.exchange.bodyArrived(Buffer.alloc(30_000)), true)
  assert.equal(post.exchange.bodyArrived(Buffer.alloc(30_000)), false)
  const large = postOf(['Content-Length', '99000'])
  large.breakOff()
  assert.equal(large.exchange.bodyArrived(Buffer.alloc(70_000)), false)
})

test('a request whose new connection also closes before it begins fails, and no third is opened', async () => {
  const post = postOf(['Content-Length', '8'])
  post.breakOff()
  for (let turn = 0; turn < 4 && post.sockets.length < 2; turn++) await nextTurn()
  post.breakOff()
  post.exchange.bodyArrived(Buffer.from('bodybody'))
  for (let turn = 0; turn < 4; turn++) await nextTurn()
  assert.deepEqual(post.sent(), ['', ''])
  assert.deepEqual(post.outcomes, ['upstream_invalid'])
})

test('a request of which bytes were sent fails with its connection, because the upstream may have handled it', async () => {
  const post = postOf(['Content-Length', '8'])
  post.exchange.bodyArrived(Buffer.from('four'))
  post.breakOff()
  post.exchange.bodyArrived(Buffer.from('more'))
  post.exchange.bodyArrived(null)
  for (let turn = 0; turn < 4; turn++) await nextTurn()
  assert.equal(post.sockets.length, 1)
  assert.deepEqual(post.outcomes, ['upstream_invalid'])
})

test('a body that comes in pieces stays on the connection on which its head was sent', async () => {
  const post = postOf(['Content-Length', '8'])
  post.exchange.bodyArrived(Buffer.from('four'))
  post.exchange.bodyArrived(Buffer.from('more'))
  post.exchange.bodyArrived(null)
  for (let turn = 0; turn < 4; turn++) await nextTurn()
  assert.deepEqual(post.sent(), [`${head}fourmore`])
})

test('nothing is sent on a new connection if the caller leaves while it opens', async () => {
  const post = postOf(['Content-Length', '8'])
  post.breakOff()
  post.exchange.bodyArrived(Buffer.from('four'))
  post.exchange.leave()
  for (let turn = 0; turn < 4; turn++) await nextTurn()
  assert.deepEqual(post.sent(), ['', ''])
  assert.equal(post.sockets.at(-1)?.destroyed, true)
  assert.deepEqual(post.outcomes, ['ended'])
})
