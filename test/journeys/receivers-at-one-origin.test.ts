import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { describe, test } from 'node:test'
import { createId, type OrganizationId } from '../../src/ids.ts'
import { organizations } from '../../src/store/index.ts'
import { engines } from '../harness/store.ts'
import { operator, webhooksForTests, type TestWebhooks } from '../harness/webhooks.ts'

const stuckEndpoints = 12
const events = 30
const retried = 60

for (const engine of engines) {
  describe(`receivers behind one host and port on ${engine}`, { timeout: 120_000 }, () => {
    test('while neighbours hang, answer half or answer late, healthy and ordered endpoints get everything', async () => {
      // An attempt's deadline is longer than the test, so that a stuck attempt stays stuck on any machine.
      await using all = await webhooksForTests(engine, { attemptMs: 120_000 })
      const { webhooks, receiver, organizationId } = all
      const other = await anotherOrganization(all)
      const open: ServerResponse[] = []
      const endedEarly: string[] = []
      const accepted = new Map<string, number[]>()
      receiver.answer = (response, { path, body }) => {
        if (path.startsWith('/stuck')) {
          open.push(response)
          response.on('close', () => endedEarly.push(path))
          // Half a response: the head, and only a part of the announced body.
          if (path.includes('half'))
            response.writeHead(200, { 'content-length': 100 }).write('half')
          return
        }
        const { sequence } = JSON.parse(body.toString()) as { sequence: number }
        accepted.set(path, [...(accepted.get(path) ?? []), sequence])
        response.writeHead(204).end()
      }
      for (const [at, organization] of [organizationId, other].entries()) {
        for (let number = 0; number < stuckEndpoints; number++) {
          const kind = number % 2 === 0 ? 'hang' : 'half'
          const url = `${receiver.url}/stuck-${kind}/${at}/${number}`
          await webhooks.endpoints.create(organization, { url, types: ['member.joined'] }, operator)
        }
        const types = ['organization.plan_changed']
        await webhooks.endpoints.create(
          organization,
          { url: `${receiver.url}/healthy/${at}`, types },
          operator,
        )
        await webhooks.endpoints.create(
          organization,
          { url: `${receiver.url}/ordered/${at}`, types, ordered: true },
          operator,
        )
      }
      await publishTo(all, [organizationId, other], 'member.joined', 10)
      await all.until(() => open.length >= 2 * stuckEndpoints, 'every stuck endpoint has a request')
      await publishTo(all, [organizationId, other], 'organization.plan_changed', events)
      await all.until(
        () => accepted.size === 4 && [...accepted.values()].every((list) => list.length >= events),
        'all healthy and ordered ones got everything',
      )
      assert.deepEqual(endedEarly, [], 'nobody waited until a stuck request was given up')
      for (const at of [0, 1]) {
        const list = accepted.get(`/ordered/${at}`) ?? []
        assert.deepEqual(
          list,
          list.toSorted((a, b) => a - b),
        )
      }
      for (const response of open) response.destroy()
    })

    test('a connection on which one organization was sent to is never used for another', async () => {
      await using all = await webhooksForTests(engine)
      const { webhooks, receiver, organizationId } = all
      const other = await anotherOrganization(all)
      const organizationsOf = new Map<unknown, Set<string>>()
      receiver.answer = (response, { body }) => {
        const { organization_id: id } = JSON.parse(body.toString()) as { organization_id: string }
        const seen = organizationsOf.get(response.socket) ?? new Set()
        organizationsOf.set(response.socket, seen.add(id))
        response.writeHead(204).end()
      }
      for (const organization of [organizationId, other]) {
        await webhooks.endpoints.create(organization, { url: receiver.url }, operator)
      }
      for (let round = 1; round <= 3; round++) {
        await publishTo(all, [organizationId, other], 'organization.plan_changed', 5)
        await all.until(() => receiver.arrivals.length === round * 10, 'all arrived')
      }
      for (const seen of organizationsOf.values()) assert.equal(seen.size, 1)
    })

    test('429 with Retry-After to each first attempt delays and loses nothing, and holds no endpoint', async () => {
      await using all = await webhooksForTests(engine)
      const { webhooks, receiver, organizationId } = all
      const asked = new Set<unknown>()
      receiver.answer = (response, { headers }) => {
        const isFirst = !asked.has(headers['webhook-id'])
        asked.add(headers['webhook-id'])
        if (isFirst) response.writeHead(429, { 'retry-after': '0' }).end()
        else response.writeHead(204).end()
      }
      const endpoint = await webhooks.endpoints.create(
        organizationId,
        { url: receiver.url },
        operator,
      )
      await all.publish(retried)
      await all.until(async () => (await all.books())['delivered'] === retried, 'all delivered')
      const found = await webhooks.endpoints.get(organizationId, endpoint.id)
      assert.equal(found.health.state, 'active')
      assert.equal(found.health.failures, 0)
      // A 429 with Retry-After only delays: each delivery was refused once, which used up none of its ten attempts.
      assert.equal(receiver.arrivals.length, 2 * retried)
      for (const delivery of await webhooks.deliveries.list(organizationId, { limit: 100 })) {
        assert.equal(delivery.attempts, 1)
      }
    })
  })
}

async function anotherOrganization(all: TestWebhooks): Promise<OrganizationId> {
  const id = createId('org')
  await all.store.transaction(
    async (tx) =>
      await organizations.insert(tx, { id, slug: 'other', name: 'Other', plan: 'standard' }),
  )
  return id
}

async function publishTo(
  all: TestWebhooks,
  to: readonly OrganizationId[],
  type: string,
  count: number,
): Promise<void> {
  for (const organizationId of to) {
    await all.store.transaction(async (tx) => {
      for (let number = 0; number < count; number++) {
        tx.event({ organizationId, type, data: { number } })
      }
    })
  }
}
