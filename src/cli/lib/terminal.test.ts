import assert from 'node:assert/strict'
import { test } from 'node:test'
import { processTerminal } from './terminal.ts'

test('a stop that arrives several times counts once; a signal long after it ends the process at once', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const others = process.listenerCount('SIGINT')
  const stopped = processTerminal().untilStopped()
  process.emit('SIGINT')
  await stopped
  // While a listener is registered, Node does not end the process on the signal.
  assert.equal(process.listenerCount('SIGINT'), others + 1)
  process.emit('SIGINT')
  process.emit('SIGTERM')
  t.mock.timers.tick(999)
  assert.equal(process.listenerCount('SIGINT'), others + 1)
  t.mock.timers.tick(1)
  assert.equal(process.listenerCount('SIGINT'), others)
})
