import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NodeRow } from '../tables/nodes/nodes.ts'
import { NodeRegistration } from './node-registration.ts'

const heartbeatMs = 5000

/** The registration of a node beside one other node. */
function besideAnother() {
  let now = 0
  let turn = (): void => undefined
  const other = { isAlive: true, isListed: true, beat: 0 }
  const database = { isAway: false }
  const whileThere = <T>(value: T): T => {
    if (database.isAway) throw new Error('the database is away')
    return value
  }
  const rowOf = (): NodeRow => ({
    id: 'node_2',
    beat: String(other.beat),
    seenSequence: 0,
    isOfThisHistory: true,
  })
  const registration = new NodeRegistration({
    clock: { monotonic: () => now },
    timers: {
      after: () => () => undefined,
      every: (_ms, call) => ((turn = call), () => undefined),
      soon: (call) => call(),
    },
    book: {
      beat: async (_seen, isLooking) => {
        const others = other.isListed ? [rowOf()] : []
        return whileThere({ wasThere: true, others: isLooking ? others : undefined })
      },
      remove: async () => void (other.isListed = whileThere(false)),
      leave: async () => undefined,
    },
  })
  registration.start(() => ({ sequence: 0, token: '' }))
  /** Lets time pass, one heartbeat after another; returns how many silent nodes were seen after each. */
  async function pass(ms: number): Promise<number[]> {
    const seen: number[] = []
    for (const end = now + ms; now < end;) {
      now += heartbeatMs
      if (other.isAlive && !database.isAway) other.beat += 1
      turn()
      await new Promise((resolve) => setImmediate(resolve))
      seen.push(registration.silent)
    }
    return seen
  }
  return { other, database, pass, registration }
}

test('a node that crashed is silent until it is removed, which takes less than a minute, and is counted then', async () => {
  const { other, pass, registration } = besideAnother()
  assert.deepEqual(await pass(30_000), [0, 0, 0, 0, 0, 0])
  assert.equal(registration.forgotten, 0)
  other.isAlive = false
  assert.deepEqual(await pass(35_000), [0, 0, 1, 1, 0, 0, 0])
  assert.equal(other.isListed, false)
  assert.equal(registration.forgotten, 1)
})

test('nobody counts as silent because the database was away: this node could not look', async () => {
  const { other, database, pass, registration } = besideAnother()
  await pass(30_000)
  database.isAway = true
  assert.deepEqual(new Set(await pass(120_000)), new Set([0]))
  database.isAway = false
  assert.deepEqual(new Set(await pass(30_000)), new Set([0]))
  assert.equal(other.isListed, true)
  assert.equal(registration.forgotten, 0)
})
