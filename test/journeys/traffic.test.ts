import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { countsOf } from '../../src/calls/index.ts'
import { createId, type OrganizationId, type UserId } from '../../src/ids.ts'
import { rowsOf, sessions, type CallRecord } from '../../src/store/index.ts'
import { firstOwner, memberOf, withStore, type Person } from '../harness/person.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'
import { exchangeRaw } from '../harness/raw.ts'
import { engines } from '../harness/store.ts'

for (const engine of engines) {
  describe(`traffic as the dashboard sees it on ${engine}`, () => {
    let product: TestProduct
    let owner: Person
    let upstream: Server
    let secret: string
    let keyId: string
    before(async () => {
      upstream = createServer((_request, response) => response.end('hello'))
      upstream.listen(0, '127.0.0.1')
      await once(upstream, 'listening')
      product = await productForTests({ engine })
      owner = await firstOwner(product)
      const made = await owner.call('POST /organizations/acme/targets', {
        slug: 'echo',
        upstream: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
        credential: { header: 'X-Upstream-Secret', value: 'canary-credential' },
      })
      assert.equal(made.status, 201, made.text)
      assert.equal(made.json.credential_header, 'X-Upstream-Secret')
      assert.ok(!made.text.includes('canary-credential'))
      const issued = await owner.call('POST /organizations/acme/keys', { name: 'caller' })
      secret = issued.json.secret
      keyId = issued.json.key.id
    })
    after(async () => {
      await product[Symbol.asyncDispose]()
      upstream.close()
      upstream.closeAllConnections()
    })

    async function pass(method: string, path: string): Promise<number> {
      const answer = await fetch(`${product.baseUrl}/api/v1/intercept/echo${path}`, {
        method,
        headers: { 'x-api-key': secret },
      })
      await answer.text()
      return answer.status
    }

    async function addSessions(userId: UserId, count: number): Promise<void> {
      const session = { userId, provider: 'link', expiresAt: product.clock.now() + 3_600_000 }
      await withStore(product, async (store) => {
        await store.transaction(async (tx) => {
          for (let at = 0; at < count; at++) {
            const id = createId('ses', product.clock.now() + at)
            const more = { digest: id, identityId: undefined, connectionId: undefined }
            await sessions.insert(tx, {
              ...{ ...session, ...more, id, address: undefined, agent: undefined },
            })
          }
        })
      })
    }

    async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
      const end = Date.now() + 10_000
      for (;;) {
        const found = await look()
        if (found !== undefined) return found
        if (Date.now() > end) throw new Error('it did not come about')
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }

    test('a call shows in the list, the filters, the sums and on the key', async () => {
      const target = await owner.call('GET /organizations/acme/targets/echo')
      const rules = [
        { effect: 'deny', methods: ['DELETE'], path: '/admin/*', trial: false },
        { effect: 'allow', methods: [], path: '/*', trial: false },
      ]
      const head = { 'if-match': `"${target.json.version}"` }
      const ruled = await owner.call('PUT /organizations/acme/targets/echo/rules', { rules }, head)
      assert.equal(ruled.status, 200, ruled.text)
      assert.equal(await pass('GET', '/hello'), 200)
      assert.equal(await pass('DELETE', '/admin/users'), 403)
      const both = await until(async () => {
        const listed = await owner.call('GET /organizations/acme/calls')
        return listed.json.items.length >= 2 ? listed.json.items : undefined
      })
      const [denied, allowed] = both
      assert.equal(allowed.status, 200)
      assert.equal(allowed.target, 'echo')
      assert.equal(allowed.key_name, 'caller')
      assert.equal(denied.code, 'rule_denied')
      assert.equal(denied.stopped_at, 'rules')
      assert.equal(denied.rule_id, ruled.json.rules[0].id)
      for (const [query, expected] of [
        ['stopped_at=rules', [denied.id]],
        ['status=2xx', [allowed.id]],
        ['status=403', [denied.id]],
        ['method=delete', [denied.id]],
        ['path=/api/v1/intercept/echo/adm', [denied.id]],
        ['target=echo', [denied.id, allowed.id]],
        ['target=nope', []],
        [`key=${keyId}`, [denied.id, allowed.id]],
        [`q=${denied.id}`, [denied.id]],
        [`newer=${allowed.id}`, [denied.id]],
        [`after=${denied.id}`, [allowed.id]],
        ['address=203.0.113.9', []],
      ] as const) {
        const found = await owner.call(`GET /organizations/acme/calls?${query}`)
        const ids = found.json.items.map((call: { id: string }) => call.id)
        assert.deepEqual(ids, expected, query)
      }
      const minute = Math.floor(product.clock.now() / 60_000) * 60_000
      const from = new Date(minute - 120_000).toISOString()
      const to = new Date(minute + 60_000).toISOString()
      for (const more of ['', `&key=${keyId}`, '&target=echo']) {
        // Wait until the sums include both calls.
        const sums = await until(async () => {
          const found = await owner.call(
            `GET /organizations/acme/rollups?from=${from}&to=${to}&step_ms=60000${more}`,
          )
          const { answered, refused } = found.json
          return answered === 1 && refused.rules === 1 ? found : undefined
        })
        const passed = sums.json.points.map((point: { passed: number }) => point.passed)
        assert.equal(
          passed.reduce((a: number, b: number) => a + b, 0),
          1,
        )
        assert.ok(sums.json.p95_ms > 0)
      }
      const lastHour = await owner.call('GET /organizations/acme/rollups')
      assert.equal(lastHour.json.step_ms, 60_000)
      assert.equal(lastHour.json.answered, 1)
      const again = await owner.call('GET /organizations/acme/targets/echo')
      assert.equal(again.json.calls24h, 2)
      assert.equal(again.json.refused24h, 1)
      const steps = await owner.call('GET /organizations/acme/first-steps')
      assert.equal(steps.json.target && steps.json.key, true)
    })

    test('an hour compares with the one before it, though neither begins with a quarter of an hour', async () => {
      const { id: organizationId } = (await owner.call('GET /organizations/acme')).json
      const hourMs = 3_600_000
      const hour = Math.floor(product.clock.now() / hourMs) * hourMs
      const start = hour - 6 * hourMs + 7 * 60_000
      const steady = Array.from({ length: 180 }, (_, index) =>
        callAt(start - hourMs + index * 60_000, organizationId),
      )
      await withStore(product, async (store) => {
        await store.insertCalls(rowsOf(steady), countsOf(steady))
      })
      for (const [from, stepMs] of [
        [start + hourMs, 60_000],
        [start, hourMs],
      ] as const) {
        const moments = [from, from + hourMs].map((at) => new Date(at).toISOString())
        const range = `from=${moments[0]}&to=${moments[1]}`
        const { json } = await owner.call(
          `GET /organizations/acme/rollups?${range}&step_ms=${stepMs}`,
        )
        assert.equal(json.answered, 60)
        const top = await owner.call(`GET /organizations/acme/calls/top?${range}&limit=50`)
        assert.equal(top.json.keys.length, 50)
      }
    })

    test('a check that is none is refused by lists of calls', async () => {
      const refused = await owner.call('GET /organizations/acme/calls?stopped_at=rule')
      assert.deepEqual([refused.status, refused.json.code], [400, 'invalid_input'])
    })

    test('a time that is none is refused by lists and sums of calls', async () => {
      const leap = '2016-12-31T23:59:60Z'
      for (const path of ['calls', 'calls/top', 'rollups']) {
        for (const range of [`to=${leap}`, `from=${leap}`]) {
          const refused = await owner.call(`GET /organizations/acme/${path}?${range}`)
          assert.equal(refused.status, 400, `${path} ${range}: ${refused.text}`)
          assert.equal(refused.json.code, 'invalid_input')
        }
      }
    })

    test('try a request gives the code of the real call and records nothing', async () => {
      const before = (await owner.call('GET /organizations/acme/calls')).json.items.length
      const attempt = async (body: object) =>
        (await owner.call('POST /organizations/acme/targets/echo/try', body)).json
      const denied = await attempt({ key_id: keyId, method: 'DELETE', path: '/admin/x' })
      assert.equal(denied.code, 'rule_denied')
      assert.equal(denied.stopped_at, 'rules')
      assert.equal((await attempt({ key_id: keyId, method: 'GET', path: '/x' })).allowed, true)
      assert.equal(
        (await attempt({ key_id: keyId, method: 'GET', path: '/a/../b' })).code,
        'path_ambiguous',
      )
      assert.equal((await attempt({ method: 'GET', path: '/x' })).code, 'credential_missing')
      const after = (await owner.call('GET /organizations/acme/calls')).json.items.length
      assert.equal(after, before)
    })

    test('try a request and the real call agree, check by check, and trying spends nothing', async () => {
      const issue = async (input: object): Promise<{ id: string; secret: string }> => {
        const issued = await owner.call('POST /organizations/acme/keys', { name: 'try', ...input })
        assert.equal(issued.status, 201, issued.text)
        return { id: issued.json.key.id, secret: issued.json.secret }
      }
      const free = await issue({})
      const elsewhere = await issue({ cidrs: ['192.0.2.0/24'] })
      const once = await issue({ quota: { calls: 1, period: 'day' } })
      const revoked = await issue({})
      await owner.call(`POST /organizations/acme/keys/${revoked.id}/revoke`)
      for (const [key, slug, method, path, stoppedAt] of [
        [free, 'echo', 'GET', '/x', null],
        [free, 'echo', 'DELETE', '/admin/x', 'rules'],
        [free, 'echo', 'GET', '/a%2Fb', 'rules'],
        [free, 'echo', 'GET', '/a/../b', 'target'],
        [elsewhere, 'echo', 'GET', '/x', 'address'],
        [revoked, 'echo', 'GET', '/x', 'key'],
        // A trial does not count against a quota: after two of them, the real call is still the first one.
        [once, 'echo', 'GET', '/x', null],
        [once, 'echo', 'GET', '/x', null],
      ] as const) {
        const body = { key_id: key.id, method, path, address: '127.0.0.1' }
        const tried = await owner.call(`POST /organizations/acme/targets/${slug}/try`, body)
        assert.equal(tried.status, 200, tried.text)
        assert.equal(tried.json.stopped_at ?? null, stoppedAt, tried.text)
        if (key === once) continue
        const real = await exchangeRaw(
          product.port,
          `${method} /api/v1/intercept/${slug}${path} HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key.secret}\r\nConnection: close\r\n\r\n`,
          { quietMs: 10_000 },
        )
        const [, code] = /^Intercept-Refused: (\w+)/im.exec(real) ?? []
        assert.equal(tried.json.code ?? undefined, code, `${method} ${path}`)
      }
      const spend = async (): Promise<number> => {
        const url = `${product.baseUrl}/api/v1/intercept/echo/x`
        const answer = await fetch(url, { headers: { 'x-api-key': once.secret } })
        await answer.text()
        return answer.status
      }
      assert.deepEqual([await spend(), await spend()], [200, 429])
    })

    test('nothing of headers and bodies is kept until a target says so, and then without what it names', async () => {
      const post = async (): Promise<string> => {
        const answer = await fetch(`${product.baseUrl}/api/v1/intercept/echo/kept`, {
          method: 'POST',
          headers: { 'x-api-key': secret, 'x-note': 'a note', 'content-type': 'application/json' },
          body: JSON.stringify({ user: 'ada', login: { password: 'hunter2' } }),
        })
        await answer.text()
        return answer.headers.get('intercept-request-id') ?? ''
      }
      const recordOf = async (id: string) =>
        await until(async () => {
          const found = await owner.call(`GET /organizations/acme/calls/${id}`)
          return found.status === 200 ? found : undefined
        })
      const plain = await recordOf(await post())
      assert.ok(!/hunter2|a note|ada/.test(plain.text), plain.text)
      assert.equal(plain.json.capture, undefined)
      const target = await owner.call('GET /organizations/acme/targets/echo')
      const head = { 'if-match': `"${target.json.version}"` }
      const capture = { headers: ['x-note'], body_bytes: 1000, redact: ['password'] }
      const changed = await owner.call('PATCH /organizations/acme/targets/echo', { capture }, head)
      assert.equal(changed.status, 200, changed.text)
      const kept = await recordOf(await post())
      assert.deepEqual(kept.json.capture.request.headers, { 'x-note': 'a note' })
      assert.match(kept.json.capture.request.body, /"user":"ada"/)
      assert.equal(kept.json.capture.answer.body, 'hello')
      assert.ok(!kept.text.includes('hunter2') && !kept.text.includes(secret), kept.text)
    })

    test('the live tail tells of a call as it ends, also of a long one, and is cut when its session ends, and not before', async () => {
      const viewer = await memberOf(product, 'acme', { email: `live@x.test`, role: 'viewer' })
      const answer = await fetch(`${product.baseUrl}/api/v1/organizations/acme/calls/live`, {
        headers: { cookie: `__Host-session=${viewer.cookie}` },
      })
      assert.equal(answer.headers.get('content-type'), 'text/event-stream')
      const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
      let text = ''
      assert.match(String((await reader.read()).value), /retry/)
      await pass('GET', '/live-one')
      while (!text.includes('/live-one')) text += String((await reader.read()).value)
      assert.match(text, /event: call\ndata: \{"id":"req_/)
      const began = product.clock.now() - 60_000
      const { id } = (await owner.call('GET /organizations/acme')).json
      const path = '/api/v1/intercept/echo/long-one'
      const long = { ...callAt(began, id), path, durationUs: 61_000_000 }
      await withStore(product, async (store) => await store.insertCalls(rowsOf([long])))
      while (!text.includes('/long-one')) text += String((await reader.read()).value)
      const many = Array.from({ length: 900 }, (_, at) => ({
        ...callAt(product.clock.now() - 1000, id),
        ...{ path: `/api/v1/intercept/echo/many-${at}.`, durationUs: 1000 },
      }))
      await withStore(product, async (store) => await store.insertCalls(rowsOf(many)))
      while (!many.every((_, at) => text.includes(`/many-${at}.`))) {
        text += String((await reader.read()).value)
      }
      await addSessions((await viewer.call('GET /me')).json.id, 250)
      await pass('GET', '/live-two')
      while (!text.includes('/live-two')) text += String((await reader.read()).value)
      await viewer.call('POST /auth/logout')
      for (let done = false; !done;) done = (await reader.read()).done
    })

    test('what a member was denied is in the audit log, once for many attempts', async () => {
      const viewer = await memberOf(product, 'acme', { email: `denied@x.test`, role: 'viewer' })
      for (let time = 0; time < 3; time++) {
        await viewer.call('POST /organizations/acme/keys', { name: 'no' })
      }
      const found = await until(async () => {
        const audit = await owner.call('GET /organizations/acme/audit?action=permission.denied')
        return audit.json.items.length > 0 ? audit.json.items : undefined
      })
      const mine = found.filter(
        (one: { actor: { name: string } }) => one.actor.name === 'denied@x.test',
      )
      assert.equal(mine.length, 1)
      assert.equal(mine[0].detail.permission, 'keys.issue')
    })

    test('another upstream origin drops the credential', async () => {
      const moved = await owner.call('PATCH /organizations/acme/targets/echo', {
        upstream: 'http://127.0.0.1:8099',
      })
      assert.equal(moved.status, 200, moved.text)
      assert.equal(moved.json.credential_header, undefined)
    })

    test('a leaked key is revoked by whoever presents it, and the answer says nothing', async () => {
      const issued = await owner.call('POST /organizations/acme/keys', { name: 'leaked' })
      const revoke = async (text: string) =>
        await fetch(`${product.baseUrl}/api/v1/credentials/revoke`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ secret: text }),
        })
      const known = await revoke(issued.json.secret)
      const unknown = await revoke('svc_live_nothing')
      assert.equal(known.status, 200)
      assert.equal(await known.text(), await unknown.text())
      const key = await owner.call(`GET /organizations/acme/keys/${issued.json.key.id}`)
      assert.equal(key.json.state, 'revoked')
    })
  })
}

function callAt(at: number, organizationId: OrganizationId): CallRecord {
  return {
    ...{ id: createId('req', at), at, organizationId, keyId: createId('key') },
    ...{ targetId: undefined, method: 'GET', path: '/api/v1/intercept/echo/x', status: 200 },
    ...{ refusal: undefined, stoppedAt: undefined, ruleId: undefined },
    ...{ trialRuleId: undefined, bytesIn: 0, bytesOut: 0, durationUs: 1, upstreamUs: 1 },
    ...{ address: '192.0.2.1', agent: undefined, capture: undefined },
  }
}
