import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Tx } from '../../src/store/index.ts'
import { beat, beatAndLook } from '../../src/store/tables/nodes/nodes.ts'
import { emptyPlace, engines } from './engines.ts'

const start = { sequence: 0, token: '' }

for (const engine of engines) {
  test(`a heartbeat registers a node that has no row, counts on, and lists the others, on ${engine}`, async () => {
    await using place = await emptyPlace(engine)
    await using store = await place.open()
    const at = async <T>(now: number, work: (tx: Tx) => Promise<T>): Promise<T> =>
      await store.transaction(async (tx) => await work({ ...tx, now }))
    await at(1000, async (tx) => await beat(tx, { id: 'node_b', seen: start }))

    const first = await at(2000, async (tx) => await beatAndLook(tx, { id: 'node_a', seen: start }))
    assert.equal(first.wasThere, false)
    assert.deepEqual(
      first.others.map(({ id, beat: last }) => [id, last]),
      [['node_b', '1000 1']],
    )
    // A position that is not part of this database's history must not confirm any change.
    const strange = { id: 'node_a', seen: { sequence: 7, token: 'other' } }
    const second = await at(3000, async (tx) => await beatAndLook(tx, strange))
    assert.equal(second.wasThere, true)
    const seen = await at(4000, async (tx) => await beatAndLook(tx, { id: 'node_b', seen: start }))
    assert.deepEqual(seen.others, [
      { id: 'node_a', beat: '3000 2', seenSequence: 7, isOfThisHistory: false },
    ])
  })
}

describe('a node that nobody needs, on PostgreSQL', () => {
  test('hears a change by notification while its feed rests, and is proved current by the next caller', async (t) => {
    await using place = await emptyPlace('postgres')
    await using idle = await place.open({ isNode: true })
    await using other = await place.open({ isNode: true })
    const heard = Promise.withResolvers<void>()
    idle.feed.on(
      'organization',
      () => heard.resolve(),
      () => undefined,
    )
    await until(() => idle.status().feedAgeMs > 1100, t.signal)
    const { confirmation } = await other.transactionConfirmed(async (tx) => {
      await Promise.resolve()
      tx.changed({ kind: 'organization', organizationId: 'org_1', subjectId: 'org_1' })
    })
    assert.equal(confirmation.silentNodes, 0)
    await heard.promise
    await until(() => idle.status().feedAgeMs > 1100, t.signal)
    assert.equal(await idle.feed.prove(1000), true)
    assert.ok(idle.status().feedAgeMs < 1000)
  })
})

async function until(isTrue: () => boolean, signal: AbortSignal): Promise<void> {
  while (!isTrue()) {
    signal.throwIfAborted()
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
