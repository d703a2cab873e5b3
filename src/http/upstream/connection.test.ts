import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TLSSocket } from 'node:tls'
import { FakeSocket } from '../../../test/harness/lanes/fake-socket.ts'
import { nextTurn } from '../../timers.ts'
import { turnReads, turnWrites } from '../message/end-of-turn.ts'
import { SharedBuffer } from '../message/shared-buffer.ts'
import type { TurnReader } from '../message/turn-reads.ts'
import { UpstreamConnection, type ConnectionUser } from './connection.ts'

function userForTests(heard: (what: string) => void): ConnectionUser {
  return {
    interim: () => heard('interim'),
    switched: () => heard('switched'),
    head: () => heard('head'),
    whole: (_head, body) => heard(body),
    takesUsual: false,
    usual: () => heard('usual'),
    data: () => heard('data'),
    end: () => heard('end'),
    writable: () => undefined,
    readEnded: () => undefined,
    failed: ({ code }) => heard(code),
  }
}

const shared = new SharedBuffer()

/** Makes a connection read bytes as a plain socket does, so that they may wait until the turn ends. */
function read(connection: UpstreamConnection, text: string): void {
  turnReads.add(connection, shared, shared.bytes.write(text, 'latin1'))
}

function readFor(reader: TurnReader, text: string): void {
  turnReads.add(reader, shared, shared.bytes.write(text, 'latin1'))
}

function quietReader(): TurnReader {
  return { hasWaiting: false, mayWait: true, take: () => true }
}

/** A caller whose request, once it is handled, goes to a connection if that seems to be idle. */
function callerThatTakes(connection: UpstreamConnection) {
  const heard: string[] = []
  const reader: TurnReader = {
    ...quietReader(),
    take: () => {
      if (!connection.alive) return true
      heard.push('begun')
      const user = userForTests((what) => heard.push(what))
      connection.begin(user, { ...get, ended: false, head: 'POST / HTTP/1.1\r\n\r\n', body: '' })
      return true
    },
  }
  return { heard, waits: () => readFor(reader, 'a request') }
}

const get = { method: 'GET', ended: true, upgrade: false }

test('the bytes of a body may be used again as soon as the request has begun', () => {
  const socket = new FakeSocket()
  const connection = new UpstreamConnection(socket.asSocket, () => undefined)
  const ignore = userForTests(() => undefined)
  const head = 'POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\n'
  const body = Buffer.from('one')
  for (const word of ['one', 'two', 'six']) {
    body.write(word)
    connection.begin(ignore, { ...get, head, body })
  }
  turnWrites.flush()
  assert.equal(socket.written, `${head}one${head}two${head}six`)
})

test('a connection that a slow caller left paused is heard by the next one', async () => {
  const socket = new FakeSocket()
  let released = 0
  const connection = new UpstreamConnection(socket.asSocket, () => released++)
  socket.on('data', (bytes: Buffer) => connection.take(bytes))
  const request = { ...get, head: 'GET / HTTP/1.1\r\n\r\n', body: '' }

  const first = Promise.withResolvers<void>()
  const slow = userForTests((what) => {
    if (what === 'data') connection.pause()
    if (what === 'end') first.resolve()
  })
  connection.begin(slow, request)
  turnWrites.flush()
  socket.feed(Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: 20000\r\n\r\n${'x'.repeat(20_000)}`))
  await first.promise
  assert.equal(released, 1)

  const second = Promise.withResolvers<string>()
  connection.begin(
    userForTests((what) => second.resolve(what)),
    request,
  )
  turnWrites.flush()
  socket.feed(Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'))
  assert.equal(await second.promise, 'ok')
})

test('a response that arrives before its request was sent is rejected', () => {
  const socket = new FakeSocket()
  const connection = new UpstreamConnection(socket.asSocket, () => undefined)
  const heard: string[] = []
  const user = userForTests((what) => heard.push(what))
  connection.begin(user, { ...get, head: 'GET / HTTP/1.1\r\n\r\n', body: '' })
  connection.take(Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'))
  turnWrites.flush()
  assert.deepEqual(heard, ['upstream_invalid'])
  assert.equal(socket.written, '')
})

test('a response that waits for the end of the turn is believed although its connection breaks', async () => {
  for (const how of ['reset', 'end'] as const) {
    const socket = new FakeSocket()
    const connection = new UpstreamConnection(socket.asSocket, () => undefined)
    const heard: string[] = []
    connection.begin(
      userForTests((what) => heard.push(what)),
      { ...get, head: 'GET / HTTP/1.1\r\n\r\n', body: '' },
    )
    turnWrites.flush()
    read(connection, 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    assert.deepEqual(heard, [])
    if (how === 'reset') socket.destroy(new Error('reset'))
    else socket.resume().endInput()
    await new Promise((resolve) => socket.once('close', resolve))
    assert.deepEqual(heard, ['ok'])
  }
})

test('what an idle upstream sends is not taken for the response to a request that begins in the same turn', () => {
  const socket = new FakeSocket()
  const reusable: boolean[] = []
  const connection = new UpstreamConnection(socket.asSocket, (_which, is) => reusable.push(is))
  read(connection, 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
  assert.equal(connection.alive, false)
  assert.deepEqual(reusable, [false])
})

test('bytes of an idle upstream answer no request that waits in the same turn, however much else waits', () => {
  const socket = new FakeSocket()
  const connection = new UpstreamConnection(socket.asSocket, () => undefined)
  const { heard, waits } = callerThatTakes(connection)
  turnReads.flush()
  waits()
  // These fill the queue of 128 KiB but for 25 bytes, so that the next read must make room.
  for (let at = 0; at < 7; at++) readFor(quietReader(), 'x'.repeat(16_384))
  readFor(quietReader(), 'x'.repeat(16_350))
  assert.deepEqual(heard, [])
  read(connection, 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno')
  turnReads.flush()
  assert.deepEqual(heard, [])
  assert.equal(connection.alive, false)
})

for (const how of ['reset', 'end'] as const) {
  for (const state of ['idle', 'with a response that waits'] as const) {
    test(`a connection that breaks (${how}, ${state}) is not given to a request that waits in the same turn`, async () => {
      const socket = new FakeSocket()
      const connection = new UpstreamConnection(socket.asSocket, () => undefined)
      const own: string[] = []
      if (state !== 'idle') {
        connection.begin(
          userForTests((what) => own.push(what)),
          { ...get, head: 'GET / HTTP/1.1\r\n\r\n', body: '' },
        )
        turnWrites.flush()
      }
      const { heard, waits } = callerThatTakes(connection)
      if (state !== 'idle') read(connection, 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
      waits()
      if (how === 'reset') socket.emit('error', new Error('reset'))
      else socket.emit('end')
      turnReads.flush()
      assert.deepEqual(heard, [])
      assert.deepEqual(own, state === 'idle' ? [] : ['ok'])
      assert.equal(connection.alive, false)
    })
  }
}

for (const ended of [true, false]) {
  test(`a request that begins after its connection has closed fails at once (${ended ? 'whole' : 'its body is still to come'})`, async () => {
    const socket = new FakeSocket()
    const connection = new UpstreamConnection(socket.asSocket, () => undefined)
    socket.destroy()
    await nextTurn()
    const heard: string[] = []
    const user = userForTests((what) => heard.push(what))
    connection.begin(user, { ...get, ended, head: 'POST / HTTP/1.1\r\n\r\n', body: '' })
    assert.deepEqual(heard, ['upstream_invalid'])
  })
}

test('a TLS socket, which keeps what it is given, gets a request at once', () => {
  const socket = Object.setPrototypeOf(new FakeSocket(), TLSSocket.prototype) as FakeSocket
  const written: unknown[] = []
  socket.write = (chunk: unknown) => written.push(chunk) > 0
  const connection = new UpstreamConnection(socket as unknown as TLSSocket, () => undefined)
  const head = 'GET / HTTP/1.1\r\n\r\n'
  connection.begin(
    userForTests(() => undefined),
    { ...get, head, body: '' },
  )
  assert.deepEqual(written, [head])
})
