import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { DueDelivery, EndpointRecord } from '../../store/index.ts'
import { freshHealth } from './endpoint-health.ts'
import { Lane } from './lane.ts'
import type { DeliveryWork } from './work.ts'

describe('the rate of an endpoint', () => {
  test("allows one second's worth of deliveries at once, and then one at a time, exactly at the rate", async () => {
    const world = laneWithRate(20)
    world.publish(40)
    await world.pass(2000)
    const atOnce = Array.from({ length: 20 }, () => 0)
    const later = Array.from({ length: 20 }, (_, index) => (index + 1) * 50)
    assert.deepEqual(world.sentAt, [...atOnce, ...later])
  })

  test("accumulates at most one second's worth of deliveries", async () => {
    const world = laneWithRate(20)
    world.publish(20)
    await world.pass(60_000)
    world.publish(22)
    await world.pass(100)
    const second = world.sentAt.slice(20).map((at) => at - 60_000)
    assert.deepEqual(second, [...Array.from({ length: 20 }, () => 0), 50, 100])
  })

  test('holds even when something new is published every few milliseconds', async () => {
    const world = laneWithRate(20)
    for (let at = 0; at < 2000; at += 7) {
      world.publish(1)
      await world.pass(7)
    }
    const early = world.sentAt.slice(20).filter((at, index) => at < (index + 1) * 50)
    assert.deepEqual(early, [])
    assert.ok(world.sentAt.length >= 59, `${world.sentAt.length} sent`)
  })

  test('never sends a delivery early when the interval is not a whole number of milliseconds', async () => {
    const world = laneWithRate(3)
    world.publish(9)
    await world.pass(3000)
    assert.deepEqual(world.sentAt.slice(0, 3), [0, 0, 0])
    const later = world.sentAt.slice(3)
    assert.equal(later.length, 6)
    for (const [index, at] of later.entries()) {
      const wantedAt = ((index + 1) * 1000) / 3
      // Timers have whole milliseconds, and rounding the tokens can cost one more.
      assert.ok(at >= wantedAt && at < wantedAt + 2, `${at} ms instead of ${wantedAt}`)
    }
  })
})

/** A lane whose requests end at once, and a clock that the test moves. */
function laneWithRate(ratePerSecond: number) {
  let monotonic = 0
  let timer: { at: number; call: () => void } | undefined
  let published = 0
  const waiting: DueDelivery[] = []
  const sentAt: number[] = []
  const endpoint = { id: 'ep_1', ordered: false, ratePerSecond, health: freshHealth }
  const work = {
    load: async () => await Promise.resolve({ deliveries: waiting.splice(0), exhausted: true }),
    nextDueAt: async () => await Promise.resolve(undefined),
  }
  const lane = new Lane(
    {
      endpoint: endpoint as unknown as EndpointRecord,
      prepared: { url: 'https://receiver.example/', headers: {}, signer: { sign: () => ({}) } },
      leaseEndsAt: Infinity,
    },
    {
      work: work as unknown as DeliveryWork,
      clock: { now: () => monotonic, monotonic: () => monotonic },
      after(ms, call) {
        const started = { at: monotonic + ms, call }
        timer = started
        return () => void (timer = timer === started ? undefined : timer)
      },
      onError(error) {
        throw error
      },
      sender: {
        isStopped: false,
        underWay: () => new Set(),
        unwrittenOf: () => 0,
        hasPlace: () => true,
        start: () => void sentAt.push(monotonic),
      },
    },
  )

  function publish(count: number): void {
    for (let left = count; left > 0; left--) {
      published += 1
      waiting.push({ id: `dlv_${published}`, dueAt: 0 } as unknown as DueDelivery)
    }
    lane.wake()
  }

  async function pass(ms: number): Promise<void> {
    const end = monotonic + ms
    for (;;) {
      // Lets everything run that can run without time passing.
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
      const next = timer
      if (!next || next.at > end) break
      timer = undefined
      monotonic = next.at
      next.call()
    }
    monotonic = end
  }

  return { publish, pass, sentAt }
}
