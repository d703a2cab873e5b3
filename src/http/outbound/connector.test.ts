import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { createAddressGuard } from './guard.ts'
import { createConnector, type Connector } from './connector.ts'
import { OutboundError } from './outbound-error.ts'

const name = { host: 'upstream.example', port: 80, secure: false }
const literal = { ...name, host: '127.0.0.1' }
const addresses = ['127.0.0.1', '127.0.0.2', '127.0.0.3']

/** Returns a connector whose sockets never connect by themselves, and those sockets. */
function connectorOf(given: { timeoutMs: number; resolve?: () => Promise<string[]> }): {
  readonly connector: Connector
  readonly sockets: Socket[]
} {
  const sockets: Socket[] = []
  const connector = createConnector({
    guard: createAddressGuard({ allowCidrs: ['127.0.0.0/8'] }),
    resolve: given.resolve ?? (async () => addresses),
    connect: () => {
      const socket = new Socket()
      sockets.push(socket)
      return socket
    },
    timeoutMs: given.timeoutMs,
  })
  return { connector, sockets }
}

function isOf(kind: OutboundError['kind']): (error: unknown) => boolean {
  return (error) => error instanceof OutboundError && error.kind === kind
}

async function turn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}

test('an attempt that times out while it connects destroys its socket', async () => {
  const { connector, sockets } = connectorOf({ timeoutMs: 20 })
  await assert.rejects(connector(literal), isOf('timeout'))
  assert.deepEqual(
    sockets.map(({ destroyed }) => destroyed),
    [true],
  )
})

test('each address of a name gets its share of the time, and its socket is destroyed afterwards', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const { connector, sockets } = connectorOf({ timeoutMs: 60 })
  const opening = assert.rejects(connector(name), isOf('timeout'))
  for (let tried = 1; tried <= addresses.length; tried++) {
    await turn()
    assert.equal(sockets.length, tried)
    context.mock.timers.tick(19)
    await turn()
    assert.equal(sockets.at(-1)?.destroyed, false)
    context.mock.timers.tick(1)
    assert.equal(sockets.at(-1)?.destroyed, true)
  }
  await opening
})

test('an attempt that times out during the look-up opens no socket', async () => {
  const resolve = async () => await new Promise<string[]>(() => undefined)
  const { connector, sockets } = connectorOf({ timeoutMs: 20, resolve })
  await assert.rejects(connector(name), isOf('timeout'))
  assert.equal(sockets.length, 0)
})

for (const [how, end] of [
  ['succeeds', (lookUp: PromiseWithResolvers<string[]>) => lookUp.resolve(addresses)],
  ['fails', (lookUp: PromiseWithResolvers<string[]>) => lookUp.reject(new Error('no such name'))],
] as const) {
  test(`an attempt that is given up during the look-up opens no socket when the look-up ${how} later`, async () => {
    const lookUp = Promise.withResolvers<string[]>()
    const resolve = async () => await lookUp.promise
    const { connector, sockets } = connectorOf({ timeoutMs: 60_000, resolve })
    const stop = new AbortController()
    const opening = connector(name, stop.signal)
    stop.abort()
    await assert.rejects(opening, isOf('aborted'))
    end(lookUp)
    await turn()
    assert.equal(sockets.length, 0)
  })
}

test('an attempt that is given up during the TLS handshake destroys its socket', async () => {
  const { connector, sockets } = connectorOf({ timeoutMs: 60_000 })
  const stop = new AbortController()
  const opening = connector({ ...literal, secure: true }, stop.signal)
  await turn()
  sockets[0]?.emit('connect')
  await turn()
  stop.abort()
  await assert.rejects(opening, isOf('aborted'))
  await turn()
  assert.equal(sockets[0]?.destroyed, true)
})

test('an attempt leaves no timer, whether it succeeds or fails', async (context) => {
  const set = context.mock.method(globalThis, 'setTimeout')
  const cleared = context.mock.method(globalThis, 'clearTimeout')
  const { connector, sockets } = connectorOf({ timeoutMs: 60_000 })
  const opening = connector(name)
  await turn()
  sockets[0]?.emit('error', new Error('refused'))
  await turn()
  sockets[1]?.emit('connect')
  assert.equal(await opening, sockets[1])
  await assert.rejects(connector(name, AbortSignal.abort()))
  const timers = set.mock.calls.map(({ result }) => result)
  assert.equal(timers.length, 4)
  for (const timer of timers) {
    assert.ok(cleared.mock.calls.some(({ arguments: [given] }) => given === timer))
  }
})

test('an attempt that is given up while it connects destroys its socket and tries no other address', async () => {
  const { connector, sockets } = connectorOf({ timeoutMs: 60_000 })
  const stop = new AbortController()
  const opening = connector(name, stop.signal)
  await turn()
  stop.abort()
  await assert.rejects(opening, isOf('aborted'))
  assert.deepEqual(
    sockets.map(({ destroyed }) => destroyed),
    [true],
  )
})

test('an attempt that was given up before it began opens no socket', async () => {
  const { connector, sockets } = connectorOf({ timeoutMs: 60_000 })
  await assert.rejects(connector(literal, AbortSignal.abort()), isOf('aborted'))
  await assert.rejects(connector(name, AbortSignal.abort()), isOf('aborted'))
  assert.equal(sockets.length, 0)
})

test('an attempt that succeeds or fails leaves none of its listeners on the signal or the connected socket', async () => {
  const { connector, sockets } = connectorOf({ timeoutMs: 60_000 })
  const { signal } = new AbortController()
  const opening = connector(literal, signal)
  await turn()
  const [socket] = sockets
  assert.ok(socket !== undefined)
  socket.emit('connect')
  assert.equal(await opening, socket)
  for (const event of ['connect', 'error', 'close']) {
    assert.equal(socket.listenerCount(event), 0, event)
  }
  const failing = connector(literal, signal)
  await turn()
  sockets[1]?.emit('error', Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }))
  await assert.rejects(failing, isOf('connect'))
  assert.equal(getEventListeners(signal, 'abort').length, 0)
})

test('a socket that closes before it is connected fails the attempt, and a later error is ignored', async () => {
  const { connector, sockets } = connectorOf({ timeoutMs: 60_000 })
  const opening = connector(literal)
  await turn()
  sockets[0]?.emit('close')
  await assert.rejects(opening, isOf('reset'))
  sockets[0]?.emit('error', new Error('too late'))
})
