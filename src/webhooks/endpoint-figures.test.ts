import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createId } from '../ids.ts'
import { engines, storeForTests } from '../../test/harness/store.ts'
import { endpointFigures } from './endpoint-figures.ts'

const minuteMs = 60_000

for (const engine of engines) {
  test(`deliveries of an endpoint are counted by their step, with the backlog at its end (${engine})`, async () => {
    await using opened = await storeForTests(engine)
    const { store } = opened
    const now = Math.floor(Date.now() / minuteMs) * minuteMs
    const from = now - 3 * minuteMs
    const rows = [
      { at: from + 1000, state: 'delivered', completed: from + 1200 },
      { at: from + 2000, state: 'delivered', completed: from + minuteMs + 5000 },
      { at: from + minuteMs, state: 'dead', completed: from + 2 * minuteMs + 1 },
      { at: from + 2 * minuteMs, state: 'pending', completed: null },
      { at: from - minuteMs, state: 'delivered', completed: from },
    ]
    await store.transaction(async (tx) => {
      for (const [index, { at, state, completed }] of rows.entries()) {
        await tx.query
          .insertInto('delivery')
          .values({
            ...{ id: createId('dlv', at), organization_id: 'org_1', endpoint_id: 'ep_1' },
            ...{ event_sequence: index, event_id: `evt_${index}`, type: 'x.y', state, due_at: 0 },
            ...{ attempts: 1, attempts_ever: 1, version: 1, created_at: at },
            completed_at: completed,
          })
          .execute()
      }
    })
    const range = { endpointId: 'ep_1', from, to: now, stepMs: minuteMs }
    const { steps, isSampled } = await endpointFigures(store, 'org_1', range)
    assert.equal(isSampled, false)
    assert.deepEqual(
      steps.map(({ delivered, dead, waiting, backlog }) => [delivered, dead, waiting, backlog]),
      [
        [2, 0, 0, 1],
        [0, 1, 0, 1],
        [0, 0, 1, 1],
      ],
    )
    assert.deepEqual([steps[0]?.p50Ms, steps[0]?.p95Ms], [63_000, 63_000])
    assert.equal((await endpointFigures(store, 'org_2', range)).steps[0]?.delivered, 0)
  })
}
