import assert from 'node:assert/strict'
import { Duplex } from 'node:stream'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { nextTurn } from '../../timers.ts'
import { TurnWrites } from './turn-writes.ts'

/** A socket that notes each write, and takes bytes only if it is told to. */
class NotingSocket extends Duplex {
  readonly written: string[] = []
  isTaking = true
  #go: (() => void) | undefined

  constructor() {
    super({ highWaterMark: 1 })
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    const take = (): void => {
      this.written.push(chunk.toString('latin1'))
      done()
    }
    if (this.isTaking) take()
    else this.#go = take
  }

  override _read(): void {}

  takeAll(): void {
    this.isTaking = true
    this.#go?.()
  }
}

function sockets(count: number): NotingSocket[] {
  return Array.from({ length: count }, () => new NotingSocket())
}

function writesForTests(): TurnWrites {
  const writes: TurnWrites = new TurnWrites(() => setImmediate(() => writes.flush()))
  return writes
}

function asSocket(socket: NotingSocket): Socket {
  return socket as unknown as Socket
}

test('messages of one turn are written when it ends, each as one write and in order', async () => {
  const writes = writesForTests()
  const [one, other] = sockets(2) as [NotingSocket, NotingSocket]
  writes.addText(asSocket(one), 'first')
  writes.addText(asSocket(other), 'second \u00ff')
  writes.addText(asSocket(one), 'third')
  assert.deepEqual([one.written, other.written], [[], []])
  await nextTurn()
  assert.deepEqual([one.written, other.written], [['first', 'third'], ['second \u00ff']])
})

test('flush writes at once what was added, and nothing twice', async () => {
  const writes = writesForTests()
  const [socket] = sockets(1) as [NotingSocket]
  const batch = writes.addText(asSocket(socket), 'a')
  assert.equal(batch, writes.batch)
  writes.flush()
  assert.notEqual(batch, writes.batch)
  assert.deepEqual(socket.written, ['a'])
  writes.addText(asSocket(socket), 'b')
  await nextTurn()
  assert.deepEqual(socket.written, ['a', 'b'])
})

test('messages that find no room are written in order all the same', async () => {
  const writes = writesForTests()
  const [socket] = sockets(1) as [NotingSocket]
  const sizes = [30_000, 30_000, 5000, 32_768, 32_769, 100, 70_000, 1]
  const messages = sizes.map((size, at) => String.fromCharCode(97 + at).repeat(size))
  for (const message of messages) writes.addText(asSocket(socket), message)
  const large = 100_000
  writes.makeRoom(large)
  writes.bytes.fill('z', writes.at, writes.at + large)
  writes.add(asSocket(socket), large)
  writes.addText(asSocket(socket), 'the last')
  await nextTurn()
  assert.deepEqual(socket.written, [...messages, 'z'.repeat(large), 'the last'])
})

test('a message that a socket does not take at once is not overwritten by later ones', async () => {
  const writes = writesForTests()
  const all = sockets(3)
  for (const [at, socket] of all.entries()) socket.isTaking = at === 1
  for (let round = 0; round < 5; round++) {
    for (const [at, socket] of all.entries()) writes.addText(asSocket(socket), `${at}:${round} `)
    await nextTurn()
  }
  for (const socket of all) socket.takeAll()
  await nextTurn()
  for (const [at, socket] of all.entries()) {
    assert.equal(socket.written.join(''), `${at}:0 ${at}:1 ${at}:2 ${at}:3 ${at}:4 `)
  }
})

test('a socket that was destroyed meanwhile gets nothing, and the others everything', async () => {
  const writes = writesForTests()
  const [gone, other] = sockets(2) as [NotingSocket, NotingSocket]
  writes.addText(asSocket(gone), 'a')
  writes.addText(asSocket(other), 'b')
  gone.destroy()
  await nextTurn()
  assert.deepEqual([gone.written, other.written], [[], ['b']])
})
