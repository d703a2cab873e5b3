import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EndOfTurn } from './end-of-turn.ts'
import { SharedBuffer } from './shared-buffer.ts'

test('messages behind one whose handling fails are handled in the next turn', (t) => {
  const immediates: (() => void)[] = []
  t.mock.method(globalThis, 'setImmediate', (call: (given: unknown) => void, given: unknown) =>
    immediates.push(() => call(given)),
  )
  const { reads } = new EndOfTurn()
  const heard: string[] = []
  const read = (name: string, take: () => boolean): void => {
    const shared = new SharedBuffer()
    reads.add({ hasWaiting: false, mayWait: true, take }, shared, shared.bytes.write(name))
  }
  read('one', () => {
    throw new Error('a bug')
  })
  read('two', () => heard.push('two') > 0)
  assert.throws(() => immediates.shift()?.(), /a bug/)
  assert.deepEqual(heard, [])
  assert.equal(immediates.length, 1)
  immediates.shift()?.()
  assert.deepEqual(heard, ['two'])
  assert.equal(immediates.length, 0)
})
