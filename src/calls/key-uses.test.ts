import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestBytes, digestFromHex } from '../secrets/index.ts'
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
  uses.note({ digest: digestBytes('d'), isOldSecret: true }, call)
  await assert.rejects(uses.write(false), /away/)
  isAway = false
  await uses.write(false)
  assert.equal(written, 1)
  await uses.write(true)
  assert.equal(written, 1)
})

test('uses are written in the order of keys and then of secrets, whichever was used first', async () => {
  const forward: string[] = []
  const backward: string[] = []
  const noted = ['bb', 'aa', 'dd', 'cc'].map((hex) => ({
    digest: digestFromHex(hex),
    call: { keyId: hex < 'cc' ? 'key_2' : 'key_1', at: 1 } as unknown as CallRecord,
  }))
  for (const [order, written] of [
    [noted, forward],
    [noted.toReversed(), backward],
  ] as const) {
    const uses = new KeyUses(storeThatLists(written), { monotonic: () => 0 })
    for (const { digest, call } of order) uses.note({ digest, isOldSecret: false }, call)
    await uses.write(true)
  }
  assert.deepEqual(forward, ['key_1', 'cc', 'key_1', 'dd', 'key_2', 'aa', 'key_2', 'bb'])
  assert.deepEqual(backward, forward)
})

/** A store that changes nothing, and lists the rows to change in the order of the changes. */
function storeThatLists(rows: string[]): Store {
  const query = {
    updateTable: () => query,
    set: () => query,
    where: (column: unknown, _operator?: string, value?: string) => {
      if (typeof column === 'string') rows.push(value ?? '')
      return query
    },
    execute: async () => {},
  }
  return {
    transactionThatMayBeLost: async (work: (tx: unknown) => Promise<void>) => await work({ query }),
  } as unknown as Store
}
