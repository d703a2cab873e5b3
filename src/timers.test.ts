import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { every } from './timers.ts'
import { hourMs, minuteMs } from './units.ts'

test('an hourly task also runs on a node that is restarted more often than that', async () => {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
  try {
    let runs = 0
    const task = async (): Promise<void> => void runs++
    await using _ = every(hourMs, task, (error) => assert.ifError(error))
    mock.timers.tick(5 * minuteMs - 1)
    assert.equal(runs, 0)
    mock.timers.tick(1)
    assert.equal(runs, 1)
    await Promise.resolve()
    mock.timers.tick(hourMs)
    assert.equal(runs, 2)
  } finally {
    mock.timers.reset()
  }
})
