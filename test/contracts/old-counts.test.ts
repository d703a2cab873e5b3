import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from 'kysely'
import { countsOf, createRecorder } from '../../src/calls/index.ts'
import { createId, type OrganizationId } from '../../src/ids.ts'
import { noCallRows, traffic, type Store } from '../../src/store/index.ts'
import { createMetrics } from '../../src/telemetry/index.ts'
import { dayMs } from '../../src/units.ts'
import { engines, steadyClock, storeForTests } from '../harness/store.ts'

async function datesIn(store: Store, table: string, column: string): Promise<number[]> {
  const { rows } = await sql<{ at: number }>`
    select ${sql.ref(column)} as at from ${sql.table(table)} order by 1`.execute(store.calls.query)
  return rows.map(({ at }) => at)
}

function claimOf(organizationId: OrganizationId, periodAt: number): traffic.QuotaClaim {
  const counts = { limit: 10, spent: 1, wanted: 0, returned: 0 }
  return { organizationId, subjectId: createId('key'), periodAt, ...counts }
}

for (const engine of engines) {
  describe(`old counts on ${engine}`, () => {
    test('of quotas and rules are deleted in time, however many there are', async () => {
      const clock = steadyClock()
      await using opened = await storeForTests(engine, clock)
      const { store } = opened
      const organizationId = createId('org')
      const today = clock.now() - (clock.now() % dayMs)
      const old = Array.from({ length: 1200 }, () => claimOf(organizationId, today - 70 * dayMs))
      const kept = [today, today - 31 * dayMs].map((at) => claimOf(organizationId, at))
      await store.transactionOnCalls(
        async (tx) => void (await traffic.claimQuotas(tx, [...old, ...kept])),
      )
      const calls = [0, 3, 40].map((days) => {
        const at = today - days * dayMs
        return {
          ...{ id: createId('req', at), at, organizationId, keyId: createId('key') },
          ...{ targetId: createId('tgt'), method: 'GET', path: '/x', status: 200 },
          ...{ refusal: undefined, stoppedAt: undefined, ruleId: createId('rul') },
          ...{ trialRuleId: undefined, bytesIn: 0, bytesOut: 0, durationUs: 1, upstreamUs: 1 },
          ...{ address: '192.0.2.1', agent: undefined, capture: undefined },
        }
      })
      await store.insertCalls(noCallRows, countsOf(calls))

      const log = { error: () => undefined }
      const deps = { store, clock, metrics: createMetrics(), log, alsoFlush: {} }
      await using recorder = createRecorder(deps)
      await recorder.forget(clock.now() - dayMs)
      assert.deepEqual(await datesIn(store, 'quota_use', 'period_at'), [today - 31 * dayMs, today])
      assert.deepEqual(await datesIn(store, 'rule_day', 'day_at'), [today - 3 * dayMs, today])
    })
  })
}
