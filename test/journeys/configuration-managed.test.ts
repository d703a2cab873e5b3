import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Keys } from '../../src/access/index.ts'
import { createTargets, defaultSettings } from '../../src/targets/index.ts'
import { createAddressGuard } from '../../src/http/index.ts'
import { managed, organizations } from '../../src/store/index.ts'
import { configurationsFor, operator, sealer } from '../harness/configuration-worlds.ts'
import { firstOwner, type Person } from '../harness/person.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'
import { issuedBy, programWith, type Program } from '../harness/program.ts'
import { engines, storeForTests } from '../harness/store.ts'

const file = `version: 1
organization:
  slug: acme
targets:
  payments:
    upstream: http://127.0.0.1:8099/
    credential: { header: Authorization, value: env:PAYMENTS }
endpoints:
  orders:
    url: http://127.0.0.1:9000/hook
    headers: { X-Hook: file:/run/hook }
keys:
  ci:
    grants: [payments:GET]
`
const secrets = { 'env:PAYMENTS': 'canary-payments', 'file:/run/hook': 'canary-hook' }
const C = '/organizations/acme/configuration'

describe('a file applied by a program', () => {
  let product: TestProduct
  let owner: Person
  let program: Program

  before(async () => {
    product = await productForTests()
    owner = await firstOwner(product)
    const permissions = [
      ...['organization.manage', 'targets.manage', 'webhooks.manage', 'keys.manage', 'traffic.see'],
    ]
    program = programWith(product.baseUrl, (await issuedBy(owner, { permissions })).secret)
  })
  after(async () => await product[Symbol.asyncDispose]())

  test('is planned, applied once, told its new key once, and then plans nothing', async () => {
    const body = { file, label: 'acme.yaml', secrets }
    const planned = await program.call(`POST ${C}/plan`, body)
    assert.equal(planned.status, 200, planned.text)
    const subjects = planned.json.differences.map((one: { subject: string }) => one.subject)
    assert.deepEqual(subjects, ['target payments', 'endpoint orders', 'key ci'])
    const applied = await program.call(`POST ${C}/apply`, body, { 'idempotency-key': 'once' })
    assert.equal(applied.status, 201, applied.text)
    const [key] = applied.json.keys
    assert.match(key.secret, /^svc_live_/)
    // After a lost response, a retry returns the same key instead of issuing another one.
    const again = await program.call(`POST ${C}/apply`, body, { 'idempotency-key': 'once' })
    assert.deepEqual(again.json, applied.json)
    const none = await program.call(`POST ${C}/plan`, body)
    assert.deepEqual(none.json.differences, [])
    const exported = await owner.call(`GET ${C}`)
    assert.match(exported.json.file, /value: env:PAYMENTS/)
    const log = await owner.call('GET /organizations/acme/audit?limit=100')
    assert.match(log.text, /configuration\.applied/)
    for (const said of [planned, none, exported, log]) {
      assert.ok(!said.text.includes('canary') && !said.text.includes(key.secret), said.text)
    }
  })

  test('locks what it owns, until somebody takes it over', async () => {
    const T = '/organizations/acme/targets/payments'
    const refused = await owner.call(`PATCH ${T}`, { name: 'Mine' })
    assert.equal(refused.status, 409, refused.text)
    assert.equal(refused.json.code, 'managed_by_file')
    assert.equal(refused.json.managed_by, 'acme.yaml')
    for (const [route, body] of [
      [`DELETE ${T}`, undefined],
      [`PUT ${T}/rules`, { rules: [] }],
      ['PATCH /organizations/acme', { name: 'Mine' }],
    ] as const) {
      assert.equal((await owner.call(route, body)).json.code, 'managed_by_file', route)
    }
    const list = await owner.call(`GET ${C}/managed?section=targets`)
    assert.equal(list.json.items[0].label, 'acme.yaml')
    const taken = await owner.call(`POST ${C}/take-over`, { section: 'targets', id: 'payments' })
    assert.equal(taken.status, 204, taken.text)
    assert.equal((await owner.call(`PATCH ${T}`, { name: 'Mine' })).status, 200)
    const log = await owner.call('GET /organizations/acme/audit?limit=20')
    assert.match(log.text, /configuration\.taken_over/)
  })

  test('needs each permission that its changes need elsewhere, and speaks of one organization', async () => {
    const few = await issuedBy(owner, { permissions: ['organization.manage', 'traffic.see'] })
    const weak = programWith(product.baseUrl, few.secret)
    const body = { file, label: 'acme.yaml', secrets }
    const refused = await weak.call(`POST ${C}/apply`, body)
    assert.equal(refused.status, 403, refused.text)
    assert.equal(refused.json.permission, 'targets.manage')
    assert.match(refused.json.detail, /acme\.yaml:5: targets\.payments/)
    const other = file.replace('slug: acme', 'slug: rival')
    const elsewhere = await program.call(`POST ${C}/plan`, { ...body, file: other })
    assert.match(elsewhere.json.detail, /acme\.yaml:3: organization\.slug is rival/)
    const plan = file.replace('slug: acme', 'slug: acme\n  plan: enterprise')
    const upgraded = await program.call(`POST ${C}/apply`, { ...body, file: plan })
    assert.equal(upgraded.json.code, 'permission_required', upgraded.text)
  })

  test('has a schema for editors, which is the one that is shipped', async () => {
    const served = await fetch(`${product.baseUrl}/schemas/organization.json`)
    assert.equal(served.status, 200)
    const schema = (await served.json()) as { properties: Record<string, unknown> }
    assert.ok(
      ['targets', 'endpoints', 'connections', 'keys'].every((key) => schema.properties[key]),
    )
  })
})

for (const engine of engines) {
  test(`what somebody else changes is announced once on ${engine}, and no more when it is mended`, async () => {
    await using place = await storeForTests(engine)
    const { store } = place
    const configurations = configurationsFor(store)
    const by = {
      ...{ label: 'acme.yaml', prune: false, actor: operator, permissions: undefined },
      resolve: (reference: string) => secrets[reference as keyof typeof secrets],
    }
    await configurations.apply(file, by)
    assert.equal(await configurations.announceDrift(), 0)
    const { id } = (await organizations.findBySlug(store, 'acme'))!
    const targets = createTargets({
      ...{ store, sealer, clock: store.clock, defaults: defaultSettings(1e8) },
      guard: createAddressGuard({ allowLoopback: true }),
    })
    await targets.edit({ organizationId: id, idOrSlug: 'payments' }, { name: 'Other' }, operator)
    const keys = new Keys({ store, clock: store.clock })
    const [key] = await keys.list(id, { limit: 1 })
    await keys.revoke(id, key!.id, operator)
    assert.equal(await configurations.announceDrift(), 2)
    assert.equal(await configurations.announceDrift(), 0)
    const drifted = (await managed.list(store, id)).filter((row) => row.driftedAt !== undefined)
    assert.deepEqual(
      drifted.map(({ section, name }) => `${section} ${name}`),
      ['keys ci', 'targets payments'],
    )
    await configurations.apply(file, by)
    assert.equal(await configurations.announceDrift(), 0)
    await targets.edit(
      { organizationId: id, idOrSlug: 'payments' },
      { credential: { header: 'Authorization', value: 'another' } },
      operator,
    )
    assert.equal(await configurations.announceDrift(), 1, 'another secret is drift too')
  })
  test(`a target of the same name that somebody made anew is taken for the file's own by an apply on ${engine}, but never pruned`, async () => {
    await using place = await storeForTests(engine)
    const { store } = place
    const configurations = configurationsFor(store)
    const by = {
      ...{ label: 'acme.yaml', prune: false, actor: operator, permissions: undefined },
      resolve: (reference: string) => secrets[reference as keyof typeof secrets],
    }
    await configurations.apply(file, by)
    const { id } = (await organizations.findBySlug(store, 'acme'))!
    const targets = createTargets({
      ...{ store, sealer, clock: store.clock, defaults: defaultSettings(1e8) },
      guard: createAddressGuard({ allowLoopback: true }),
    })
    await targets.remove(id, 'payments', operator)
    const made = { slug: 'payments', upstream: 'http://127.0.0.1:8098/' }
    const { id: byHand } = await targets.create(id, made, operator)
    assert.equal(await configurations.announceDrift(), 1, 'the one that the file made is gone')
    assert.equal(await configurations.announceDrift(), 0)

    const without = file.replace(/ {2}payments:[^]*?(?=endpoints)/, '').replace('targets:', '')
    const pruned = await configurations.plan(without.replace(/keys:[^]*/, ''), {
      ...by,
      prune: true,
    })
    assert.deepEqual(
      pruned.map(({ change, subject }) => `${change} ${subject}`),
      ['remove key ci'],
    )

    const planned = await configurations.plan(file, by)
    assert.deepEqual(
      planned.map(({ change, subject }) => `${change} ${subject}`),
      ['change target payments'],
    )
    await configurations.apply(file, by)
    assert.equal((await targets.get(id, 'payments')).id, byHand)
    assert.deepEqual(await configurations.plan(file, by), [])
    assert.equal(await configurations.announceDrift(), 0)
  })
  test(`an apply that only brings another secret is not announced as drift by a comparison that began before it on ${engine}`, async () => {
    await using place = await storeForTests(engine)
    const { store } = place
    const configurations = configurationsFor(store)
    const by = (more: object) => ({
      ...{ label: 'acme.yaml', prune: false, actor: operator, permissions: undefined },
      resolve: (reference: string) => ({ ...secrets, ...more })[reference],
    })
    await configurations.apply(file, by({}))
    const { id } = (await organizations.findBySlug(store, 'acme'))!
    const compared = (await managed.list(store, id)).find(({ section }) => section === 'targets')!
    await configurations.apply(file, by({ 'env:PAYMENTS': 'another' }))
    const isNews = await store.transaction(
      async (tx) => await managed.noteDrift(tx, id, { row: compared, drifted: true }),
    )
    assert.equal(isNews, false)
  })
}
