import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { countsOf, createTraffic, type Traffic } from '../../src/calls/index.ts'
import { createId } from '../../src/ids.ts'
import { Organizations } from '../../src/organizations/index.ts'
import {
  callCounts,
  calls,
  callTimes,
  type CallFilter,
  type CallRecord,
} from '../../src/store/index.ts'
import { engines, steadyClock, storeForTests, unhurried, type TestStore } from '../harness/store.ts'

const minuteMs = 60_000
const keyIds = [createId('key'), createId('key')] as const
const targetIds = [createId('tgt'), createId('tgt')] as const
const paths = ['/echo/orders/7', '/echo/Invoices', '/llm/orders', '/llm/v1/chat'] as const

for (const engine of engines) {
  describe(`charts of calls on ${engine}`, () => {
    const clock = steadyClock()
    const from = Math.floor(clock.now() / minuteMs) * minuteMs - 10 * minuteMs
    const range = { from, to: from + 10 * minuteMs, stepMs: minuteMs }
    let place: TestStore
    let organizationId: CallRecord['organizationId']
    let traffic: Traffic
    let all: CallRecord[]
    before(async () => {
      place = await storeForTests(engine, clock)
      const { store } = place
      const actor = { kind: 'operator' } as const
      const made = await new Organizations({ store }).create({ slug: 'acme' }, actor)
      organizationId = made.id
      traffic = createTraffic({ store, clock: unhurried(clock) })
      all = Array.from({ length: 600 }, (_, index) => callAt(from + index * 1000, index))
      await store.transactionOnCalls(async (tx) => {
        await calls.insert(tx, all)
        await callCounts.add(tx, countsOf(all))
      })
    })
    after(async () => await place[Symbol.asyncDispose]())

    function callAt(at: number, index: number): CallRecord {
      const stoppedAt = [undefined, undefined, 'rules', undefined, 'forward'][index % 5]
      const status = [200, 503, 403, 404, 502][index % 5] ?? 200
      return {
        ...{ id: createId('req', at), at, organizationId, stoppedAt, status },
        ...{ keyId: keyIds[index % 2]!, targetId: targetIds[index % 2] },
        ...{ method: 'GET', path: `/api/v1/intercept${paths[index % 4]}` },
        refusal: stoppedAt === undefined ? undefined : 'code',
        ...{ ruleId: undefined, trialRuleId: undefined, bytesIn: 0, bytesOut: 0 },
        durationUs: (index * 7919) % 600_000,
        ...{ upstreamUs: index, address: `192.0.2.${index % 3}` },
        ...{ agent: undefined, capture: undefined },
      }
    }

    const filters: readonly (readonly [string, CallFilter, (call: CallRecord) => boolean])[] = [
      ['a key', { keyId: keyIds[0] }, (call) => call.keyId === keyIds[0]],
      [
        'what is refused',
        { outcome: 'refused', keyId: keyIds[1] },
        (call) => call.stoppedAt === 'rules' && call.keyId === keyIds[1],
      ],
      [
        'what the upstream failed at',
        { outcome: 'upstream_error', address: '192.0.2.1' },
        (call) => call.status >= 500 && call.address === '192.0.2.1',
      ],
      [
        'what was answered',
        { outcome: 'answered', method: 'GET' },
        (call) => call.stoppedAt === undefined && call.status < 500,
      ],
      ['a status', { statuses: [404, 405] }, (call) => call.status === 404],
      [
        'a path under any target',
        { words: { text: '/orders', keyIds: [] } },
        (call) => call.path.includes('/orders'),
      ],
      [
        'words in any case',
        { words: { text: 'invoices', keyIds: [] } },
        (call) => call.path.includes('Invoices'),
      ],
      [
        'a key by its name',
        { words: { text: 'zzz', keyIds: [keyIds[1]] } },
        (call) => call.keyId === keyIds[1],
      ],
      [
        'no part of the prefix of all paths',
        { words: { text: 'intercept', keyIds: [] } },
        () => false,
      ],
    ]

    for (const [what, filter, holds] of filters) {
      test(`by ${what}, the list and the chart tell of the same calls`, async () => {
        const wanted = all.filter(holds)
        const page = { ...filter, ...range, limit: 1000 }
        const listed = await calls.list(place.store.slowCallReads, organizationId, page)
        assert.deepEqual(
          listed.map(({ id }) => id),
          wanted.map(({ id }) => id).toReversed(),
        )
        const { points, latency } = await traffic.rollup(organizationId, { ...filter, ...range })
        const count = { passed: 0, errors: 0, refused: 0 }
        for (const point of points) {
          count.passed += point.passed
          count.errors += point.errors
          count.refused += point.refused
        }
        assert.deepEqual(count, {
          passed: wanted.filter((call) => !call.stoppedAt && call.status < 500).length,
          errors: wanted.filter((call) => call.status >= 500).length,
          refused: wanted.filter((call) => call.stoppedAt === 'rules').length,
        })
        const sorted = wanted.map((call) => call.durationUs).toSorted((a, b) => a - b)
        const at = (share: number) => sorted[Math.ceil((sorted.length * share) / 100) - 1]
        const told = latency && [latency.p50Ms, latency.p95Ms, latency.p99Ms]
        const expected = [50, 95, 99].map((share) => Math.round((at(share) ?? 0) / 100) / 10)
        assert.deepEqual(told, sorted.length === 0 ? undefined : expected)
      })
    }

    test('each step has its own percentiles, those of the upstream and of ourselves apart', async () => {
      const input = { ...range, keyId: keyIds[0], parts: true }
      const { points } = await traffic.rollup(organizationId, input)
      const [first] = points
      const within = all.filter((call) => call.keyId === keyIds[0] && call.at < from + minuteMs)
      const p95 = (values: number[]) =>
        Math.round(
          (values.toSorted((a, b) => a - b)[Math.ceil(values.length * 0.95) - 1] ?? 0) / 100,
        ) / 10
      assert.equal(first?.latency?.p95Ms, p95(within.map((call) => call.durationUs)))
      assert.equal(first?.upstreamP95Ms, p95(within.map((call) => call.upstreamUs ?? 0)))
      assert.equal(
        first?.ownP95Ms,
        p95(within.map((call) => call.durationUs - (call.upstreamUs ?? 0))),
      )
    })

    test('of too many calls the newest of each step stand for it', async () => {
      const of = { ...range, parts: ['all'] } as const
      const { slowCallReads } = place.store
      const found = await callTimes.sampledPercentiles(slowCallReads, organizationId, of)
      assert.deepEqual(
        found.map(({ step }) => step),
        [-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
      )
    })

    test('the top names the keys and targets with the most calls, and the codes of failures only', async () => {
      const top = await traffic.top(organizationId, { from, address: '192.0.2.0' }, 5)
      const of = all.filter((call) => call.address === '192.0.2.0')
      assert.equal(
        top.keys.reduce((sum, row) => sum + row.calls, 0),
        of.length,
      )
      assert.deepEqual(new Set(top.targets.map(({ id }) => id)), new Set<string>(targetIds))
      const failed = of.filter((call) => call.stoppedAt !== undefined || call.status >= 500)
      assert.equal(
        top.codes.reduce((sum, row) => sum + row.calls, 0),
        failed.length,
      )
      assert.deepEqual(top.codes.map(({ id }) => id).toSorted(), ['503', 'code'])
    })
  })
}
