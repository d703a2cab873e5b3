import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { describe, test } from 'node:test'
import { choose, ConnectionQueue } from './connection-queue.ts'

test('the taker with the fewest open connections gets the next one; of several, the first', () => {
  const idle = taker(1, 100)
  assert.equal(choose([taker(9, 100), idle, taker(1, 100)], 0), idle)
  assert.equal(choose([], 0), undefined)
})

test('a late taker comes after all that are not, and of late ones the one with the fewest connections', () => {
  const [late, later, busy] = [taker(0, 0), taker(5, 0), taker(9, 1)]
  assert.equal(choose([late, busy], 0), busy)
  assert.equal(choose([busy, late], 0), busy)
  assert.equal(choose([later, late], 0), late)
})

function taker(open: number, lateInMs: number): { open: number; lateInMs: () => number } {
  return { open, lateInMs: () => lateInMs }
}

describe('a queue of connections', () => {
  test('spreads a burst evenly although one process receives its connections more slowly', () => {
    const { queue, join } = openQueue()
    const [quick, slow] = [join(), join()]
    for (let at = 0; at < 6; at++) queue.push(connection())
    while (quick.receive() || slow.receive());
    assert.deepEqual([quick.received, slow.received], [3, 3])
  })

  test('gives to others what a late process should have had, until that receives again', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const { queue, join, pass } = openQueue()
    const [stuck, other] = [join(), join()]
    for (let at = 0; at < 6; at++) queue.push(connection())
    while (other.receive());
    assert.deepEqual([stuck.received, other.received], [0, 1])
    pass(100)
    t.mock.timers.tick(100)
    while (other.receive());
    assert.deepEqual([stuck.received, other.received], [0, 5])
    stuck.receive()
    for (let at = 0; at < 4; at++) queue.push(connection())
    while (stuck.receive() || other.receive());
    assert.deepEqual([stuck.received, other.received], [5, 5])
  })

  test('counts what a process reports as open, and no connection that got lost on its way', () => {
    const { queue, join } = openQueue()
    const [one, other] = [join(), join()]
    for (let at = 0; at < 4; at++) queue.push(connection())
    while (one.receive() || other.receive());
    // It was given two: one has closed, and one never arrived.
    other.taker.report({ open: 0, last: 2 })
    for (let at = 0; at < 2; at++) queue.push(connection())
    while (one.receive() || other.receive());
    assert.deepEqual([one.received, other.received], [2, 4])
    // What it has received since counts as open until the next report.
    one.taker.report({ open: 2, last: 2 })
    other.taker.report({ open: 0, last: 3 })
    queue.push(connection())
    while (one.receive() || other.receive());
    assert.deepEqual([one.received, other.received], [2, 5])
    assert.equal(other.taker.open, 2)
  })

  test('gives the connection that an ended process was to get to another one, and closes the one on its way', () => {
    const { queue, join } = openQueue()
    const [dying, other] = [join(), join()]
    const sockets = [connection(), connection(), connection()]
    for (const socket of sockets) queue.push(socket)
    dying.receive()
    const [onItsWay, , unsent] = sockets
    dying.taker.abandon()
    while (other.receive());
    assert.equal(other.received, 2)
    assert.deepEqual([onItsWay?.handle.isClosed, unsent?.handle.isClosed], [true, false])
    assert.equal(onItsWay?.isDestroyed, false)
  })

  test('gives a connection that could not be sent to another process', () => {
    const { queue, join, dropped } = openQueue()
    const [broken, other] = [join(), join()]
    queue.push(connection())
    broken.fail()
    while (other.receive());
    assert.equal(other.received, 1)
    assert.equal(dropped(), 0)
  })

  test('closes connections that no process takes, and those beyond 4,096 that wait', () => {
    const { queue, join, dropped } = openQueue()
    const first = connection()
    queue.push(first)
    assert.equal(first.isDestroyed, true)
    const stuck = join()
    for (let at = 0; at < 4100; at++) queue.push(connection())
    // One is to be sent, 4,096 wait.
    assert.equal(dropped(), 1 + 3)
    stuck.taker.leave()
    assert.equal(dropped(), 1 + 3 + 4096)
  })

  test('tells when nothing waits any more', async () => {
    const { queue, join } = openQueue()
    const only = join()
    for (let at = 0; at < 3; at++) queue.push(connection())
    let isEmpty = false
    const emptied = queue.untilEmpty(60_000).then(() => (isEmpty = true))
    only.receive()
    await Promise.resolve()
    assert.equal(isEmpty, false)
    only.receive()
    await emptied
  })
})

interface FakeConnection extends Socket {
  readonly handle: { isClosed: boolean }
  readonly isDestroyed: boolean
}

function connection(): FakeConnection {
  const handle = { isClosed: false, close: () => (handle.isClosed = true) }
  const socket = { handle, _handle: handle, isDestroyed: false, destroy: () => {} }
  return Object.assign(socket, {
    destroy: () => (socket.isDestroyed = true),
  }) as unknown as FakeConnection
}

/** A queue with a clock of its own, and with processes that receive what is sent to them when the test says so. */
function openQueue() {
  let nowMs = 0
  let droppedCount = 0
  const queue = new ConnectionQueue(
    () => nowMs,
    () => droppedCount++,
  )
  const join = () => {
    const waiting: ((error: Error | null) => void)[] = []
    const joined = {
      received: 0,
      taker: queue.add((_socket, sent) => waiting.push(sent)),
      receive: () => end(null),
      fail: () => end(new Error('the channel is closed')),
    }
    const end = (error: Error | null): boolean => {
      const sent = waiting.shift()
      if (sent === undefined) return false
      if (error === null) joined.received++
      sent(error)
      return true
    }
    return joined
  }
  return { queue, join, pass: (ms: number) => (nowMs += ms), dropped: () => droppedCount }
}
