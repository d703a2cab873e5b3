import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import { Webhook as Standard } from 'standardwebhooks'
import { Webhook as Svix } from 'svix'
import { engines } from '../harness/store.ts'
import { operator, webhooksForTests } from '../harness/webhooks.ts'

for (const engine of engines) {
  describe(`receiver on ${engine}`, { timeout: 60_000 }, () => {
    test('a delivery arrives signed, and unmodified libraries verify it', async () => {
      await using all = await webhooksForTests(engine)
      const { webhooks, organizationId, receiver } = all
      await webhooks.endpoints.create(organizationId, { url: receiver.url }, operator)
      await all.publish(1)
      await all.until(() => receiver.arrivals.length === 1, 'the arrival')
      const [arrival] = receiver.arrivals
      const secret = (await webhooks.secrets.reveal(organizationId, operator)).reveal()
      assert.match(secret, /^svc_whsec_[A-Za-z0-9]{48}$/)
      const headers = arrival!.headers as Record<string, string>
      for (const Library of [Standard, Svix]) {
        const body = new Library(secret.slice(4)).verify(arrival!.body, headers)
        assert.equal((body as { type: string }).type, 'organization.plan_changed')
      }
      assert.equal(headers['content-type'], 'application/json')
      assert.match(headers['webhook-id']!, /^evt_[0-9a-z]+$/)
      const plain = createHmac('sha256', secret).update(arrival!.body).digest('hex')
      assert.equal(headers['intercept-signature-256'], `sha256=${plain}`)
      const body = JSON.parse(arrival!.body.toString()) as Record<string, unknown>
      assert.deepEqual(Object.keys(body), [
        'id',
        'type',
        'timestamp',
        'api_version',
        'organization_id',
        'sequence',
        'data',
      ])
      await all.until(async () => (await all.books())['delivered'] === 1, 'the books')
    })

    test('500 events all arrive, once each, and the books balance', async () => {
      await using all = await webhooksForTests(engine)
      const { webhooks, organizationId, receiver } = all
      await webhooks.endpoints.create(organizationId, { url: receiver.url }, operator)
      for (let part = 0; part < 5; part++) await all.publish(100)
      await all.until(async () => (await all.books())['delivered'] === 500, 'all delivered')
      assert.equal(receiver.arrivals.length, 500)
      assert.equal(new Set(receiver.arrivals.map((one) => one.headers['webhook-id'])).size, 500)
    })
  })
}
