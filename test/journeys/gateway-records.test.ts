import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { systemClock } from '../../src/clock.ts'
import { createRecorder } from '../../src/calls/recorder.ts'
import { createId, type OrganizationId } from '../../src/ids.ts'
import { createMetrics } from '../../src/telemetry/index.ts'
import { mintCredential } from '../../src/secrets/index.ts'
import { calls, openStore, traffic, type CallRecord, type Store } from '../../src/store/index.ts'
import { gatewayForTests, prefix, until } from '../harness/gateway.ts'
import type { TestGateway } from '../harness/gateway.ts'
import { heapInUse } from '../harness/heap.ts'

describe('records of calls', () => {
  let gateway: TestGateway
  let store: Store
  let organizationId: OrganizationId
  before(async () => {
    gateway = await gatewayForTests({
      target: [
        '--rule',
        'deny DELETE /admin/*',
        '--rule',
        'trial deny * /odd',
        '--rule',
        'allow * /*',
      ],
      settings: { TRUSTED_PROXIES: '0' },
    })
    store = await openStore({ folder: gateway.product.folder, clock: systemClock, isNode: false })
    const me = (await (await gateway.call('', gateway.bearer)).json()) as {
      organization: { id: OrganizationId }
    }
    organizationId = me.organization.id
  })
  after(async () => {
    await store[Symbol.asyncDispose]()
    await gateway[Symbol.asyncDispose]()
  })

  async function recordOf(response: Response): Promise<CallRecord> {
    const id = response.headers.get('intercept-request-id') ?? ''
    let found: CallRecord | undefined
    await until(async () => {
      found = await calls.find(store.calls, organizationId, id)
      return found !== undefined
    })
    assert.ok(found)
    return found
  }

  test('a call leaves one record with everything but its query, headers and body', async () => {
    const response = await gateway.call('/echo/items?token=canary-query', gateway.xApiKey, {
      method: 'POST',
      body: 'canary-body',
      headers: { 'User-Agent': 'program/1', 'X-Canary': 'canary-header' },
    })
    const record = await recordOf(response)
    assert.equal(record.keyId, gateway.xApiKey.id)
    assert.equal(record.method, 'POST')
    assert.equal(record.path, `${prefix}/echo/items`)
    assert.equal(record.status, 200)
    assert.equal(record.stoppedAt, undefined)
    assert.equal(record.bytesIn, 11)
    assert.equal(record.bytesOut, 2)
    assert.equal(record.address, '127.0.0.1')
    assert.equal(record.agent, 'program/1')
    assert.ok(record.durationUs > 0 && (record.upstreamUs ?? 0) > 0)
    assert.ok(record.durationUs >= (record.upstreamUs ?? 0))
    assert.doesNotMatch(JSON.stringify(record), /canary/)
  })

  test('a refused call says at which check it stopped, and by which rule', async () => {
    const denied = await recordOf(
      await gateway.call('/echo/admin/x', gateway.xApiKey, { method: 'DELETE' }),
    )
    assert.equal(denied.refusal, 'rule_denied')
    assert.equal(denied.stoppedAt, 'rules')
    assert.match(denied.ruleId ?? '', /^rul_/)
    const lost = await recordOf(await gateway.call('/nowhere/x', gateway.xApiKey))
    assert.equal(lost.stoppedAt, 'target')
    assert.equal(lost.targetId, undefined)
  })

  test('a rule on trial only leaves a trace', async () => {
    const record = await recordOf(await gateway.call('/echo/odd', gateway.xApiKey))
    assert.equal(record.status, 200)
    assert.match(record.trialRuleId ?? '', /^rul_/)
    await until(async () => {
      const sums = await traffic.sumByRule(store.calls, organizationId, 0)
      return sums.some((sum) => sum.ruleId === record.trialRuleId && sum.calls === 1)
    })
  })

  test('counts per minute, target and check agree with the calls', async () => {
    const before = await counted()
    for (let call = 0; call < 5; call++) await gateway.call('/echo/counted', gateway.bearer)
    await until(async () => (await counted()) === before + 5)
  })

  async function counted(): Promise<number> {
    const range = { from: 0, to: Date.now() + 60_000, stepMs: 86_400_000 }
    const sums = await traffic.sumByTargetAndStep(store.calls, organizationId, range)
    return sums
      .filter(({ targetId }) => targetId !== '')
      .reduce((sum, { calls: all, refused }) => sum + all - refused, 0)
  }

  test('the last use of a key shows up with time, address and target', async () => {
    await gateway.call('/echo/x', gateway.bearer)
    await until(async () => {
      const listed = (await gateway.run('key', 'list', 'acme')) as unknown as Record<
        string,
        unknown
      >[]
      return listed.some((key) => key['id'] === gateway.bearer.id && key['last_used_at'] !== null)
    })
  })

  test('10,000 calls with bad keys leave no row and no lasting memory', async () => {
    const rows = async () =>
      (await calls.list(store.calls, organizationId, { limit: 100_000 })).length
    await gateway.call('/echo/x', gateway.bearer)
    const last = await gateway.call('/echo/last', gateway.bearer)
    await recordOf(last)
    const before = await rows()
    const heap = heapInUse()
    for (let round = 0; round < 100; round++) {
      const text = Array.from(
        { length: 100 },
        (_, at) =>
          `GET ${prefix}/echo/x HTTP/1.1\r\nHost: a\r\nX-API-Key: ${badKey(round, at)}\r\n\r\n`,
      ).join('')
      const transcript = await gateway.raw(
        text.replace(/\r\n\r\n$/, '\r\nConnection: close\r\n\r\n'),
        { quietMs: 10_000 },
      )
      assert.equal(transcript.match(/HTTP\/1\.1 401 /g)?.length, 100)
    }
    await recordOf(await gateway.call('/echo/after', gateway.bearer))
    assert.equal(await rows(), before + 1)
    assert.ok(heapInUse() - heap < 16 * 1024 * 1024)
  })

  test('records older than the retention are forgotten, younger ones kept', async () => {
    const recorded = await recordOf(await gateway.call('/echo/kept', gateway.bearer))
    const old = { ...recorded, id: createId('req', 1000), at: 1000 }
    await store.transactionOnCalls(async (tx) => await calls.insert(tx, [old]))
    const recorder = createRecorder({
      clock: systemClock,
      store,
      metrics: createMetrics(),
      log: { error: () => {} },
      alsoFlush: {},
    })
    await recorder.forget(recorded.at - 60_000)
    await recorder[Symbol.asyncDispose]()
    assert.equal(await calls.find(store.calls, organizationId, old.id), undefined)
    assert.notEqual(await calls.find(store.calls, organizationId, recorded.id), undefined)
  })

  test('moving a target to another origin drops its credential until it is entered again', async () => {
    await gateway.run('target', 'set', 'acme', 'echo', '--header', 'X-Upstream-Key: canary')
    // The command has a database connection of its own, so the node learns of the change a few milliseconds later.
    await until(async () => {
      await gateway.call('/echo/with', gateway.bearer)
      return gateway.upstream.seen.at(-1)?.rawHeaders.includes('canary') === true
    })
    const moved = gateway.upstream.url.replace('127.0.0.1', 'localhost')
    const changed = await gateway.run('target', 'set', 'acme', 'echo', '--upstream', moved)
    assert.equal(changed['credential_dropped'], true)
    await until(async () => {
      await gateway.call('/echo/without', gateway.bearer)
      return gateway.upstream.seen.at(-1)?.rawHeaders.includes('canary') === false
    })
  })
})

/** Makes up a key that does not exist. Every second key is at least well-formed. */
function badKey(round: number, at: number): string {
  return at % 2 === 0 ? `svc_live_bad${round}_${at}` : mintCredential('svc_live_').secret.reveal()
}
