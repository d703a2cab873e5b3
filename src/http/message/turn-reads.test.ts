import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { test } from 'node:test'
import { nextTurn } from '../../timers.ts'
import { turnReads } from './end-of-turn.ts'
import { SharedBuffer } from './shared-buffer.ts'
import { TurnReads, type TurnReader } from './turn-reads.ts'

/** A reader that notes what it gets; `heard` is shared, so that the order among readers shows. */
function readerForTests(name: string, heard: string[]): TurnReader {
  return {
    hasWaiting: false,
    mayWait: true,
    take: (bytes) => {
      heard.push(`${name}:${bytes.toString('latin1')}`)
      return true
    },
  }
}

/** Returns the reads of sockets that share a buffer, as those of a node do. */
function readsForTests(): {
  readonly reads: TurnReads
  read(reader: TurnReader, text: string): boolean
} {
  const reads: TurnReads = new TurnReads(() => void setImmediate(() => reads.flush()))
  const shared = new SharedBuffer()
  return {
    reads,
    read: (reader, text) => reads.add(reader, shared, shared.bytes.write(text, 'latin1')),
  }
}

test('messages are handled when the turn ends, in order, although their buffer was used again', async () => {
  const { read } = readsForTests()
  const heard: string[] = []
  const readers = ['a', 'b', 'c'].map((name) => readerForTests(name, heard))
  for (const [at, reader] of readers.entries()) assert.equal(read(reader, `${at} \u00ff`), true)
  assert.deepEqual(heard, [])
  await nextTurn()
  assert.deepEqual(heard, ['a:0 \u00ff', 'b:1 \u00ff', 'c:2 \u00ff'])
  assert.deepEqual(
    readers.map(({ hasWaiting }) => hasWaiting),
    [false, false, false],
  )
})

test('a second message of a socket comes after what its first one caused', async () => {
  const { read } = readsForTests()
  const heard: string[] = []
  const [one, other] = [readerForTests('a', heard), readerForTests('b', heard)]
  read(one, 'first')
  read(other, 'first')
  read(one, 'second')
  assert.deepEqual(heard, ['a:first'])
  await nextTurn()
  assert.deepEqual(heard, ['a:first', 'b:first', 'a:second'])
})

test('whether a message may wait is asked after the earlier messages were handled', () => {
  const { read } = readsForTests()
  const heard: string[] = []
  const reader = {
    hasWaiting: false,
    mayWait: true,
    take: (bytes: Buffer): boolean => {
      heard.push(bytes.toString())
      reader.mayWait = false
      return heard.length < 2
    },
  }
  assert.equal(read(reader, 'waits'), true)
  assert.equal(read(reader, 'does not'), false)
  assert.deepEqual(heard, ['waits', 'does not'])
})

test('a long message is handled at once, after an earlier one of the same socket', () => {
  const { read } = readsForTests()
  const heard: string[] = []
  const reader = readerForTests('a', heard)
  const long = 'x'.repeat(20_000)
  read(reader, 'short')
  read(reader, long)
  assert.deepEqual(heard, ['a:short', `a:${long}`])
})

test('more messages than there is room for lose nothing', async () => {
  const { read } = readsForTests()
  const heard: string[] = []
  const sent = Array.from({ length: 100 }, (_, at) => String(at).padStart(5000, '.'))
  for (const [at, text] of sent.entries()) read(readerForTests(String(at), heard), text)
  await nextTurn()
  assert.deepEqual(
    heard,
    sent.map((text, at) => `${at}:${text}`),
  )
})

test('one socket can be made to handle what waits of it, and the others keep waiting', async () => {
  const { reads, read } = readsForTests()
  const heard: string[] = []
  const [one, other] = [readerForTests('a', heard), readerForTests('b', heard)]
  reads.handleNow(one)
  read(other, 'x')
  read(one, 'y')
  reads.handleNow(one)
  reads.handleNow(one)
  assert.deepEqual(heard, ['a:y'])
  await nextTurn()
  assert.deepEqual(heard, ['a:y', 'b:x'])
})

test('messages are handled in the asynchronous context of no caller', async () => {
  const context = new AsyncLocalStorage<string>()
  const seen: unknown[] = []
  const reader: TurnReader = {
    hasWaiting: false,
    mayWait: true,
    take: () => seen.push(context.getStore()) > 0,
  }
  const shared = new SharedBuffer()
  context.run('a caller', () => turnReads.add(reader, shared, shared.bytes.write('x')))
  await nextTurn()
  assert.deepEqual(seen, [undefined])
})

test('messages behind one whose handling throws are handled by the next flush', () => {
  const { reads, read } = readsForTests()
  const heard: string[] = []
  const failing: TurnReader = {
    hasWaiting: false,
    mayWait: true,
    take: () => {
      throw new Error('a bug')
    },
  }
  read(failing, 'x')
  read(readerForTests('b', heard), 'y')
  assert.throws(() => reads.flush(), /a bug/)
  assert.deepEqual(heard, [])
  reads.flush()
  assert.deepEqual(heard, ['b:y'])
})
