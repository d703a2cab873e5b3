import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { DueDelivery, EndpointRecord } from '../../store/index.ts'
import { Dispatcher } from './dispatcher.ts'
import { freshHealth, type EndpointHealth } from './endpoint-health.ts'
import type { PreparedEndpoint, SendResult } from './send.ts'
import type { DeliveryWork } from './work.ts'

const hourMs = 3_600_000

describe('leases that change while something is on its way', () => {
  test('a success counts although its lease ran out and was taken anew while it was written', async () => {
    const world = await worldThatFailedOnce()
    world.statusNow = 204
    const leaseKnown = world.hold('lease', 'answer')
    world.wall += hourMs
    await world.pass(1200)
    assert.deepEqual(world.calls.filter((call) => call !== 'load').slice(-2), [
      'complete 1',
      'lost 1',
    ])
    assert.equal(world.row.health.failures, 1)
    leaseKnown()
    await world.pass(0)
    assert.equal(world.row.health.failures, 0)
    assert.equal(world.dispatcher.state().lanes, 1)
  })

  test('a lease that is given back late leaves the one that was taken since', async () => {
    const world = await worldThatFailedOnce()
    world.statusNow = 204
    world.wall += hourMs
    await world.pass(2000)
    assert.equal(world.row.health.failures, 0)
    const releaseArrives = world.hold('release', 'way')
    await world.pass(10_000)
    assert.equal(world.dispatcher.state().lanes, 0, 'idle')
    world.wall += hourMs
    const answers = world.hold('send', 'answer')
    world.statusNow = 500
    world.publish()
    await world.pass(0)
    assert.equal(world.dispatcher.state().sending, 1)
    releaseArrives()
    await world.pass(0)
    assert.equal(world.row.held, true)
    answers()
    await world.pass(0)
    assert.equal(world.row.health.failures, 1)
  })

  test('the late end of an older lease closes no lane under a newer one', async () => {
    const world = await worldThatFailedOnce()
    world.statusNow = 204
    const renewalKnown = world.hold('renew', 'answer')
    const renewalArrives = world.hold('renew', 'way')
    await world.pass(3000)
    const leaseArrives = world.hold('lease', 'way')
    world.wall += hourMs
    world.dispatcher.forget('org_1')
    await world.pass(0)
    renewalArrives()
    await world.pass(0)
    const answers = world.hold('send', 'answer')
    leaseArrives()
    await world.pass(0)
    assert.equal(world.dispatcher.state().sending, 1)
    renewalKnown()
    await world.pass(0)
    answers()
    await world.pass(0)
    assert.equal(world.row.health.failures, 0)
  })

  test('what changed while a lane was being prepared is prepared again before anything is sent', async () => {
    const world = createWorld()
    const prepared = world.hold('prepare', 'answer')
    world.publish()
    await world.pass(0)
    world.url = 'https://after.example/'
    world.dispatcher.forget('org_1')
    prepared()
    await world.pass(2000)
    assert.deepEqual(world.sentTo, ['https://after.example/'])
  })

  test('health that somebody decided by hand is not written over with what a lane believed before', async () => {
    const world = await worldThatFailedOnce()
    // Another node enabled the endpoint; this one has not heard of it yet.
    Object.assign(world.row, { health: freshHealth, held: false, token: world.row.token + 1 })
    const answers = world.hold('send', 'answer')
    world.wall += hourMs
    await world.pass(1200)
    assert.equal(world.dispatcher.state().sending, 1)
    answers()
    await world.pass(0)
    assert.equal(world.row.health.failures, 1)
  })
})

describe('a lane that can do nothing now', { timeout: 20_000 }, () => {
  test('an ordered endpoint that waits for its next attempt asks the database no more', async () => {
    const world = await worldThatFailedOnce({ ordered: true })
    world.calls.length = 0
    await world.pass(1200)
    assert.ok(count(world.calls, 'load') <= 3, `${count(world.calls, 'load')} loads`)
    world.statusNow = 204
    await world.pass(4000)
    assert.equal(world.row.health.failures, 0, 'sent when it was due')
  })

  test('a database that cannot be read is asked again a little later, not at once', async () => {
    const world = await worldThatFailedOnce()
    world.statusNow = 204
    world.readable = false
    await world.pass(5000)
    world.calls.length = 0
    await world.pass(1000)
    const loads = count(world.calls, 'load')
    assert.ok(loads >= 3 && loads <= 10, `${loads} loads`)
    world.readable = true
    await world.pass(300)
    assert.equal(world.row.health.failures, 0)
  })

  test('a delivery whose event is gone is not asked for without end', async () => {
    const world = createWorld({ ordered: true })
    world.bodiesAreGone = true
    world.publish()
    await world.pass(1200)
    assert.ok(count(world.calls, 'load') <= 6, `${count(world.calls, 'load')} loads`)
  })
})

describe('a receiver that says when it takes more', { timeout: 20_000 }, () => {
  test('a long pause keeps no lane from others, and nothing is sent until it ends', async () => {
    const world = createWorld()
    Object.assign(world, { statusNow: 429, retryAfterMs: 300_000 })
    world.publish()
    await world.pass(0)
    assert.equal(world.sentTo.length, 1)
    await world.pass(4000)
    assert.equal(world.dispatcher.state().lanes, 0)
    world.publish()
    await world.pass(290_000)
    assert.equal(world.sentTo.length, 1)
    world.statusNow = 204
    await world.pass(10_000)
    assert.equal(world.sentTo.length, 3)
  })

  test('a stop keeps the pause for the node that comes next', async () => {
    const world = createWorld()
    Object.assign(world, { statusNow: 429, retryAfterMs: 3000 })
    world.publish()
    await world.pass(0)
    void world.dispatcher.stop(0)
    await world.pass(0)
    assert.deepEqual([world.row.held, world.row.until - world.wall], [true, 3000])
  })

  test('one that asks for no time at all but accepts nothing is asked less and less often', async () => {
    const world = createWorld()
    Object.assign(world, { statusNow: 429, retryAfterMs: 0 })
    world.publish()
    await world.pass(120_000)
    const sent = world.sentTo.length
    assert.ok(sent > 20 && sent < 100, `${sent} attempts`)
    await world.pass(1_200_000)
    assert.ok(world.sentTo.length < sent + 60, `${world.sentTo.length - sent} attempts`)
    world.statusNow = 204
    await world.pass(62_000)
    assert.equal(world.row.health.failingSince, undefined, 'accepted')
  })

  for (const waitMs of [30_000, 300_000]) {
    test(`a delivery that waits alone for ${waitMs / 1000} s is not sent earlier because its lane was idle`, async () => {
      const world = createWorld()
      world.statusNow = 204
      world.publish()
      await world.pass(0)
      Object.assign(world, { statusNow: 429, retryAfterMs: waitMs })
      world.publish()
      await world.pass(0)
      assert.equal(world.sentTo.length, 2)
      await world.pass(waitMs - 1000)
      assert.equal(world.sentTo.length, 2)
      await world.pass(4000)
      assert.ok(world.sentTo.length > 2)
    })
  }
})

test('a node that has leased nothing for 20 seconds searches for endpoints less than half as often, until it leases one', async () => {
  const world = createWorld()
  const searchesIn = async (ms: number): Promise<number> => {
    const before = world.searches
    await world.pass(ms)
    return world.searches - before
  }
  await world.pass(500)
  assert.equal(await searchesIn(20_000), 20)
  await world.pass(10_000)
  assert.ok([22, 23].includes(await searchesIn(60_000)))
  world.statusNow = 204
  world.publish()
  await world.pass(3000)
  assert.equal(await searchesIn(15_000), 15)
  await world.pass(10_000)
  assert.ok([22, 23].includes(await searchesIn(60_000)))
})

function count(calls: readonly string[], name: string): number {
  return calls.filter((call) => call === name).length
}

type Call = keyof DeliveryWork | 'send' | 'prepare'

/** One endpoint with its receiver, a database, and a clock that the test moves. */
function createWorld({ ordered = false } = {}) {
  let monotonic = 0
  let timers: { at: number; call: () => void }[] = []
  const gates = new Map<string, Promise<void>>()
  const waiting: DueDelivery[] = []
  const world = {
    wall: 1_800_000_000_000,
    statusNow: 500,
    retryAfterMs: undefined as number | undefined,
    url: 'https://before.example/',
    sentTo: [] as string[],
    calls: [] as string[],
    /** How often the node has searched for endpoints to lease. */
    searches: 0,
    readable: true,
    bodiesAreGone: false,
    row: { token: 0, held: false, until: 0, health: freshHealth },
    /**
     * Delays the next call of a kind, before it arrives or before its response; returns a function that lets it
     * continue.
     */
    hold(call: Call, where: 'way' | 'answer'): () => void {
      const gate = Promise.withResolvers<void>()
      gates.set(`${call} ${where}`, gate.promise)
      return gate.resolve
    },
    async pass(ms: number): Promise<void> {
      const end = monotonic + ms
      for (;;) {
        // Lets everything run that can run without time passing.
        for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
        const [next] = timers.toSorted((a, b) => a.at - b.at)
        if (!next || next.at > end) break
        timers = timers.filter((timer) => timer !== next)
        world.wall += next.at - monotonic
        monotonic = next.at
        next.call()
      }
      world.wall += end - monotonic
      monotonic = end
    },
  }

  async function through<T>(call: Call, effect: () => T): Promise<T> {
    await gateOf(`${call} way`)
    const result = effect()
    await gateOf(`${call} answer`)
    return result
  }

  async function gateOf(name: string): Promise<void> {
    const gate = gates.get(name)
    gates.delete(name)
    await gate
  }

  function workOf(): DeliveryWork {
    const isUnder = ({ leaseToken }: { leaseToken: number }): boolean =>
      world.row.held && world.row.token === leaseToken
    const due = (): DueDelivery[] => waiting.filter(({ dueAt }) => dueAt <= world.wall)
    return {
      lease: async ({ ttlMs }) =>
        await through('lease', () => {
          world.searches += 1
          const { row, wall } = world
          if ((row.held && row.until >= wall) || due().length === 0) return []
          Object.assign(row, { token: row.token + 1, held: true, until: wall + ttlMs })
          return [endpointOf(row, ordered)]
        }),
      renew: async ({ leases, ttlMs }) =>
        await through('renew', () => {
          const kept = leases.filter(isUnder)
          if (kept.length > 0) world.row.until = world.wall + ttlMs
          return new Set(kept.map(({ id }) => id))
        }),
      release: async (leases) =>
        await through('release', () => {
          const ended = leases.find(isUnder)
          if (!ended) return
          Object.assign(world.row, { held: ended.restMs > 0, until: world.wall + ended.restMs })
        }),
      load: async (_endpoint, { limit, order, except }) => {
        world.calls.push('load')
        // Yields to the event loop, so that repeated calls cannot starve it.
        await new Promise((resolve) => setImmediate(resolve))
        return await through('load', () => {
          if (!world.readable) throw new Error('the disk cannot be read')
          const most = limit + except.size
          const found = (order === 'ordered' ? waiting : due()).slice(0, most)
          const fresh = found.filter(({ id }) => !except.has(id)).slice(0, limit)
          return { deliveries: world.bodiesAreGone ? [] : fresh, exhausted: found.length < most }
        })
      },
      nextDueAt: async () => await through('nextDueAt', () => waiting[0]?.dueAt),
      complete: async ({ outcomes, healths }) =>
        await through('complete', () => {
          for (const { state, dueAt, delivery } of outcomes) {
            const at = waiting.findIndex(({ id }) => id === delivery.id)
            if (state === 'pending') waiting[at] = { ...waiting[at]!, dueAt }
            else waiting.splice(at, 1)
          }
          const lost = new Set<string>()
          for (const { endpoint, health } of healths) {
            const isLost = endpoint.leaseToken !== world.row.token
            world.calls.push(`complete ${endpoint.leaseToken}`)
            if (isLost) world.calls.push(`lost ${endpoint.leaseToken}`)
            if (isLost) lost.add(endpoint.id)
            else world.row.health = health
          }
          return lost
        }),
    }
  }
  const dispatcher = new Dispatcher({
    work: workOf(),
    clock: { now: () => world.wall, monotonic: () => monotonic },
    random: () => 0.5,
    after(ms, call) {
      const timer = { at: monotonic + ms, call }
      timers.push(timer)
      return () => void (timers = timers.filter((other) => other !== timer))
    },
    async prepare(): Promise<PreparedEndpoint> {
      const { url } = world
      return await through('prepare', () => ({ url, headers: {}, signer: { sign: () => ({}) } }))
    },
    send: async ({ url }) =>
      await through('send', () => {
        world.sentTo.push(url)
        return resultOf(world.wall, world.statusNow, world.retryAfterMs)
      }),
    onError(error) {
      if (world.readable) throw error
    },
  })

  function publish(): void {
    const id = `dlv_${world.calls.length}`
    waiting.push({
      ...{ id, organizationId: 'org_1', endpointId: 'ep_1', eventId: 'evt_1', type: 'x.y' },
      ...{ eventSequence: 1, dueAt: world.wall, attempts: 0, attemptsEver: 0, version: 1 },
      ...{ createdAt: world.wall, body: Buffer.alloc(0) },
    })
    dispatcher.hint('org_1', ['ep_1'])
  }

  dispatcher.start()
  return Object.assign(world, { dispatcher, publish })
}

async function worldThatFailedOnce(input?: { ordered: boolean }) {
  const world = createWorld(input)
  await world.pass(0)
  world.publish()
  await world.pass(0)
  assert.equal(world.row.health.failures, 1)
  assert.equal(world.dispatcher.state().lanes, 1)
  return world
}

function endpointOf(
  row: { token: number; health: EndpointHealth },
  ordered: boolean,
): EndpointRecord {
  const endpoint = { id: 'ep_1', organizationId: 'org_1', ordered, version: 1 }
  return { ...endpoint, health: row.health, leaseToken: row.token } as EndpointRecord
}

function resultOf(startedAt: number, status: number, retryAfterMs: number | undefined): SendResult {
  const answer = { status, failure: undefined, body: undefined, truncated: false }
  return { startedAt, durationMs: 1, ...answer, retryAfterMs, asksToDisable: false }
}
