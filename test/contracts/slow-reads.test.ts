import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Keys } from '../../src/access/index.ts'
import { createAudit, record } from '../../src/audit/index.ts'
import { createTraffic } from '../../src/calls/index.ts'
import { createId } from '../../src/ids.ts'
import { Organizations } from '../../src/organizations/index.ts'
import { calls, type CallRecord, type Store } from '../../src/store/index.ts'
import { engines, steadyClock, storeForTests, unhurried, type TestStore } from '../harness/store.ts'

const actor = { kind: 'operator' } as const
const minuteMs = 60_000
const entries = 600

for (const engine of engines) {
  describe(`reads of many rows on ${engine}`, () => {
    const clock = steadyClock()
    const startMs = Math.floor(clock.now() / minuteMs) * minuteMs - 10 * minuteMs
    const keyId = createId('key')
    let place: TestStore
    let organizationId: CallRecord['organizationId']
    before(async () => {
      place = await storeForTests(engine, clock)
      const { store } = place
      const made = await new Organizations({ store }).create({ slug: 'acme' }, actor)
      organizationId = made.id
      const subject = { kind: 'organization', id: organizationId }
      await store.transaction(async (tx) => {
        for (let entry = 0; entry < entries; entry++) {
          record(tx, { organizationId, actor, action: 'target.edited', subject, detail: {} })
        }
      })
      await store.transactionOnCalls(async (tx) => await calls.insert(tx, tenMinutes()))
    })
    after(async () => await place[Symbol.asyncDispose]())

    /** Returns the records of ten minutes with one call per second; every third call was refused. */
    function tenMinutes(): CallRecord[] {
      return Array.from({ length: 600 }, (_, index) => callAt(startMs + index * 1000, index))
    }

    function callAt(at: number, index: number): CallRecord {
      const stoppedAt = index % 3 === 0 ? 'rules' : undefined
      return {
        ...{ id: createId('req', at), at, organizationId, keyId, stoppedAt },
        ...{ targetId: undefined, method: 'GET', path: '/x', status: 200, refusal: undefined },
        ...{ ruleId: undefined, trialRuleId: undefined, bytesIn: 0, bytesOut: 0 },
        ...{ durationUs: index, upstreamUs: undefined, address: '192.0.2.1' },
        ...{ agent: undefined, capture: undefined },
      }
    }

    /** Returns the store without the connections that serve calls: a read that uses them throws. */
    function storeOfSlowReads(): Store {
      const taken = {
        get query(): never {
          throw new Error('this read would hold up calls')
        },
      }
      const { store } = place
      const { engine: kind, slowCallReads, slowReads, feed } = store
      const rest = { engine: kind, slowCallReads, slowReads, feed, calls: taken }
      return Object.defineProperties(
        rest,
        Object.getOwnPropertyDescriptors(taken),
      ) as unknown as Store
    }

    test('others are served while somebody looks at charts, keys, the log or its chain', async () => {
      const store = storeOfSlowReads()
      const audit = createAudit({ store })
      const traffic = createTraffic({ store, clock })
      const keys = new Keys({ store, clock })
      const range = { from: startMs, to: startMs + 10 * minuteMs, stepMs: minuteMs }
      await traffic.rollup(organizationId, range)
      await traffic.rollup(organizationId, { ...range, keyId })
      await traffic.ofTargets(organizationId)
      await traffic.ofRules(organizationId)
      await keys.list(organizationId, { limit: 50 })
      await keys.names(organizationId, [keyId])
      await audit.list(organizationId, { limit: 50, action: 'none' })
      assert.equal((await audit.verify(organizationId)).entries, entries + 1)
      assert.equal(
        (await Array.fromAsync(audit.pages(organizationId, {}))).flat().length,
        entries + 1,
      )
    })

    test('the sums of a key are those of its calls, step by step', async () => {
      const traffic = createTraffic({ store: place.store, clock: unhurried(clock) })
      const range = { from: startMs, to: startMs + 10 * minuteMs, stepMs: 2 * minuteMs }
      const sums = await traffic.rollup(organizationId, { ...range, keyId })
      const step = { passed: 80, errors: 0, refused: 40 }
      const at = (index: number) => ({ at: startMs + index * 2 * minuteMs, ...step })
      const counts = sums.points.map(({ at: start, passed, errors, refused }) => ({
        ...{ at: start, passed, errors, refused },
      }))
      assert.deepEqual(counts, [0, 1, 2, 3, 4].map(at))
      assert.deepEqual(sums.refused, { rules: 200 })
      assert.equal(sums.answered, 400)
      const others = { ...range, keyId: createId('key') }
      assert.equal((await traffic.rollup(organizationId, others)).answered, 0)
    })

    test('a range of time finds exactly the calls within it', async () => {
      const page = { from: startMs + 60_000, to: startMs + 120_000, limit: 1000 }
      const found = await calls.list(place.store.slowCallReads, organizationId, page)
      assert.equal(found.length, 60)
      assert.equal(found.at(-1)?.at, page.from)
      assert.equal(found[0]?.at, page.to - 1000)
    })
  })
}
