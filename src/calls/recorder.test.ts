import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestBytes } from '../secrets/index.ts'
import type { CallRecord, Store } from '../store/index.ts'
import { createMetrics } from '../telemetry/index.ts'
import { nextTurn } from '../timers.ts'
import { minuteMs } from '../units.ts'
import { createRecorder } from './recorder.ts'

test(
  'a shutdown does not wait until all blocks are merged',
  { timeout: 20_000 },
  async (context) => {
    context.mock.timers.enable({ apis: ['setInterval'] })
    let now = 0
    const merges = { count: 0 }
    // There is always one more block to merge.
    const store = {
      engine: 'sqlite',
      insertCalls: async () => undefined,
      mergeCalls: async () => {
        merges.count++
        return true
      },
      transactionThatMayBeLost: async () => undefined,
      transaction: async () => undefined,
    } as unknown as Store
    const clock = { now: () => now, monotonic: () => now }
    const log = { error: () => undefined }
    const call = {
      ...{ organizationId: 'org_1', keyId: 'key_1', address: '192.0.2.1', at: 0, status: 200 },
      ...{ bytesIn: 0, bytesOut: 0, durationUs: 1 },
    } as unknown as CallRecord
    const recorder = createRecorder({ store, clock, metrics: createMetrics(), log, alsoFlush: {} })
    recorder.record(call, { digest: digestBytes('d'), isOldSecret: false }, 'none')
    now += minuteMs
    context.mock.timers.tick(250)
    for (let turn = 0; turn < 1000 && merges.count < 3; turn++) await nextTurn()
    assert.equal(merges.count, 3)
    await recorder[Symbol.asyncDispose]()
    const merged = merges.count
    await nextTurn()
    assert.equal(merges.count, merged)
  },
)
