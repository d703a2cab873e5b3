import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createRecorder, countsOf, createTraffic, type Traffic } from '../../src/calls/index.ts'
import { forgetCalls } from '../../src/calls/forget-calls.ts'
import { createId } from '../../src/ids.ts'
import { digestBytes } from '../../src/secrets/index.ts'
import {
  callCounts,
  calls,
  callSearch,
  type CallFilter,
  type CallRecord,
  type Store,
} from '../../src/store/index.ts'
import { createMetrics } from '../../src/telemetry/index.ts'
import { engines, steadyClock, storeForTests, unhurried, type TestStore } from '../harness/store.ts'

const quarterMs = 900_000
const hourMs = 3_600_000
const dayMs = 24 * hourMs
const keyIds = [createId('key'), createId('key'), createId('key')] as const
const targetIds = [createId('tgt'), createId('tgt')] as const
const secret = { digest: digestBytes('x'), isOldSecret: false }

function callAt(organizationId: CallRecord['organizationId'], at: number, index: number) {
  const stoppedAt = [undefined, undefined, 'rules', undefined, 'forward'][index % 5]
  const status = [200, 503, 403, 404, 502][index % 5] ?? 200
  const refusal = { rules: 'rule_denied', forward: 'upstream_timeout' }[stoppedAt ?? '']
  const call: CallRecord = {
    ...{ id: createId('req', at), at, organizationId, stoppedAt, status, refusal },
    keyId: keyIds[index % 3]!,
    targetId: index % 7 === 0 ? undefined : targetIds[index % 2],
    ...{ method: 'GET', path: '/api/v1/intercept/echo/x' },
    ...{ ruleId: undefined, trialRuleId: undefined, bytesIn: 0, bytesOut: 0 },
    durationUs: 200 + ((index * 7919) % 600_000),
    ...{ upstreamUs: index, address: '192.0.2.1', agent: undefined, capture: undefined },
  }
  return call
}

async function write(store: Store, all: readonly CallRecord[], isKept = true): Promise<void> {
  await store.transactionOnCalls(async (tx) => {
    if (isKept) await calls.insert(tx, all)
    await callCounts.add(tx, countsOf(all))
  })
}

for (const engine of engines) {
  describe(`counts of calls on ${engine}`, () => {
    const clock = steadyClock()
    const midnight = Math.floor(clock.now() / dayMs) * dayMs
    // Two whole days, with a part of a day before and after.
    const from = midnight - 3 * dayMs - 5 * hourMs
    const to = midnight - dayMs + 7 * hourMs
    let place: TestStore
    let organizationId: CallRecord['organizationId']
    let traffic: Traffic
    let all: CallRecord[]
    before(async () => {
      place = await storeForTests(engine, clock)
      organizationId = createId('org')
      traffic = createTraffic({ store: place.store, clock: unhurried(clock) })
      const stepMs = Math.floor((to - from) / 900)
      all = Array.from({ length: 900 }, (_, index) =>
        callAt(organizationId, from + index * stepMs, index),
      )
      await write(place.store, all)
      await write(place.store, [callAt(createId('org'), from, 0)])
    })
    after(async () => await place[Symbol.asyncDispose]())

    const filters: readonly (readonly [string, CallFilter, (call: CallRecord) => boolean])[] = [
      ['nothing', {}, () => true],
      ['a key', { keyId: keyIds[0] }, (call) => call.keyId === keyIds[0]],
      ['a target', { targetId: targetIds[1] }, (call) => call.targetId === targetIds[1]],
      ['a check', { stoppedAt: 'rules' }, (call) => call.stoppedAt === 'rules'],
      ['a status', { statuses: [404, 405] }, (call) => call.status === 404],
      [
        'failures of a key',
        { keyId: keyIds[1], outcome: 'upstream_error' },
        (call) => call.keyId === keyIds[1] && call.status >= 500,
      ],
      [
        'refusals of a target',
        { targetId: targetIds[0], outcome: 'refused' },
        (call) => call.targetId === targetIds[0] && call.stoppedAt === 'rules',
      ],
      [
        'a key at a target',
        { keyId: keyIds[1], targetId: targetIds[1] },
        (call) => call.keyId === keyIds[1] && call.targetId === targetIds[1],
      ],
    ]
    for (const [what, filter, holds] of filters) {
      test(`by ${what}, each step counts its calls by how they ended`, async () => {
        const range = { from, to, stepMs: 2 * hourMs }
        const { points, answered } = await traffic.rollup(organizationId, { ...filter, ...range })
        for (const point of points) {
          const within = all.filter(
            (call) => holds(call) && call.at >= point.at && call.at < point.at + range.stepMs,
          )
          const { passed, errors, refused } = point
          assert.deepEqual(
            { passed, errors, refused },
            {
              passed: within.filter((call) => !call.stoppedAt && call.status < 500).length,
              errors: within.filter((call) => call.status >= 500).length,
              refused: within.filter((call) => call.stoppedAt === 'rules').length,
            },
          )
        }
        assert.equal(answered, all.filter((call) => holds(call) && !call.stoppedAt).length)
      })
    }

    test('a range that begins within a quarter of an hour begins with that quarter', async () => {
      const range = { from: from + 60_000, to: to - 60_000, stepMs: 3 * hourMs }
      const { points } = await traffic.rollup(organizationId, range)
      assert.equal(points[0]?.at, from)
      const sum = points.reduce(
        (n, { passed, errors, refused }) => n + passed + errors + refused,
        0,
      )
      assert.equal(sum, all.length)
    })

    test('an hour and the one before it count the same under steady traffic, wherever they begin', async () => {
      const steady = createId('org')
      const start = from + 7 * 60_000
      const some = Array.from({ length: 180 }, (_, index) => ({
        ...callAt(steady, start - hourMs + index * 60_000, index),
        keyId: keyIds[0],
        targetId: targetIds[0],
      }))
      await write(place.store, some)
      const [keyId, targetId] = [keyIds[0], targetIds[0]]
      for (const filter of [{}, { targetId }, { keyId }, { outcome: 'refused' }] as const) {
        const told = filter.outcome === undefined ? 60 : 12
        const hours = [
          { from: start + hourMs, to: start + 2 * hourMs, stepMs: 60_000 },
          { from: start, to: start + hourMs, stepMs: hourMs },
        ]
        for (const hour of hours) {
          const { points } = await traffic.rollup(steady, { ...filter, ...hour })
          assert.equal(points[0]?.at, hour.from)
          const sums = points.map(({ passed, errors, refused }) => passed + errors + refused)
          assert.equal(
            sums.reduce((all, one) => all + one, 0),
            told,
            JSON.stringify({ filter, hour }),
          )
          const top = await traffic.top(steady, { ...filter, from: hour.from, to: hour.to }, 5)
          assert.deepEqual([top.keys[0]?.calls, top.targets[0]?.calls], [told, told])
          const broken = { ...filter, from: hour.from + 1, to: hour.to - 59_000 }
          const fewer = await traffic.top(steady, broken, 5)
          assert.ok(told - (fewer.keys[0]?.calls ?? 0) <= 1)
        }
      }
    })

    test('the top over whole and broken days is that of the calls, by key, target and code', async () => {
      const top = await traffic.top(organizationId, { from, to }, 10)
      const isError = (call: CallRecord) => call.status >= 500
      const isRefused = (call: CallRecord) => call.stoppedAt === 'rules'
      const counted = (nameOf: (call: CallRecord) => string | undefined) => {
        const names = new Set(all.map(nameOf).filter((name) => name !== undefined))
        const rows = [...names].map((id) => {
          const of = all.filter((call) => nameOf(call) === id)
          const [refused, errors] = [of.filter(isRefused).length, of.filter(isError).length]
          return { id, calls: of.length, refused, errors }
        })
        return rows.toSorted((a, b) => b.calls - a.calls || (a.id < b.id ? -1 : 1))
      }
      assert.deepEqual(
        top.keys,
        counted(({ keyId }) => keyId),
      )
      assert.deepEqual(
        top.targets,
        counted(({ targetId }) => targetId),
      )
      const codeOf = (call: CallRecord) =>
        isError(call) || isRefused(call) ? (call.refusal ?? String(call.status)) : undefined
      assert.deepEqual(top.codes, counted(codeOf))
      const refusedOnly = await traffic.top(organizationId, { from, to, outcome: 'refused' }, 10)
      assert.deepEqual(
        refusedOnly.codes.map(({ id }) => id),
        ['rule_denied'],
      )
    })

    test('where no records are kept, counts tell of calls and of how long they took within a fifth', async () => {
      const unkept = createId('org')
      const some = Array.from({ length: 400 }, (_, index) => callAt(unkept, from + index, index))
      await write(place.store, some, false)
      const range = { from, to: from + quarterMs, stepMs: quarterMs }
      const { points, latency, sampled } = await traffic.rollup(unkept, range)
      assert.equal(points[0]?.passed, 160)
      assert.equal(sampled, true)
      const sorted = some.map(({ durationUs }) => durationUs / 1000).toSorted((a, b) => a - b)
      for (const [share, told] of [
        [0.5, latency?.p50Ms],
        [0.95, latency?.p95Ms],
        [0.99, latency?.p99Ms],
      ] as const) {
        const exact = sorted[Math.ceil(sorted.length * share) - 1] ?? 0
        assert.ok(Math.abs((told ?? 0) / exact - 1) < 0.2, `${share}: ${told} for ${exact}`)
      }
    })

    test('the top of more calls than there is time to read comes from the counts', async () => {
      const busy = createId('org')
      const recent = clock.now() - (clock.now() % quarterMs)
      const many = Array.from({ length: 2500 }, (_, index) => callAt(busy, recent - index, index))
      await write(place.store, many)
      let monotonicMs = 0
      const hurried = createTraffic({
        store: place.store,
        clock: { ...clock, now: () => clock.now(), monotonic: () => (monotonicMs += 10_000) },
      })
      const range = { from: recent - 60_000, to: recent + 60_000 }
      const top = await hurried.top(busy, range, 5)
      assert.equal(top.searchedBackTo, undefined)
      assert.equal(
        top.keys.reduce((sum, key) => sum + key.calls, 0),
        2500,
      )
      const narrow = await hurried.top(busy, { ...range, method: 'GET' }, 5)
      assert.notEqual(narrow.searchedBackTo, undefined)
    })

    test('where only refused calls are kept, they are not taken for all', async () => {
      const partly = createId('org')
      const some = Array.from({ length: 400 }, (_, index) => ({
        ...callAt(partly, from + index, index),
        durationUs: index % 5 === 2 ? 300 : 90_000,
      }))
      await place.store.transactionOnCalls(async (tx) => {
        await calls.insert(
          tx,
          some.filter(({ stoppedAt }) => stoppedAt === 'rules'),
        )
        await callCounts.add(tx, countsOf(some))
      })
      const range = { from, to: from + quarterMs, stepMs: quarterMs }
      const all = await traffic.rollup(partly, range)
      assert.equal(all.sampled, true)
      assert.ok(Math.abs((all.latency?.p50Ms ?? 0) / 90 - 1) < 0.2, `${all.latency?.p50Ms}`)
      const refused = await traffic.rollup(partly, { ...range, outcome: 'refused' })
      assert.equal(refused.sampled, false)
      assert.equal(refused.latency?.p50Ms, 0.3)
      const top = await traffic.top(partly, { from: from - 60_000, to: from + 60_000 }, 5)
      assert.equal(
        top.keys.reduce((sum, key) => sum + key.calls, 0),
        400,
      )
      const byMinutes = { ...range, stepMs: 60_000 }
      assert.equal((await traffic.rollup(partly, byMinutes)).sampled, true)
      const refusedByMinutes = await traffic.rollup(partly, { ...byMinutes, outcome: 'refused' })
      assert.equal(refusedByMinutes.sampled, false)
    })

    test('a range that ends within a minute is timed by all of its calls', async () => {
      const kept = createId('org')
      await write(place.store, [callAt(kept, from, 0), callAt(kept, from + 30_000, 0)])
      const range = { from, to: from + 15_000, stepMs: 60_000 }
      const { answered, sampled } = await traffic.rollup(kept, range)
      assert.deepEqual({ answered, sampled }, { answered: 2, sampled: false })
    })

    test('the hours of targets are those of the day that ends with this quarter of an hour', async () => {
      const recent = createId('org')
      const now = clock.now()
      await write(place.store, [
        { ...callAt(recent, now, 1), targetId: targetIds[0] },
        { ...callAt(recent, now - 23 * hourMs, 2), targetId: targetIds[0] },
        { ...callAt(recent, now - 25 * hourMs, 2), targetId: targetIds[0] },
      ])
      const hours = (await traffic.hoursOfTargets(recent)).get(targetIds[0])
      assert.equal(
        hours?.calls.reduce((sum, count) => sum + count, 0),
        2,
      )
      assert.equal(hours?.failed.at(-1), 1)
      const day = (await traffic.ofTargets(recent)).get(targetIds[0])
      assert.deepEqual(day, { calls24h: 2, refused24h: 1, recent: { calls: 1, errors: 1 } })
    })

    test('a condition that counts lack is answered from a bounded number of records, and the place where reading stopped is returned', async () => {
      const read: number[] = []
      const filter = {
        method: 'GET',
        onCalls: (calls: readonly unknown[]) => read.push(calls.length),
      }
      const { slowCallReads } = place.store
      const whole = await callSearch.readBack(slowCallReads, organizationId, filter)
      assert.equal(whole, undefined)
      assert.deepEqual(read.splice(0), [900])
      const bounded = { ...filter, maxExamined: 300 }
      const end = await callSearch.readBack(slowCallReads, organizationId, bounded)
      assert.equal(end, all[600]?.id)
      assert.deepEqual(read, [300])
    })

    test('a batch whose commit came back as an error is not counted twice', async () => {
      const counted = createId('org')
      let isLost = true
      const store: Store = {
        ...place.store,
        insertCalls: async (rows, counts) => {
          await place.store.insertCalls(rows, counts)
          if (!isLost) return
          isLost = false
          throw new Error('the answer was lost')
        },
      }
      await using recorder = createRecorder({
        ...{ store, clock, metrics: createMetrics(), log: { error: () => undefined } },
        alsoFlush: {},
      })
      for (let at = 0; at < 10; at++) {
        recorder.record(callAt(counted, clock.now(), at), secret, 'all')
      }
      await assert.rejects(recorder.flush(), /lost/)
      recorder.record(callAt(counted, clock.now(), 10), secret, 'all')
      await recorder.flush()
      await recorder.flush()
      const whole = { subject: '', from: 0, to: clock.now() + quarterMs }
      assert.equal(await callCounts.countAll(store.calls, counted, whole), 11)
      const kept = await calls.list(store.calls, counted, { limit: 100 })
      assert.equal(kept.length, 11)
    })

    test('retention takes the counts of days that are over, and no others', async () => {
      const kept = createId('org')
      const days = [-40, -31, -30, -1].map((day) => midnight + day * dayMs)
      await write(
        place.store,
        days.flatMap((day) => [callAt(kept, day, 1), callAt(kept, day + dayMs - 1, 2)]),
      )
      await forgetCalls(place.store, midnight - 30 * dayMs + hourMs)
      const { query } = place.store.calls
      for (const [table, time] of [
        ['call_day', 'day'],
        ['call_quarter', 'quarter'],
        ['call_minute', 'minute'],
      ] as const) {
        const rows = await query
          .selectFrom(table)
          .select(time as 'organization_id')
          .where('organization_id', '=', kept)
          .execute()
        const times = rows.map((row) => Number(Object.values(row)[0]))
        assert.ok(times.length > 0)
        assert.ok(Math.min(...times) >= midnight - 30 * dayMs, table)
      }
      const whole = { subject: '', from: 0, to: clock.now() + quarterMs }
      assert.equal(await callCounts.countAll(place.store.calls, kept, whole), 4)
    })
  })
}
