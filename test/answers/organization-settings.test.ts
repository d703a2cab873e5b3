import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { firstOwner, memberOf, type Person } from '../harness/person.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'
import { intercept } from '../harness/terminal.ts'

const at = '/organizations/acme'
const dayMs = 86_400_000

describe('the settings of an organization', () => {
  let product: TestProduct
  let owner: Person
  before(async () => {
    product = await productForTests({
      settings: { RETENTION_CALLS: '36h', RETENTION_AUDIT: '500d' },
    })
    owner = await firstOwner(product)
  })
  after(async () => await product[Symbol.asyncDispose]())

  /** Issues a key over the API; returns its scheme, its networks, and the days until it expires (null if never). */
  async function issued(body: object) {
    const answer = await owner.call(`POST ${at}/keys`, { name: 'a key', ...body })
    assert.equal(answer.status, 201, answer.text)
    const { scheme, expires_at: expiresAt, cidrs } = answer.json.key
    const days = expiresAt === null ? null : (Date.parse(expiresAt) - product.clock.now()) / dayMs
    return { scheme, cidrs, days: days === null ? null : Math.round(days) }
  }

  async function byCommand(...words: string[]): Promise<Record<string, unknown>> {
    const { code, out, err } = await intercept([...words, '--json'], { env: { ...product.env } })
    assert.equal(code, 0, err)
    return JSON.parse(out) as Record<string, unknown>
  }

  test('how long things are kept is what the operator set, not the default', async () => {
    const read = await owner.call(`GET ${at}`)
    assert.deepEqual(read.json.retention, {
      calls_seconds: 36 * 3600,
      deliveries_seconds: 30 * 86_400,
      audit_seconds: 500 * 86_400,
    })
  })

  test('a new organization’s keys have no end, any address, and X-API-Key', async () => {
    const read = await owner.call(`GET ${at}`)
    assert.deepEqual(read.json.key_defaults, {
      scheme: 'x-api-key',
      expires_after_days: null,
      cidrs: null,
    })
    assert.deepEqual(await issued({}), { scheme: 'x-api-key', days: null, cidrs: null })
  })

  test('what a new key leaves open is the default; null is none at all; keys that exist stay', async () => {
    const older = await owner.call(`POST ${at}/keys`, { name: 'older' })
    const keyDefaults = { scheme: 'bearer', expires_after_days: 45, cidrs: ['10.0.0.0/8'] }
    const changed = await owner.call(`PATCH ${at}`, { key_defaults: keyDefaults })
    assert.deepEqual(changed.json.key_defaults, keyDefaults)
    assert.deepEqual(await issued({}), { scheme: 'bearer', days: 45, cidrs: ['10.0.0.0/8'] })
    assert.deepEqual(await issued({ scheme: 'x-api-key', expires_at: null, cidrs: null }), {
      scheme: 'x-api-key',
      days: null,
      cidrs: null,
    })
    const still = await owner.call(`GET ${at}/keys/${older.json.key.id}`)
    assert.equal(still.json.expires_at, null)
    const audit = await owner.call(`GET ${at}/audit?action=organization.key_defaults_changed`)
    assert.equal(audit.json.items[0].detail.after.expires_after, '45d')
  })

  test('a default that is cleared reaches the server as null and is gone; the others stay', async () => {
    await owner.call(`PATCH ${at}`, { key_defaults: { expires_after_days: 45, cidrs: ['::/0'] } })
    const sent = await sentByThePages('PATCH /organizations/:organization', {
      path: { organization: 'acme' },
      body: { key_defaults: { cidrs: null } },
    })
    assert.equal(sent, '{"key_defaults":{"cidrs":null}}')
    const cleared = await owner.call(`PATCH ${at}`, JSON.parse(sent))
    assert.equal(cleared.json.key_defaults.cidrs, null)
    assert.equal(cleared.json.key_defaults.expires_after_days, 45)
  })

  test('ranges that are none and ends that make no sense are refused and change nothing', async () => {
    const before = await owner.call(`GET ${at}`)
    for (const keyDefaults of [
      { cidrs: ['10.0.0.0/99'] },
      { cidrs: [] },
      { expires_after_days: 0 },
      { expires_after_days: 4000 },
      { scheme: 'basic' },
      { unknown: 1 },
    ]) {
      const refused = await owner.call(`PATCH ${at}`, { key_defaults: keyDefaults })
      assert.equal(refused.json.code, 'invalid_input', JSON.stringify(keyDefaults))
    }
    assert.deepEqual((await owner.call(`GET ${at}`)).json, before.json)
  })

  test('the rate of all calls is set, kept beside the defaults, taken away, and written into the audit log', async () => {
    assert.equal((await owner.call(`GET ${at}`)).json.rate_limit, null)
    const rate = { calls: 500, per_seconds: 2, burst: 50 }
    const set = await owner.call(`PATCH ${at}`, { rate_limit: rate })
    assert.deepEqual(set.json.rate_limit, rate)
    const defaults = { key_defaults: { scheme: 'x-api-key' } }
    assert.deepEqual((await owner.call(`PATCH ${at}`, defaults)).json.rate_limit, rate)
    const { json } = await owner.call(`GET ${at}/audit?action=organization.rate_limit_changed`)
    assert.deepEqual(json.items[0].detail, { before: { rate_limit: 'none' }, after: rate })
    for (const wrong of [
      { calls: 0, per_seconds: 1 },
      { calls: 1 },
      { calls: 1, per_seconds: 0 },
    ]) {
      const refused = await owner.call(`PATCH ${at}`, { rate_limit: wrong })
      assert.equal(refused.json.code, 'invalid_input', JSON.stringify(wrong))
    }
    assert.deepEqual(await byCommand('org', 'limits', 'acme'), { slug: 'acme', rate_limit: rate })
    const changed = await byCommand('org', 'limits', 'acme', '--rate', '100/s')
    assert.deepEqual(changed['rate_limit'], { calls: 100, per_seconds: 1 })
    assert.equal((await byCommand('org', 'limits', 'acme', '--rate', 'none'))['rate_limit'], null)
    assert.equal((await owner.call(`GET ${at}`)).json.rate_limit, null)
  })

  test('a viewer reads them and changes none', async () => {
    const viewer = await memberOf(product, 'acme', { email: 'vic@acme.test', role: 'viewer' })
    assert.equal((await viewer.call(`GET ${at}`)).status, 200)
    const refused = await viewer.call(`PATCH ${at}`, { key_defaults: { scheme: 'bearer' } })
    assert.equal(refused.json.code, 'permission_required')
  })

  test('the command line shows and changes the same defaults, and its keys follow them', async () => {
    const words = ['org', 'key-defaults', 'acme'] as const
    const changed = await byCommand(...words, '--expires', '30d', '--cidr', '192.0.2.0/24')
    assert.equal(changed['expires_after_days'], 30)
    const read = await owner.call(`GET ${at}`)
    assert.equal(read.json.key_defaults.expires_after_days, 30)
    assert.deepEqual(read.json.key_defaults.cidrs, ['192.0.2.0/24'])
    const key = await byCommand('key', 'issue', 'acme', '--name', 'by command')
    const end = Date.parse(String(key['expires_at']))
    assert.ok(Math.abs(end - product.clock.now() - 30 * dayMs) < dayMs)
    const endless = await byCommand('key', 'issue', 'acme', '--name', 'x', '--expires', 'never')
    assert.equal(endless['expires_at'], null)
    const open = await byCommand(...words, '--expires', 'never', '--cidr', 'any')
    assert.deepEqual(open, await byCommand(...words))
    assert.equal(open['cidrs'], null)
  })
})

/** Returns the body that the dashboard's own client sends for an input. */
async function sentByThePages(route: string, input: object): Promise<string> {
  const file = join(import.meta.dirname, '..', '..', 'web', 'src', 'api', 'call.ts')
  const client = (await import(file)) as { call(route: string, input: object): Promise<unknown> }
  const real = globalThis.fetch
  let sent = ''
  globalThis.fetch = async (_, init) => {
    if (typeof init?.body === 'string') sent = init.body
    return new Response('{}')
  }
  try {
    await client.call(route, input)
  } finally {
    globalThis.fetch = real
  }
  return sent
}
