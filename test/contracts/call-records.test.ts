import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { countsOf, createRecorder } from '../../src/calls/index.ts'
import { createId, type OrganizationId } from '../../src/ids.ts'
import { digestBytes } from '../../src/secrets/index.ts'
import {
  callCounts,
  callPartitions,
  calls,
  type CallRecord,
  type Store,
} from '../../src/store/index.ts'
import type { RecordChoice } from '../../src/record-choice.ts'
import { createMetrics } from '../../src/telemetry/index.ts'
import { engines, steadyClock, storeForTests, type TestClock } from '../harness/store.ts'

const dayMs = 86_400_000

for (const engine of engines) {
  describe(`call records on ${engine}`, { timeout: 120_000 }, () => {
    test('a batch of any size is written, and written again after a lost answer it is there once', async () => {
      await using place = await storeForTests(engine, steadyClock())
      const organizationId = createId('org')
      const batch = Array.from({ length: 333 }, (_, at) => callOf(organizationId, 1000 + at))
      for (let time = 0; time < 2; time++) {
        await place.store.transactionOnCalls(async (tx) => await calls.insert(tx, batch))
      }
      const found = await calls.list(place.store.calls, organizationId, { limit: 1000 })
      assert.deepEqual(found, batch.toReversed())
    })

    test('calls that cannot be written hold up no last use, quota or announcement, and a last use that cannot be written waits', async () => {
      const clock = steadyClock()
      await using place = await storeForTests(engine, clock)
      let areCallsAway = true
      let isMainAway = true
      const usesTried: string[] = []
      const done: string[] = []
      const store: Store = {
        ...place.store,
        insertCalls: async (rows) => {
          if (areCallsAway) throw new Error('calls are away')
          await place.store.insertCalls(rows)
        },
        transactionOnCalls: async (work) => {
          if (areCallsAway) throw new Error('calls are away')
          return await place.store.transactionOnCalls(work)
        },
        transactionThatMayBeLost: async (work) => {
          usesTried.push(isMainAway ? 'away' : 'written')
          if (isMainAway) throw new Error('the main database is away')
          return await place.store.transactionThatMayBeLost(work)
        },
      }
      await using recorder = createRecorder({
        ...{ store, clock, metrics: createMetrics(), log: { error: () => undefined } },
        alsoFlush: {
          quotas: async () => void done.push('quotas'),
          announcements: async () => void done.push('announcements'),
        },
      })
      const organizationId = createId('org')
      const call = callOf(organizationId, clock.now())
      recorder.record(call, secret, 'all')
      await assert.rejects(recorder.flush(), /away/)
      assert.deepEqual(done, ['quotas', 'announcements'])
      assert.deepEqual(usesTried, ['away'])
      isMainAway = false
      await assert.rejects(recorder.flush(), /calls are away/)
      assert.deepEqual(usesTried, ['away', 'written'])
      areCallsAway = false
      await recorder.flush()
      const kept = await calls.list(place.store.calls, organizationId, { limit: 10 })
      assert.deepEqual(
        kept.map(({ id }) => id),
        [call.id],
      )
    })

    test('retention drops days whole, keeps what is younger, and forgets what was before there were days', async () => {
      const clock = steadyClock()
      await using place = await storeForTests(engine, clock)
      const { store } = place
      const organizationId = createId('org')
      const before = callOf(organizationId, clock.now() - 3 * dayMs)
      await insert(store, [before])
      await using recorder = recorderOver(store, clock)
      const today = callOf(organizationId, clock.now())
      recorder.record(today, secret, 'all')
      await recorder.flush()
      if (engine === 'postgres') {
        assert.equal((await callPartitions.listPartitions(store.calls)).length, 8)
      }
      clock.forward(5 * dayMs)
      const later = callOf(organizationId, clock.now())
      await insert(store, [later])
      await recorder.forget(clock.now() - 2 * dayMs)
      const kept = await calls.list(store.calls, organizationId, { limit: 10 })
      assert.deepEqual(
        kept.map(({ id }) => id),
        [later.id],
      )
    })

    test('two nodes that count the same minutes in different orders never wait for each other', async () => {
      await using place = await storeForTests(engine, steadyClock())
      const organizationId = createId('org')
      const counted = Array.from({ length: 20 }, (_, at) => ({
        ...callOf(organizationId, 0),
        targetId: `tgt_${at}` as CallRecord['targetId'],
      }))
      const stores = [place.store, await place.another()]
      let commits = 0
      await Promise.all(
        stores.map(async (store, node) => {
          const counts = countsOf(node === 0 ? counted : counted.toReversed())
          for (let round = 0; round < 20; round++) {
            await store.transactionOnCalls(async (tx) => {
              commits += 1
              await callCounts.add(tx, counts)
            })
          }
        }),
      )
      assert.equal(commits, 40, 'no transaction had to begin again')
    })

    test('counts are exact whatever is chosen to be kept', async () => {
      const clock = steadyClock()
      await using place = await storeForTests(engine, clock)
      const { store } = place
      const kept: Record<string, number> = {}
      for (const choice of ['all', 'refused', 'sampled 1/10', 'none'] as RecordChoice[]) {
        const organizationId = createId('org')
        await using recorder = recorderOver(store, clock)
        for (let number = 0; number < 100; number++) {
          recorder.record(callOf(organizationId, clock.now()), secret, choice)
        }
        const refused = { stoppedAt: 'rules', refusal: 'rule_denied', status: 403 }
        for (let number = 0; number < 5; number++) {
          recorder.record({ ...callOf(organizationId, clock.now()), ...refused }, secret, choice)
        }
        await recorder.flush()
        kept[choice] = (await calls.list(store.calls, organizationId, { limit: 1000 })).length
        const rows = await store.calls.query
          .selectFrom('call_minute')
          .select('calls')
          .where('organization_id', '=', organizationId)
          .execute()
        assert.equal(
          rows.reduce((sum, row) => sum + row.calls, 0),
          105,
        )
      }
      assert.deepEqual(kept, { all: 105, refused: 5, 'sampled 1/10': 15, none: 0 })
    })
  })
}

const targetId = createId('tgt')
const secret = { digest: digestBytes('x'), isOldSecret: false }

function recorderOver(store: Store, clock: TestClock) {
  return createRecorder({
    ...{ store, clock, metrics: createMetrics() },
    log: { error: (fields) => assert.fail(JSON.stringify(fields)) },
    alsoFlush: {},
  })
}

async function insert(store: Store, batch: readonly CallRecord[]): Promise<void> {
  await store.transactionOnCalls(async (tx) => await calls.insert(tx, batch))
}

function callOf(organizationId: OrganizationId, at: number): CallRecord {
  return {
    ...{ id: createId('req', at), at, organizationId },
    ...{ keyId: createId('key'), targetId, method: 'GET', path: '/x' },
    ...{ status: 200, refusal: undefined, stoppedAt: undefined, ruleId: undefined },
    ...{ trialRuleId: undefined, bytesIn: 1, bytesOut: 2, durationUs: 3, upstreamUs: undefined },
    ...{ address: '192.0.2.1', agent: undefined, capture: undefined },
  }
}
