import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Store } from '../store/index.ts'
import { createDenials } from './denials.ts'

const minuteMs = 60_000

test('a denial is recorded once in ten minutes, and again after the clock was set back by a day', () => {
  let [nowMs, recorded] = [1_900_000_000_000, 0]
  const store = {
    transaction: async () => void recorded++,
  } as unknown as Store
  const denials = createDenials({
    store,
    clock: { now: () => nowMs, monotonic: () => assert.fail('not asked') },
    log: { error: () => assert.fail('no error') },
  })
  const note = (): number => {
    const denied = { permission: 'keys.manage', role: 'viewer' }
    denials.note('org_1', { kind: 'user', id: 'usr_1' }, denied)
    return recorded
  }
  assert.equal(note(), 1)
  nowMs += 9 * minuteMs
  assert.equal(note(), 1)
  nowMs += minuteMs
  assert.equal(note(), 2)
  nowMs -= 24 * 60 * minuteMs
  assert.equal(note(), 3)
  assert.equal(note(), 3)
})
