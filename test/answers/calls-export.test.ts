import assert from 'node:assert/strict'
import { request, type IncomingMessage } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { createId, type KeyId, type OrganizationId, type TargetId } from '../../src/ids.ts'
import { calls, type CallRecord } from '../../src/store/index.ts'
import { until } from '../harness/gateway.ts'
import { firstOwner, memberOf, signedInByLink, withStore, type Person } from '../harness/person.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'
import { upstreamForTests, type TestUpstream } from '../harness/upstream.ts'

const at = '/organizations/acme'
const many = 1203

describe('calls as a file, and what was captured of them', () => {
  let product: TestProduct
  let owner: Person
  let upstream: TestUpstream
  let key: { readonly key: { readonly id: KeyId }; readonly secret: string }
  before(async () => {
    product = await productForTests()
    owner = await firstOwner(product)
    upstream = await upstreamForTests((_, response) => {
      response.setHeader('x-trace', 'answer-trace')
      response.end('{"card":"4111","name":"Ada"}')
    })
    const target = await owner.call(`POST ${at}/targets`, { slug: 'echo', upstream: upstream.url })
    const issued = await owner.call(`POST ${at}/keys`, { name: '=cmd("x"), the key' })
    key = issued.json
    const organization = await owner.call(`GET ${at}`)
    await seed(organization.json.id, target.json.id)
  })
  after(async () => {
    await upstream[Symbol.asyncDispose]()
    await product[Symbol.asyncDispose]()
  })

  /** Seeds more calls than the export reads at once. */
  async function seed(organizationId: OrganizationId, targetId: TargetId): Promise<void> {
    const records = Array.from({ length: many }, (_, index) =>
      record(organizationId, targetId, index),
    )
    await withStore(product, async (store) => {
      await store.transactionOnCalls(async (tx) => await calls.insert(tx, records))
    })
  }

  function record(
    organizationId: OrganizationId,
    targetId: TargetId | undefined,
    index: number,
  ): CallRecord {
    const refused = index % 3 === 0
    const time = product.clock.now() - (many - index) * 1000
    return {
      id: createId('req', time),
      at: time,
      ...{ organizationId, keyId: key.key.id, targetId },
      method: 'GET',
      path: `/api/v1/intercept/echo/items/${index}`,
      status: refused ? 403 : 200,
      refusal: refused ? 'rule_denied' : undefined,
      stoppedAt: refused ? 'rules' : undefined,
      ruleId: undefined,
      trialRuleId: undefined,
      bytesIn: 0,
      bytesOut: 2,
      durationUs: 1500,
      upstreamUs: undefined,
      address: index % 2 === 0 ? '192.0.2.7' : '2001:db8::7',
      agent: undefined,
      capture: undefined,
    }
  }

  async function lines(body: object): Promise<{ id: string; path: string; status: number }[]> {
    const answer = await owner.call(`POST ${at}/calls/export`, { format: 'ndjson', ...body })
    assert.equal(answer.status, 200, answer.text)
    assert.match(answer.headers.get('content-type') ?? '', /^application\/x-ndjson/)
    const text = answer.text.trim()
    return text === '' ? [] : text.split('\n').map((line) => JSON.parse(line))
  }

  test('JSON lines hold every call once, newest first, the same as the pages of the list', async () => {
    const all = await lines({})
    assert.equal(all.length, many)
    assert.equal(new Set(all.map(({ id }) => id)).size, many)
    assert.equal(all[0]?.path, `/items/${many - 1}`)
    const first = await owner.call(`GET ${at}/calls?limit=100`)
    assert.deepEqual(all.slice(0, 100), first.json.items)
  })

  test('filters narrow the file as they narrow the list; a limit cuts it at the newest', async () => {
    const refused = await lines({ stopped_at: 'rules' })
    assert.equal(refused.length, Math.ceil(many / 3))
    assert.ok(refused.every(({ status }) => status === 403))
    assert.equal((await lines({ q: '/echo/items/1200' })).length, 1)
    assert.equal((await lines({ q: '2001:db8::7' })).length, Math.floor(many / 2))
    assert.equal((await lines({ q: refused[0]?.id })).length, 1)
    assert.equal((await lines({ limit: 7 })).length, 7)
    assert.deepEqual(await lines({ target: 'no-such' }), [])
    const { id } = (await owner.call(`GET ${at}/targets/echo`)).json
    for (const target of ['echo', id]) {
      assert.equal((await lines({ target, path: '/items/1200' })).length, 1, target)
    }
    const wrong = await owner.call(`POST ${at}/calls/export`, { format: 'ndjson', other: 1 })
    assert.equal(wrong.json.code, 'invalid_input')
  })

  test('CSV has a head and a line per call, and a name that begins a formula stays text', async () => {
    const answer = await owner.call(`POST ${at}/calls/export`, { format: 'csv' })
    assert.match(answer.headers.get('content-disposition') ?? '', /filename="calls-acme.csv"/)
    const [head = '', ...rows] = answer.text.trimEnd().split('\r\n')
    assert.match(head, /^id,at,key_id,key_name,target,method,path,status,code,stopped_at,/)
    assert.equal(rows.length, many)
    assert.ok(rows[0]?.includes(`"'=cmd(""x""), the key"`), rows[0])
  })

  test('an export is an audit entry that says what was taken; a viewer may take it too', async () => {
    const viewer = await memberOf(product, 'acme', { email: 'vic@acme.test', role: 'viewer' })
    const body = { format: 'csv', method: 'GET', limit: 1 }
    assert.equal((await viewer.call(`POST ${at}/calls/export`, body)).status, 200)
    const audit = await owner.call(`GET ${at}/audit?action=calls.exported`)
    assert.deepEqual(audit.json.items[0].detail, { format: 'csv', method: 'GET' })
    assert.equal(audit.json.items[0].actor.kind, 'user')
  })

  test('a file whose session ends on the way is a broken download, never a short file', async () => {
    const reader = await memberOf(product, 'acme', { email: 'slow@acme.test', role: 'viewer' })
    const organization = await owner.call(`GET ${at}`)
    await fillPaths(organization.json.id)
    for (const format of ['ndjson', 'csv']) {
      const begun = await beginExport(reader, { format, q: '/echo/long' })
      const members = await owner.call(`GET ${at}/members`)
      const one = members.json.items.find((member: { email: string }) =>
        member.email.startsWith('slow'),
      )
      // None of the file's content has been read, and it is larger than all buffers between the server and the reader.
      await owner.call(`DELETE ${at}/members/${one.id}/sessions`)
      await assert.rejects(readAll(begun), /aborted/)
      assert.equal(begun.complete, false)
      reader.cookie = (await signedInByLink(product, 'slow@acme.test')).cookie
    }
  })

  /** Adds calls with paths of 16 KB, so that an export of them does not fit into a connection's buffers. */
  async function fillPaths(organizationId: OrganizationId): Promise<void> {
    const more = Array.from({ length: 1100 }, (_, index) => ({
      ...record(organizationId, undefined, index),
      path: `/api/v1/intercept/echo/long/${'x'.repeat(16_000)}`,
    }))
    await withStore(product, async (store) => {
      await store.transactionOnCalls(async (tx) => await calls.insert(tx, more))
    })
  }

  async function beginExport(person: Person, body: object): Promise<IncomingMessage> {
    return await new Promise((resolve, reject) => {
      request(`${product.baseUrl}/api/v1${at}/calls/export`, {
        method: 'POST',
        headers: {
          cookie: `__Host-session=${person.cookie}`,
          origin: product.baseUrl,
          'content-type': 'application/json',
        },
      })
        .on('response', resolve)
        .on('error', reject)
        .end(JSON.stringify(body))
    })
  }

  test('a captured call shows headers and bodies with what was blacked out; a credential is never kept', async () => {
    const capture = { headers: ['x-trace', 'content-type'], body_bytes: 64, redact: ['card'] }
    const set = await owner.call(`PATCH ${at}/targets/echo`, { capture })
    assert.deepEqual(set.json.capture, capture)
    const refused = await owner.call(`PATCH ${at}/targets/echo`, {
      capture: { ...capture, headers: ['x-api-key'] },
    })
    assert.equal(refused.json.code, 'invalid_input')
    const answer = await fetch(`${product.baseUrl}/api/v1/intercept/echo/pay`, {
      method: 'POST',
      headers: { 'x-api-key': key.secret, 'content-type': 'application/json', 'x-trace': 'asked' },
      body: '{"card":"4242","amount":5}',
    })
    const id = answer.headers.get('intercept-request-id') ?? ''
    await answer.text()
    await until(async () => (await owner.call(`GET ${at}/calls/${id}`)).status === 200)
    const shown = await owner.call(`GET ${at}/calls/${id}`)
    assert.deepEqual(shown.json.capture, {
      request: {
        headers: { 'x-trace': 'asked', 'content-type': 'application/json' },
        body: '{"card":"…","amount":5}',
        bytes: 26,
      },
      answer: {
        headers: { 'x-trace': 'answer-trace' },
        body: '{"card":"…","name":"Ada"}',
        bytes: 28,
      },
      redacted: ['card'],
    })
    assert.ok(!shown.text.includes(key.secret) && !shown.text.includes('4242'))
    const [line] = await lines({ method: 'POST' })
    assert.deepEqual(line, shown.json)
  })

  test('what callers wrote is not compressed, so that its length tells nobody what stands beside it', async () => {
    const page = `${at}/calls?limit=200`
    const { json, headers } = await owner.call(`GET ${page}`)
    assert.ok(JSON.stringify(json).length > 2048)
    assert.ok(json.items.some((call: { capture?: unknown }) => call.capture !== undefined))
    const one = await owner.call(`GET ${at}/calls/${json.items[0].id}`)
    for (const found of [headers, one.headers]) {
      assert.equal(found.get('content-encoding'), null)
      assert.equal(found.get('cache-control'), 'no-store, no-transform')
    }
  })
})

async function readAll(stream: IncomingMessage): Promise<void> {
  for await (const _ of stream);
}
