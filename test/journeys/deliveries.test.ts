import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createId } from '../../src/ids.ts'
import { organizations } from '../../src/store/index.ts'
import { Replay } from '../../src/webhooks/delivery/replay.ts'
import { removeOld } from '../../src/webhooks/delivery/retention.ts'
import { engines } from '../harness/store.ts'
import { operator, webhooksForTests } from '../harness/webhooks.ts'

const dayMs = 24 * 3_600_000

for (const engine of engines) {
  describe(`deliveries on ${engine}`, { timeout: 120_000 }, () => {
    test('an ordered endpoint gets one at a time, in the order of events, whatever fails between', async () => {
      await using all = await webhooksForTests(engine)
      const { webhooks, organizationId, receiver, clock } = all
      let underWay = 0
      let most = 0
      let failures = 0
      const accepted: number[] = []
      receiver.answer = (response, { body }) => {
        underWay += 1
        most = Math.max(most, underWay)
        const { sequence } = JSON.parse(body.toString()) as { sequence: number }
        setImmediate(() => {
          underWay -= 1
          if (sequence % 10 === 5 && failures++ % 2 === 0) response.writeHead(500).end()
          else {
            accepted.push(sequence)
            response.writeHead(204).end()
          }
        })
      }
      const endpoint = { url: receiver.url, ordered: true }
      await webhooks.endpoints.create(organizationId, endpoint, operator)
      await all.publish(30)
      await all.until(async () => {
        await all.quiet()
        clock.forward(10_000)
        return (await all.books())['delivered'] === 30
      }, 'all delivered')
      assert.equal(most, 1)
      assert.deepEqual(
        accepted,
        accepted.toSorted((a, b) => a - b),
      )
      assert.equal(accepted.length, 30)
      assert.ok(failures >= 3)
    })

    test('an ordered endpoint with a rate keeps the order when one that waited for its turn fails', async () => {
      await using all = await webhooksForTests(engine)
      const { webhooks, organizationId, receiver, clock } = all
      const accepted: number[] = []
      let failed = false
      receiver.answer = (response, { body }) => {
        const { sequence } = JSON.parse(body.toString()) as { sequence: number }
        const fails = sequence === 4 && !failed
        failed ||= fails
        if (!fails) accepted.push(sequence)
        response.writeHead(fails ? 500 : 204).end()
      }
      const endpoint = { url: receiver.url, ordered: true, ratePerSecond: 3 }
      await webhooks.endpoints.create(organizationId, endpoint, operator)
      await all.publish(6)
      await all.until(async () => {
        if (failed) clock.forward(10_000)
        return (await all.books())['delivered'] === 6
      }, 'all delivered')
      assert.deepEqual(accepted, [1, 2, 3, 4, 5, 6])
    })

    test('the rate of an endpoint is kept', async () => {
      await using all = await webhooksForTests(engine)
      const { webhooks, organizationId, receiver } = all
      const endpoint = { url: receiver.url, ratePerSecond: 20 }
      await webhooks.endpoints.create(organizationId, endpoint, operator)
      const startedAt = Date.now()
      await all.publish(40)
      await all.until(async () => (await all.books())['delivered'] === 40, 'all delivered')
      const sent = await webhooks.deliveries.list(organizationId, { limit: 50 })
      const times = sent.map(({ lastAttemptAt }) => lastAttemptAt!).toSorted((a, b) => a - b)
      // Twenty may be sent at once, and then one every 50 ms; a busy machine only delays them. Rounding to milliseconds may
      // hide 1 ms.
      const early = times.slice(20).filter((at, index) => at - startedAt < (index + 1) * 50 - 1)
      assert.deepEqual(early, [])
    })

    test('no event and no secret of one organization reaches another', async () => {
      await using all = await webhooksForTests(engine)
      const { webhooks, organizationId, receiver, store } = all
      const otherId = createId('org')
      const other = { id: otherId, slug: 'other', name: 'Other', plan: 'standard' } as const
      await store.transaction(async (tx) => await organizations.insert(tx, other))
      const mine = await webhooks.endpoints.create(
        organizationId,
        { url: `${receiver.url}/mine` },
        operator,
      )
      await webhooks.endpoints.create(otherId, { url: `${receiver.url}/theirs` }, operator)
      await all.publish(3)
      await all.until(() => receiver.arrivals.length === 3, 'arrivals')
      await all.quiet()
      assert.ok(receiver.arrivals.every(({ path }) => path === '/mine'))
      const secrets = await Promise.all(
        [organizationId, otherId].map(async (id) =>
          (await webhooks.secrets.reveal(id, operator)).reveal(),
        ),
      )
      assert.notEqual(secrets[0], secrets[1])
      const [delivery] = await webhooks.deliveries.list(organizationId, { limit: 1 })
      assert.deepEqual(await webhooks.deliveries.list(otherId, { limit: 10 }), [])
      assert.equal(await webhooks.deliveries.find(otherId, delivery!.id), undefined)
      assert.deepEqual(await webhooks.deliveries.attempts(otherId, delivery!.id), [])
      assert.equal(await webhooks.events.find(otherId, delivery!.eventId), undefined)
      await assert.rejects(webhooks.replay.one(otherId, delivery!.id, operator), {
        code: 'not_found',
      })
      await assert.rejects(webhooks.endpoints.get(otherId, mine.id), { code: 'not_found' })
      await assert.rejects(webhooks.endpoints.remove(otherId, mine.id, operator), {
        code: 'not_found',
      })
    })

    test('headers do not follow an endpoint that two people move at the same time', async () => {
      await using all = await webhooksForTests(engine, { start: false })
      const { webhooks, organizationId } = all
      const url = 'http://127.0.0.1:9001/first'
      const { id } = await webhooks.endpoints.create(organizationId, { url }, operator)
      const change = async (input: { url: string; headers?: Record<string, string> }) =>
        await webhooks.endpoints.update(organizationId, id, { input, actor: operator })
      const elsewhere = 'http://127.0.0.1:9002/'
      await Promise.all([
        change({ url: elsewhere, headers: { 'x-token': 'only for 9002' } }),
        change({ url: 'http://127.0.0.1:9001/second' }),
      ])
      const ended = await webhooks.endpoints.get(organizationId, id)
      assert.deepEqual(ended.headerNames, ended.url === elsewhere ? ['x-token'] : [])
    })

    test('an event of a transaction that fails is never sent', async () => {
      await using all = await webhooksForTests(engine)
      const { webhooks, organizationId, receiver, store } = all
      await webhooks.endpoints.create(organizationId, { url: receiver.url }, operator)
      await assert.rejects(
        store.transaction(async (tx) => {
          tx.event({ organizationId, type: 'member.removed', data: {} })
          throw new Error('rolled back')
        }),
      )
      await all.publish(1)
      await all.until(() => receiver.arrivals.length === 1, 'the other one')
      await all.quiet()
      assert.equal((await all.books())['committed'], 1)
      assert.ok(!receiver.arrivals[0]!.body.includes('member.removed'))
    })

    test('an event whose data is too large loses its data, never itself', async () => {
      await using all = await webhooksForTests(engine)
      const { webhooks, organizationId, receiver, store } = all
      await webhooks.endpoints.create(organizationId, { url: receiver.url }, operator)
      await store.transaction(async (tx) => {
        const type = 'organization.plan_changed'
        tx.event({ organizationId, type, data: { text: 'x'.repeat(64 * 1024) } })
        tx.event({ organizationId, type, data: { text: 'x'.repeat(60 * 1024) } })
      })
      await all.until(() => receiver.arrivals.length === 2, 'both arrive')
      const sizes = receiver.arrivals.map(({ body }) => body.length).toSorted((a, b) => a - b)
      assert.ok(sizes[0]! < 1024 && sizes[1]! > 60 * 1024 && sizes[1]! <= 64 * 1024)
      assert.ok(receiver.arrivals.some(({ body }) => body.includes('left_out_bytes')))
    })

    test('a replay of 1,600 has the size of its dry run, is paused, survives its node, and is cancelled', async () => {
      await using all = await webhooksForTests(engine, { start: false })
      const { webhooks, organizationId, receiver } = all
      const { id } = await webhooks.endpoints.create(
        organizationId,
        { url: receiver.url },
        operator,
      )
      await webhooks.endpoints.disable(organizationId, id, operator)
      for (let part = 0; part < 4; part++) await all.publish(400)
      await webhooks.endpoints.enable(organizationId, id, operator)
      const filter = { ...webhooks.replay.missed, types: ['organization.plan_changed'] }
      assert.equal(await webhooks.replay.count(organizationId, filter), 1600)
      const operation = await webhooks.replay.start(organizationId, filter, operator)
      assert.equal(operation.total, 1600)
      const now = async () => await webhooks.operations.get(organizationId, operation.id)
      await all.until(async () => (await now()).done >= 500, 'the first step')
      const paused = await webhooks.operations.pause(organizationId, operation.id, operator)
      assert.equal(paused.state, 'paused')
      assert.ok(paused.done < 1600)
      // The node that started the replay stops; another node continues where it left off.
      await webhooks[Symbol.asyncDispose]()
      const second = await all.another()
      assert.equal((await second.operations.get(organizationId, operation.id)).done, paused.done)
      await second.operations.resume(organizationId, operation.id, operator)
      const get = async () => await second.operations.get(organizationId, operation.id)
      await all.until(async () => (await get()).state === 'done', 'done')
      assert.equal((await get()).done, 1600)
      await all.until(async () => {
        const [book] = await second.books(organizationId, id)
        return book!.pending === 0
      }, 'everything was sent')
      const ids = receiver.arrivals
        .filter(({ body }) => body.includes('plan_changed'))
        .map(({ headers }) => headers['webhook-id'])
      assert.equal(new Set(ids).size, 1600)
      await assert.rejects(second.operations.cancel(organizationId, operation.id, operator), {
        code: 'conflict',
      })
      const again = { states: ['delivered'] as const, endpointId: id }
      const { id: next } = await second.replay.start(organizationId, again, operator)
      const cancelled = await second.operations.cancel(organizationId, next, operator)
      assert.equal(cancelled.state, 'cancelled')
      await all.books()
    })

    test('a replay that starts while its node polls for others is found at once, not at the next poll', async () => {
      await using all = await webhooksForTests(engine, { start: false })
      const { store, clock } = all
      const waits: number[] = []
      const later: (() => void)[] = []
      const replay = new Replay({
        store,
        clock,
        after: () => assert.fail('nothing is to be replayed'),
        afterAtMost(ms, call) {
          waits.push(ms)
          later.push(call)
          return () => undefined
        },
        onError(error) {
          throw error
        },
      })
      replay.resume()
      // Like this second call, `start` calls `resume` after storing a replay, which a poll in progress may have missed.
      replay.resume()
      await all.until(() => later.length === 1, 'the first poll is over')
      later[0]!()
      await all.until(() => later.length === 2, 'the second poll is over')
      assert.deepEqual(waits, [0, 5000])
      await replay.stop()
    })

    test('two nodes share the work; each delivery is sent once', async () => {
      await using all = await webhooksForTests(engine)
      const { webhooks, organizationId, receiver } = all
      for (let at = 0; at < 4; at++) {
        await webhooks.endpoints.create(organizationId, { url: `${receiver.url}/${at}` }, operator)
      }
      const second = await all.another()
      for (let part = 0; part < 5; part++) await all.publish(20)
      await all.until(async () => (await all.books())['delivered'] === 400, 'all delivered')
      assert.equal(receiver.arrivals.length, 400)
      // When one node stops, the other takes over its endpoints at once.
      await second[Symbol.asyncDispose]()
      await all.publish(5)
      await all.until(async () => (await all.books())['delivered'] === 420, 'the rest')
      assert.equal(receiver.arrivals.length, 420)
    })

    test('a stop waits for what is under way, and nothing is sent twice', async () => {
      await using all = await webhooksForTests(engine, { graceMs: 10_000 })
      const { webhooks, organizationId, receiver } = all
      const answers: (() => void)[] = []
      receiver.answer = (response) => void answers.push(() => response.writeHead(204).end())
      await webhooks.endpoints.create(organizationId, { url: receiver.url }, operator)
      await all.publish(20)
      await all.until(() => answers.length >= 4, 'some are under way')
      const stopping = webhooks[Symbol.asyncDispose]()
      receiver.answer = (response) => response.writeHead(204).end()
      setTimeout(() => {
        for (const answer of answers) answer()
      }, 100)
      await stopping
      const sent = receiver.arrivals.length
      assert.ok(sent < 20)
      await all.another()
      await all.until(async () => (await all.books())['delivered'] === 20, 'the rest')
      assert.equal(receiver.arrivals.length, 20)
    })

    test('retention removes what ended long ago in steps, keeps what waits, and the books still balance', async () => {
      await using all = await webhooksForTests(engine)
      const { webhooks, organizationId, receiver, clock, store } = all
      await webhooks.endpoints.create(organizationId, { url: receiver.url }, operator)
      for (let part = 0; part < 3; part++) await all.publish(400)
      await all.until(async () => (await all.books())['delivered'] === 1200, 'delivered')
      // No node is delivering any more, so what is published now waits.
      await webhooks[Symbol.asyncDispose]()
      await all.publish(1)
      clock.forward(40 * dayMs)
      const deps = { store, clock, pause: async () => undefined, stopped: () => false }
      const removed = await removeOld(deps, 30 * dayMs)
      assert.equal(removed.deliveries, 1200)
      // The event of the delivery that still waits is kept.
      assert.equal(removed.events, 1200)
      const books = await all.books()
      assert.equal(books['committed'], 1201)
      assert.equal(books['delivered'], 1200)
      const rows = await store.query.selectFrom('delivery').select('state').execute()
      assert.equal(rows.length, 1)
    })
  })
}
