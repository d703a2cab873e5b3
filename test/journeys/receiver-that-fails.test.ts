import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { describe, test } from 'node:test'
import { engines } from '../harness/store.ts'
import { operator, webhooksForTests } from '../harness/webhooks.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

for (const engine of engines) {
  describe(`receiver that fails, on ${engine}`, { timeout: 120_000, concurrency: 2 }, () => {
    test('every attempt has the same id and bytes, a new timestamp, and uses the schedule', async () => {
      await using all = await webhooksForTests(engine)
      const { webhooks, organizationId, receiver, clock } = all
      receiver.answer = (response) => response.writeHead(500).end('no')
      const { id } = await webhooks.endpoints.create(
        organizationId,
        { url: receiver.url },
        operator,
      )
      await all.publish(1)
      await all.until(() => receiver.arrivals.length === 1, 'the first attempt')
      for (const [attempt, forwardMs] of [7_000, 7 * minuteMs, 37 * minuteMs].entries()) {
        await all.quiet()
        clock.forward(forwardMs)
        await all.until(() => receiver.arrivals.length === attempt + 2, `attempt ${attempt + 2}`)
      }
      const { arrivals } = receiver
      assert.equal(new Set(arrivals.map((one) => one.headers['webhook-id'])).size, 1)
      assert.equal(new Set(arrivals.map((one) => one.body.toString('hex'))).size, 1)
      assert.equal(new Set(arrivals.map((one) => one.headers['webhook-timestamp'])).size, 4)
      assert.equal(new Set(arrivals.map((one) => one.headers['webhook-signature'])).size, 4)
      await all.quiet()
      receiver.answer = (response) => response.writeHead(200).end('fine')
      clock.forward(3 * hourMs)
      await all.until(async () => (await all.books())['delivered'] === 1, 'delivered in the end')
      await all.quiet()
      const [delivery] = await webhooks.deliveries.list(organizationId, { limit: 10 })
      const attempts = await webhooks.deliveries.attempts(organizationId, delivery!.id)
      assert.deepEqual(
        attempts.map((one) => one.status),
        [500, 500, 500, 500, 200],
      )
      assert.deepEqual(
        attempts.map((one) => one.number),
        [1, 2, 3, 4, 5],
      )
      assert.equal(Buffer.from(attempts[4]!.responseBody!).toString(), 'fine')
      assert.equal((await webhooks.endpoints.get(organizationId, id)).health.failures, 0)
    })

    test('the tenth failure makes a dead delivery that stays visible and can be sent again', async () => {
      await using all = await webhooksForTests(engine)
      const { webhooks, organizationId, receiver, clock } = all
      receiver.answer = (response) => response.writeHead(500).end()
      await webhooks.endpoints.create(organizationId, { url: receiver.url }, operator)
      await all.publish(1)
      // The waits of the retry schedule in seconds, each with the longest jitter (a fifth of the wait): 91 hours in
      // all, less than the five days without success that would disable the endpoint.
      const waits = [6, 360, 2160, 8640, 21_600, 43_200, 60_480, 86_400, 103_680]
      for (const [attempt, seconds] of waits.entries()) {
        await all.until(() => receiver.arrivals.length === attempt + 1, `attempt ${attempt + 1}`)
        await all.quiet()
        clock.forward((seconds + 1) * 1000)
      }
      await all.until(async () => (await all.books())['dead'] === 1, 'dead')
      assert.equal(receiver.arrivals.length, 10)
      const [delivery] = await webhooks.deliveries.list(organizationId, { limit: 1 })
      receiver.answer = (response) => response.writeHead(204).end()
      await webhooks.replay.one(organizationId, delivery!.id, operator)
      await all.until(async () => (await all.books())['delivered'] === 1, 'sent again')
      const ids = receiver.arrivals.map((one) => one.headers['webhook-id'])
      assert.equal(new Set(ids).size, 1, 'a replay keeps the id')
    })

    test('twenty failures in a row hold an endpoint; nothing is lost, a probe resumes it', async () => {
      await using all = await webhooksForTests(engine)
      const { webhooks, organizationId, receiver, clock } = all
      receiver.answer = (response) => response.writeHead(500).end()
      const { id } = await webhooks.endpoints.create(
        organizationId,
        { url: receiver.url },
        operator,
      )
      await all.publish(60)
      const stateOf = async () => (await webhooks.endpoints.get(organizationId, id)).health.state
      await all.until(async () => (await stateOf()) === 'held', 'held')
      await all.quiet()
      const sent = receiver.arrivals.length
      assert.ok(sent >= 20 && sent < 40, `${sent} attempts before it was held`)
      const books = await all.books()
      assert.equal(books['held'], 60)
      assert.equal(books['pending'], 0)

      // A failed probe makes one attempt and doubles the wait for the next probe.
      clock.forward(minuteMs + 1000)
      await all.until(() => receiver.arrivals.length === sent + 1, 'a probe')
      await all.quiet()
      assert.equal(await stateOf(), 'held')
      const delayOf = async () =>
        (await webhooks.endpoints.get(organizationId, id)).health.probeDelayMs
      assert.equal(await delayOf(), 2 * minuteMs)

      // A ping is a manual probe: it is sent at once, and its failure does not lengthen the wait.
      await webhooks.endpoints.sendSample(organizationId, id, { actor: operator })
      await all.until(() => receiver.arrivals.length === sent + 2, 'the probe by hand')
      await all.quiet()
      await all.until(async () => (await delayOf()) === 2 * minuteMs, 'the same wait')
      receiver.answer = (response) => response.writeHead(204).end()
      clock.forward(2 * minuteMs + 1000)
      await all.until(async () => (await stateOf()) === 'active', 'resumed')
      clock.forward(10 * minuteMs)
      await all.until(async () => (await all.books())['delivered'] === 61, 'nothing was lost')
      const ids = receiver.arrivals.map((one) => one.headers['webhook-id'])
      assert.equal(new Set(ids).size, 61, 'sixty events and the ping')
    })

    test('one event that the receiver always refuses does not keep its endpoint held', async () => {
      await using all = await webhooksForTests(engine)
      const { webhooks, organizationId, receiver, clock } = all
      const { url } = receiver
      const { id } = await webhooks.endpoints.create(organizationId, { url }, operator)
      receiver.answer = (response) => response.writeHead(500).end()
      await all.publish(30)
      const stateOf = async () => (await webhooks.endpoints.get(organizationId, id)).health.state
      await all.until(async () => (await stateOf()) === 'held', 'held')
      await all.quiet()
      const [first] = await webhooks.events.listAfter(organizationId, { after: 0, limit: 1 })
      receiver.answer = (response, { headers }) =>
        response.writeHead(headers['webhook-id'] === first?.id ? 400 : 204).end()
      for (let probe = 0; probe < 4 && (await stateOf()) === 'held'; probe++) {
        const sent = receiver.arrivals.length
        clock.forward(61 * minuteMs)
        await all.until(() => receiver.arrivals.length > sent, 'a probe')
        await all.quiet()
      }
      assert.equal(await stateOf(), 'active')
    })

    test('410 disables, what waits and what comes is visibly skipped, and all of it can be replayed', async () => {
      await using all = await webhooksForTests(engine)
      const { webhooks, organizationId, receiver } = all
      const other = await webhooks.endpoints.create(
        organizationId,
        { url: `${receiver.url}/other`, types: ['webhook.endpoint_disabled'] },
        operator,
      )
      receiver.answer = (response, { path }) =>
        response.writeHead(path === '/other' ? 204 : 410).end()
      const { id } = await webhooks.endpoints.create(
        organizationId,
        { url: receiver.url },
        operator,
      )
      await all.publish(30)
      const endpoint = async () => await webhooks.endpoints.get(organizationId, id)
      await all.until(async () => (await endpoint()).health.state === 'disabled', 'disabled')
      assert.equal((await endpoint()).health.disabledReason, 'gone')
      await all.quiet()
      await all.publish(5)
      const [book] = await webhooks.books(organizationId, id)
      // Disabling an endpoint is an event too: its delivery is skipped here and made to the other endpoint.
      assert.equal(book!.skipped, 36)
      assert.equal(book!.committed, 36)
      await all.until(async () => {
        const [books] = await webhooks.books(organizationId, other.id)
        return books!.delivered === 1
      }, 'the announcement')
      const announced = receiver.arrivals.find((one) => one.path === '/other')
      assert.equal(JSON.parse(announced!.body.toString()).data.reason, 'gone')

      const filter = { ...webhooks.replay.missed, endpointId: id }
      await assert.rejects(webhooks.replay.start(organizationId, filter, operator), {
        code: 'conflict',
      })
      receiver.answer = (response) => response.writeHead(204).end()
      await webhooks.endpoints.enable(organizationId, id, operator)
      const count = await webhooks.replay.count(organizationId, filter)
      assert.equal(count, 36)
      const operation = await webhooks.replay.start(organizationId, filter, operator)
      assert.equal(operation.total, 36)
      await all.until(async () => {
        const [books] = await webhooks.books(organizationId, id)
        // The 37th delivery announces that the endpoint is enabled again.
        return books!.delivered === 37
      }, 'everything missed has arrived')
      assert.equal((await webhooks.operations.get(organizationId, operation.id)).done, 36)
      await all.books()
    })

    test('`webhook-delivery: disable` and five days without success disable too', async () => {
      await using all = await webhooksForTests(engine)
      const { webhooks, organizationId, receiver, clock } = all
      receiver.answer = (response, { path }) =>
        path === '/asks'
          ? response.writeHead(200, { 'webhook-delivery': 'disable' }).end()
          : response.writeHead(500).end()
      const asks = await webhooks.endpoints.create(
        organizationId,
        { url: `${receiver.url}/asks` },
        operator,
      )
      const fails = await webhooks.endpoints.create(
        organizationId,
        { url: `${receiver.url}/fails`, types: ['organization.plan_changed'] },
        operator,
      )
      const reasonOf = async (id: string) =>
        (await webhooks.endpoints.get(organizationId, id)).health.disabledReason
      await all.publish(1)
      await all.until(async () => (await reasonOf(asks.id)) === 'receiver_asked', 'it asked')
      const failed = () => receiver.arrivals.filter((one) => one.path === '/fails').length
      await all.until(() => failed() === 1, 'the first failure')
      await all.quiet()
      clock.forward(4 * 24 * hourMs)
      await all.until(() => failed() === 2, 'four days later')
      await all.quiet()
      assert.equal(await reasonOf(fails.id), undefined)
      clock.forward(25 * hourMs)
      await all.until(async () => (await reasonOf(fails.id)) === 'failing', 'five days')
      await all.books()
    })

    test('one hanging endpoint delays no other', async () => {
      await using all = await webhooksForTests(engine)
      const { webhooks, organizationId, receiver } = all
      receiver.answer = (response, { path }) => {
        if (path === '/fine') response.writeHead(204).end()
      }
      const hangs = await webhooks.endpoints.create(
        organizationId,
        { url: `${receiver.url}/hang` },
        operator,
      )
      const fine = await webhooks.endpoints.create(
        organizationId,
        { url: `${receiver.url}/fine` },
        operator,
      )
      await all.publish(200)
      await all.until(async () => {
        const [book] = await webhooks.books(organizationId, fine.id)
        return book!.delivered === 200
      }, 'the healthy one has everything')
      // None of the hanging attempts has ended in the meantime.
      const filter = { endpointId: hangs.id }
      const waiting = await webhooks.deliveries.list(organizationId, { filter, limit: 200 })
      assert.equal(waiting.length, 200)
      assert.ok(waiting.every(({ attemptsEver }) => attemptsEver === 0))
    })

    test('a stranger at the other end can neither flood, nor drip, nor redirect, nor fill our database', async () => {
      await using all = await webhooksForTests(engine)
      const { webhooks, organizationId, receiver } = all
      const pages: Record<string, (response: ServerResponse) => void> = {
        '/huge': (response) => void response.writeHead(200).end(Buffer.alloc(3_000_000, 'x')),
        '/moved': (response) => void response.writeHead(302, { location: '/stolen' }).end(),
        '/reset': (response) => void response.socket?.resetAndDestroy(),
        '/markup': (response) => void response.writeHead(400).end('<script>alert(1)</script>\0'),
      }
      receiver.answer = (response, { path }) => pages[path]?.(response)
      for (const path of Object.keys(pages)) {
        await webhooks.endpoints.create(organizationId, { url: receiver.url + path }, operator)
      }
      await all.publish(1)
      const found = async () => await webhooks.deliveries.list(organizationId, { limit: 10 })
      await all.until(async () => (await found()).every((one) => one.attemptsEver > 0), 'attempts')
      assert.ok(!receiver.arrivals.some((one) => one.path === '/stolen'), 'a redirect was followed')
      for (const delivery of await found()) {
        const [attempt] = await webhooks.deliveries.attempts(organizationId, delivery.id)
        assert.ok((attempt!.responseBody?.length ?? 0) <= 16 * 1024)
      }
      const states = (await found()).map(
        (one) => `${one.state} ${one.lastStatus ?? one.lastFailure}`,
      )
      assert.ok(states.includes('delivered 200'))
      assert.ok(states.includes('pending 302'))
      assert.ok(states.some((state) => state.startsWith('pending reset:')))
    })

    test('no secret is in events, deliveries, attempts or the log', async () => {
      await using all = await webhooksForTests(engine)
      const { webhooks, organizationId, receiver, store } = all
      receiver.answer = (response) => response.writeHead(500).end()
      await webhooks.endpoints.create(
        organizationId,
        { url: receiver.url, headers: { Authorization: 'Bearer canary-of-the-receiver' } },
        operator,
      )
      const secret = (await webhooks.secrets.rotate(organizationId, operator)).reveal()
      await all.publish(3)
      await all.until(() => receiver.arrivals.length >= 3, 'arrivals')
      await all.quiet()
      assert.equal(receiver.arrivals[0]!.headers.authorization, 'Bearer canary-of-the-receiver')
      const stored: unknown[] = []
      for (const table of ['endpoint', 'delivery', 'attempt', 'event', 'webhook_secret'] as const) {
        const rows = await store.query.selectFrom(table).selectAll().execute()
        stored.push(...rows.map((row) => JSON.stringify(row, textOfBytes)))
      }
      stored.push(
        ...(await store.query.selectFrom('audit_entry').selectAll().execute()).map((row) =>
          JSON.stringify(row),
        ),
      )
      const everything = `${stored.join('\n')}\n${all.lines.join('\n')}`
      for (const canary of [secret, secret.slice(10, 40), 'canary-of-the-receiver']) {
        assert.ok(!everything.includes(canary), `${canary.slice(0, 12)}… is readable`)
      }
    })
  })
}

function textOfBytes(_key: string, value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString()
  const json = value as { type?: string; data?: number[] } | null
  return json?.type === 'Buffer' ? Buffer.from(json.data ?? []).toString() : value
}
