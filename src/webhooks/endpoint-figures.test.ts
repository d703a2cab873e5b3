import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { createId, idBound } from '../ids.ts'
import { engines, storeForTests } from '../../test/harness/store.ts'
import { countInSteps, endpointFigures } from './endpoint-figures.ts'

const minuteMs = 60_000

for (const engine of engines) {
  test(`an earlier range is counted however many deliveries there were since (${engine})`, async () => {
    await using opened = await storeForTests(engine)
    const { store } = opened
    const now = Math.floor(Date.now() / minuteMs) * minuteMs
    const insert = async (count: number, at: number) =>
      await store.transaction(
        async (tx) =>
          await sql`insert into delivery (id, organization_id, endpoint_id, event_sequence, event_id,
            type, state, due_at, attempts, attempts_ever, version, created_at, completed_at)
            with recursive n(i) as (select 1 union all select i + 1 from n where i < ${sql.lit(count)})
            select ${sql.lit(idBound('dlv', at))} || (1000000000000000 + i), 'org_1', 'ep_1',
              ${sql.lit(at)} + i, 'evt', 'x.y', 'delivered', 0, 1, 1, 1, ${sql.lit(at)}, ${sql.lit(at)}
            from n`.execute(tx.query),
      )
    await insert(1, now - 10 * minuteMs)
    await insert(20_001, now)
    const range = { endpointId: 'ep_1', from: now - 11 * minuteMs, to: now - 9 * minuteMs }
    const found = await endpointFigures(store, 'org_1', { ...range, stepMs: 2 * minuteMs })
    assert.deepEqual([found.steps[0]?.delivered, found.isSampled], [1, false])
  })

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

test('each delivery is looked at once, however many steps the range has', () => {
  let reads = 0
  const row = {
    get createdAt() {
      reads += 1
      return 500
    },
    completedAt: undefined,
    state: 'pending' as const,
  }
  const steps = countInSteps([row, row, row], { from: 0, to: 200_000, stepMs: 1000 })
  assert.equal(steps.length, 200)
  assert.ok(reads <= 6, `${reads} reads`)
  assert.deepEqual([steps[0]?.waiting, steps[0]?.backlog, steps[199]?.backlog], [3, 3, 3])
})

test('a range that begins before 1970 is an empty one', async () => {
  await using opened = await storeForTests('sqlite')
  const range = { endpointId: 'ep_1', from: -5 * minuteMs, to: -4 * minuteMs, stepMs: minuteMs }
  const { steps } = await endpointFigures(opened.store, 'org_1', range)
  assert.deepEqual([steps.length, steps[0]?.backlog], [1, 0])
})
