import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { createAddressGuard } from '../../src/http/index.ts'
import { createTargets, defaultSettings } from '../../src/targets/index.ts'
import { AccessTokens, Keys } from '../../src/access/index.ts'
import { createAudit } from '../../src/audit/index.ts'
import type { TxtAnswer } from '../../src/http/index.ts'
import { eventTypes } from '../../src/webhooks/index.ts'
import { groupUrn, patchUrn, scimCall, userUrn } from '../conformance/scim/directory.ts'
import { createSealer, loadMasterSecrets } from '../../src/secrets/index.ts'
import { organizations } from '../../src/store/index.ts'
import { ask } from '../harness/company.ts'
import { configurationsFor, operator } from '../harness/configuration-worlds.ts'
import { faultsOf } from '../harness/events.ts'
import { until } from '../harness/gateway.ts'
import { idpForTests } from '../harness/idp.ts'
import { addMember, firstOwner, signedInByLink, withStore, type Person } from '../harness/person.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'
import { command } from '../harness/sso.ts'

const O = '/organizations/acme'

interface Seen {
  readonly type: string
  readonly body: { readonly data: Readonly<Record<string, unknown>> }
}

describe('every type of event comes about by its cause', () => {
  const zone = new Map<string, TxtAnswer>()
  let product: TestProduct
  let owner: Person
  let upstream: Server
  let isBroken = false
  before(async () => {
    product = await productForTests({
      resolveTxt: async (name) => zone.get(name) ?? { kind: 'none' },
    })
    upstream = createServer((request, response) => {
      if (isBroken) request.socket.destroy()
      else response.end('ok')
    }).listen(0, '127.0.0.1')
    await once(upstream, 'listening')
    owner = await firstOwner(product)
    await command(product, 'org set-plan acme enterprise')
    const { port } = upstream.address() as AddressInfo
    const url = `http://127.0.0.1:${port}`
    await ask(owner, `POST ${O}/targets`, { slug: 'echo', upstream: url })
  })
  after(async () => {
    await product[Symbol.asyncDispose]()
    upstream.close()
    upstream.closeAllConnections()
  })

  /** Reads from the API, page by page, all events that have been published so far. */
  async function pulled(): Promise<Seen[]> {
    const seen: Seen[] = []
    let cursor = ''
    for (;;) {
      const page = await ask(owner, `GET ${O}/events?limit=20&after=${cursor}`)
      for (const { type, body } of page.items) seen.push({ type, body: JSON.parse(body) })
      if (page.more === false) return seen
      cursor = String(page.next)
    }
  }

  async function comes(type: string, data: Readonly<Record<string, unknown>> = {}): Promise<void> {
    await until(async () => {
      const found = (await pulled()).filter((event) => event.type === type)
      return found.some(({ body }) =>
        Object.entries(data).every(([name, value]) => body.data[name] === value),
      )
    }, 45_000)
  }

  async function issue(more: object = {}): Promise<{ id: string; secret: string }> {
    const { key, secret } = await ask(owner, `POST ${O}/keys`, { name: 'one', ...more })
    return { id: String(key.id), secret: String(secret) }
  }

  async function pass(secret: string, headers: Record<string, string> = {}): Promise<number> {
    const url = `${product.baseUrl}/api/v1/intercept/echo/x`
    const answer = await fetch(url, { headers: { 'x-api-key': secret, ...headers } })
    await answer.text()
    return answer.status
  }

  test('keys: issued, rotated, revoked, leaked, expired, exposed, old secret silent', async () => {
    const key = await issue()
    await ask(owner, `POST ${O}/keys/${key.id}/rotate`, { overlap_seconds: 86_400 })
    const leaked = await issue()
    await owner.call('POST /credentials/revoke', { secret: leaked.secret })
    const revoked = await issue()
    await ask(owner, `POST ${O}/keys/${revoked.id}/revoke`)
    const exposed = await issue()
    assert.equal(await pass(exposed.secret, { 'sec-fetch-site': 'cross-site' }), 403)
    const expiresAt = new Date(product.clock.now() + 60_000).toISOString()
    const short = await issue({ expires_at: expiresAt })
    await withStore(product, async (store) => {
      // Move the clock forward by two hours, and run two of the tasks that every node runs each minute.
      product.clock.forward(2 * 3_600_000)
      const keys = new Keys({ store, clock: product.clock })
      await keys.announceExpired()
      await keys.announceSilent()
    })
    owner = await signedInByLink(product, 'olga@acme.test')
    await comes('api_key.issued', { key_id: key.id })
    await comes('api_key.rotated', { key_id: key.id })
    await comes('api_key.leaked', { key_id: leaked.id })
    await comes('api_key.revoked', { key_id: revoked.id })
    await comes('api_key.exposed', { key_id: exposed.id })
    await comes('api_key.expired', { key_id: short.id })
    await comes('api_key.old_secret_silent', { key_id: key.id })
  })

  test('calls: refused, quota warning and exhausted, target unhealthy and recovered', async () => {
    const { id, secret } = await issue({ quota: { calls: 5, period: 'day' } })
    for (let call = 0; call < 5; call++) assert.equal(await pass(secret), 200)
    assert.equal(await pass(secret), 429)
    await comes('quota.warning', { key_id: id })
    await comes('quota.exhausted', { key_id: id })
    const free = await issue()
    isBroken = true
    for (let call = 0; call < 5; call++) assert.equal(await pass(free.secret), 502)
    await comes('target.unhealthy')
    isBroken = false
    assert.equal(await pass(free.secret), 200)
    await comes('target.recovered')
    await comes('call.refused')
  })

  test('members: invited, joined, role changed, session revoked, deactivated, removed', async () => {
    const email = 'vera@acme.test'
    await ask(owner, `POST ${O}/invitations`, { email, role: 'viewer' })
    await addMember(product, 'acme', { email, role: 'viewer' })
    const members = await ask(owner, `GET ${O}/members`)
    const { id, user_id: userId } = members.items.find(
      (one: { email: string }) => one.email === email,
    )
    await ask(owner, `PATCH ${O}/members/${id}`, { role: 'developer' })
    await signedInByLink(product, email)
    await ask(owner, `DELETE ${O}/members/${id}/sessions`)
    await ask(owner, `PATCH ${O}/members/${id}`, { active: false })
    await ask(owner, `DELETE ${O}/members/${id}`)
    await comes('member.invited', { email })
    await comes('member.joined', { role: 'owner' })
    await comes('session.revoked', { user_id: userId })
    for (const verb of ['role_changed', 'deactivated', 'removed']) {
      await comes(`member.${verb}`, { membership_id: id })
    }
  })

  test('company sign-in: connection changed, domain verified and lost', async () => {
    await using idp = await idpForTests({ people: [] })
    const { issuer, clientId, clientSecret } = idp
    const input = { name: 'Okta', issuer, client_id: clientId, client_secret: clientSecret }
    const { id } = await ask(owner, `POST ${O}/connections`, input)
    const { record, id: domain } = await ask(owner, `POST ${O}/domains`, { name: 'acme.test' })
    zone.set(record.name, { kind: 'records', texts: [record.value] })
    await ask(owner, `POST ${O}/domains/${domain}/check`)
    zone.clear()
    await ask(owner, `POST ${O}/domains/${domain}/check`)
    await comes('sso.connection_changed', { connection_id: id })
    await comes('domain.verified', { domain_id: domain })
    await comes('domain.lost', { domain_id: domain })
  })

  test('directory: tokens, users, groups, and the sessions that its changes end', async () => {
    const { token, secret } = await ask(owner, `POST ${O}/directory/tokens`, { name: 'Okta' })
    const send = async (method: string, path: string, body: object) => {
      const url = `${product.baseUrl}/scim/v2${path}`
      const reply = await scimCall(url, method, { token: secret, body })
      assert.ok(reply.status < 300, JSON.stringify(reply.body))
      return reply.body
    }
    const change = async (id: string, value: object) =>
      await send('PATCH', `/Users/${id}`, {
        schemas: [patchUrn],
        Operations: [{ op: 'replace', value }],
      })
    const userName = 'dora@acme.test'
    const emails = [{ value: userName, primary: true }]
    const made = await send('POST', '/Users', { schemas: [userUrn], userName, emails })
    const id = String(made.id)
    const members = await ask(owner, `GET ${O}/members`)
    const dora = members.items.find((one: { email: string | null }) => one.email === userName)
    const isOver = async (person: Person) => (await person.call('GET /me')).status === 401

    const first = await signedInByLink(product, userName)
    const group = { schemas: [groupUrn], displayName: 'Crew', members: [{ value: id }] }
    const { id: groupId } = await send('POST', '/Groups', group)
    await ask(owner, `PUT ${O}/directory/groups/${groupId}/role`, { role: 'developer' })
    assert.ok(await isOver(first))
    await comes('session.revoked', { user_id: dora.user_id, reason: 'role_changed' })

    const second = await signedInByLink(product, userName)
    await change(id, { displayName: 'Dora' })
    await change(id, { active: false })
    assert.ok(await isOver(second))
    await comes('session.revoked', { user_id: dora.user_id, reason: 'deactivated' })

    await ask(owner, `POST ${O}/directory/tokens/${token.id}/revoke`)
    await comes('scim.token_issued', { token_id: token.id })
    await comes('scim.token_revoked', { token_id: token.id })
    for (const verb of ['created', 'updated', 'deprovisioned']) {
      await comes(`scim.user_${verb}`, { user_id: dora.user_id })
    }
    await comes('scim.group_changed')
  })

  test('webhooks: endpoint disabled, enabled, ping; and the plan', async () => {
    const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/hook`
    const { id } = await ask(owner, `POST ${O}/webhooks/endpoints`, { url })
    for (const verb of ['disable', 'enable', 'ping']) {
      await ask(owner, `POST ${O}/webhooks/endpoints/${id}/${verb}`)
    }
    await comes('webhook.endpoint_disabled', { endpoint_id: id })
    await comes('webhook.endpoint_enabled', { endpoint_id: id })
    await comes('webhook.ping', { endpoint_id: id })
    await comes('organization.plan_changed', { before: 'standard', after: 'enterprise' })
  })

  test('access tokens: issued, about to end, revoked', async () => {
    const at = '/organizations/acme/access-tokens'
    const expires_at = new Date(product.clock.now() + 3_600_000).toISOString()
    const made = await owner.call(`POST ${at}`, { name: 'ci', expires_at })
    assert.equal(made.status, 201, made.text)
    const { id } = made.json.access_token
    await comes('access_token.issued', { token_id: id })
    await withStore(product, async (store) => {
      await new AccessTokens({ store, clock: product.clock }).announceExpiring()
    })
    await comes('access_token.expiring', { token_id: id })
    await owner.call(`POST ${at}/${id}/revoke`)
    await comes('access_token.revoked', { token_id: id })
  })

  test('the audit log: where it ends', async () => {
    await withStore(product, async (store) => await createAudit({ store }).announceHeads())
    await comes('audit.head_sealed')
  })

  test('a managed thing that the operator changes drifts', async () => {
    const file =
      'version: 1\norganization: { slug: acme }\ntargets:\n  filed: { upstream: "http://127.0.0.1:8099/" }\n'
    await withStore(product, async (store) => {
      const seals = createSealer(loadMasterSecrets(product.env['INTERCEPT_SECRET'], product.folder))
      const configurations = configurationsFor(store, seals)
      const by = {
        label: 'acme.yaml',
        prune: false,
        resolve: () => undefined,
        permissions: undefined,
      }
      await configurations.apply(file, { ...by, actor: operator })
      const { id } = (await organizations.findBySlug(store, 'acme'))!
      const targets = createTargets({
        ...{ store, sealer: seals, clock: store.clock, defaults: defaultSettings(1e8) },
        guard: createAddressGuard({ allowLoopback: true }),
      })
      await targets.edit({ organizationId: id, idOrSlug: 'filed' }, { name: 'Other' }, operator)
      await configurations.announceDrift()
    })
    await comes('configuration.drifted', { name: 'filed', label: 'acme.yaml' })
  })

  test('so no type of the catalogue is missing, and each body is what its schema says', async () => {
    const seen = await pulled()
    const schemas = new Map(eventTypes.map(({ type, schema }) => [type, schema]))
    for (const { type, body } of seen)
      assert.deepEqual(faultsOf(body, schemas.get(type)!), [], type)
    const types = [...new Set(seen.map(({ type }) => type))].toSorted()
    assert.deepEqual(types, [...schemas.keys()].toSorted())
  })
})
