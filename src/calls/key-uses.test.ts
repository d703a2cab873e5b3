import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CallRecord, Store } from '../store/index.ts'
import { KeyUses } from './key-uses.ts'

test('callers with an old secret that could not be written are written later, even if no key is used any more', async () => {
  let isAway = true
  let written = 0
  const store = {
    transactionThatMayBeLost: async () => {},
    transaction: async () => {
      if (isAway) throw new Error('the database is away')
      written++
    },
  } as unknown as Store
  const uses = new KeyUses(store, { monotonic: () => 0 })
  const call = { address: '192.0.2.1', keyId: 'key_1', at: 1 } as unknown as CallRecord
  uses.note({ digest: 'd', isOldSecret: true }, call)
  await assert.rejects(uses.write(false), /away/)
  isAway = false
  await uses.write(false)
  assert.equal(written, 1)
  await uses.write(true)
  assert.equal(written, 1)
})
