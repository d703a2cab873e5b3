import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { nextTurn } from '../timers.ts'
import { openAccessLog } from './access-log.ts'
import { createMetrics } from './metrics.ts'

test('an access log that could not be written is written again once it can be', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'intercept-access-log-'))
  const destination = join(folder, 'later', 'access.log')
  const said: string[] = []
  const say = (_fields: object, text: string): void => void said.push(text)
  const until = async (isSaid: string): Promise<void> => {
    while (said.at(-1) !== isSaid) await nextTurn()
  }
  let now = 0
  const metrics = createMetrics()
  try {
    const clock = { monotonic: () => now }
    const log = openAccessLog({ destination, metrics, clock, log: { info: say, error: say } })
    log.add({ path: '/lost' })
    await until('the access log cannot be written')
    mkdirSync(dirname(destination))
    log.add({ path: '/too-soon' })
    now += 5000
    log.add({ path: '/kept' })
    await until('the access log is written again')
    log.add({ path: '/last' })
    await log[Symbol.asyncDispose]()
    assert.deepEqual(readFileSync(destination, 'utf8').trim().split('\n'), [
      '{"path":"/kept"}',
      '{"path":"/last"}',
    ])
    assert.match(metrics.render(), /^intercept_access_log_dropped_total 2$/m)
    assert.equal(said.length, 2)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
