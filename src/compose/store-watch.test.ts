import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Store } from '../store/index.ts'
import { createLog, createMetrics } from '../telemetry/index.ts'
import { logBesideOutages, watchStore } from './store-watch.ts'

const gone = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
const late = Object.assign(new Error('canceling statement'), { code: '55P03' })

test('an outage is one line at its start and one at its end, whatever fails meanwhile', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const lines: string[] = []
  const whole = createLog({ level: 'info', write: (line) => void lines.push(line) })
  let isCurrent = false
  const store = {
    status: () => ({
      ...{ feedAgeMs: 0, silentNodes: 0, forgottenNodes: 0 },
      ...{ clockOffsetMs: 0, isClockOff: false },
    }),
    feed: { isCurrent: () => isCurrent },
  } as unknown as Store
  const outages = watchStore({ store, log: whole, metrics: createMetrics() })
  const log = logBesideOutages(whole, outages).child({ room: 'webhooks' })
  for (let at = 0; at < 50; at++) {
    log.warn({ err: gone }, 'deliveries: tried again')
    log.error({ err: gone }, 'a task failed')
    outages.refused(gone)
  }
  assert.equal(lines.length, 1)
  assert.match(lines[0] ?? '', /the database does not answer/)
  isCurrent = true
  for (let at = 0; at < 2; at++) {
    context.mock.timers.tick(1000)
    await Promise.resolve()
  }
  assert.equal(lines.length, 2)
  assert.match(lines[1] ?? '', /"refused":150,.*the database answers again/)

  // Errors with another cause are logged every time.
  log.warn({ err: late }, 'deliveries: tried again')
  log.error({ err: new Error('a mistake') }, 'a task failed')
  assert.equal(lines.length, 4)
  await outages[Symbol.asyncDispose]()
})
